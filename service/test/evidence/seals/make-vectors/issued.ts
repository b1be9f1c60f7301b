import {
  bitString,
  boolean,
  type DerValue,
  encode,
  explicit,
  integer,
  OID,
  octetStringOf,
  oid,
  raw,
  sequence,
  set,
  time,
  utf8String,
} from "@signsealship/evidence/asn1";
import { sealReasons } from "@signsealship/evidence/seal";
import { type Certificate, parseCertificate } from "@signsealship/evidence/x509";
import { createCmsSigner } from "../../../../src/evidence/seals/cms/cms.ts";
import { collection, intact, type Made, notVerified, verified, verifiedTest } from "./case.ts";
import { document, sealed, stamped } from "./sealing.ts";
import { fixedKey, pem, sealedAt, seal as sealer, sealKeyOver, tsa, validFrom, validTo } from "./signers.ts";

type Key = ReturnType<typeof fixedKey>;
export type Subject = { readonly name: string; readonly key: Key };
type Certified = {
  readonly serial: number;
  readonly isAuthority: boolean;
  readonly until?: number;
  /** A name to state instead of the subject's own. */
  readonly subjectName?: DerValue;
  /** True if the certificate has the policy of signers' certificates. */
  readonly isSigners?: boolean;
  /** True if the certificate has the policy of certificates for test seals. */
  readonly isTestSeals?: boolean;
};

const nameOf = (text: string): DerValue => sequence(set(sequence(oid(OID.commonName), utf8String(text))));
const critical = (type: string, value: DerValue): DerValue => sequence(oid(type), boolean(true), octetStringOf(value));
/** An authority's key usage is keyCertSign; any other certificate's is digitalSignature and nonRepudiation. */
const usageOf = (isAuthority: boolean): DerValue =>
  isAuthority ? bitString(Uint8Array.of(0x04), 2) : bitString(Uint8Array.of(0xc0), 6);

export function issue(
  subject: Subject,
  issuer: Subject,
  { serial, isAuthority, until = validTo, isSigners = false, isTestSeals = false, subjectName }: Certified,
): Certificate {
  const algorithm = sequence(oid(OID.ecdsaWithSha256));
  const constraints = sequence(...(isAuthority ? [boolean(true)] : []));
  const policies = sequence(sequence(oid(isSigners ? OID.signerCertificatePolicy : OID.testSealPolicy)));
  const extensions = [critical(OID.basicConstraints, constraints), critical(OID.keyUsage, usageOf(isAuthority))];
  if (isSigners || isTestSeals) extensions.push(sequence(oid(OID.certificatePolicies), octetStringOf(policies)));
  const tbs = encode(
    sequence(
      explicit(0, integer(2)),
      integer(serial),
      algorithm,
      nameOf(issuer.name),
      sequence(time(validFrom), time(until)),
      subjectName ?? nameOf(subject.name),
      raw(sealKeyOver(subject.key).publicKey),
      explicit(3, sequence(...extensions)),
    ),
  );
  return parseCertificate(encode(sequence(raw(tbs), algorithm, bitString(issuer.key.sign(tbs)))));
}

const root: Subject = { name: "Test root", key: fixedKey("root") };
const leaf: Subject = { name: "Test issued seal", key: fixedKey("issued seal") };
const loner: Subject = { name: "Test loner", key: fixedKey("loner") };
const rootCertificate = issue(root, root, { serial: 11, isAuthority: true });
const noAuthority = issue(root, root, { serial: 12, isAuthority: false });
const shortRoot = issue(root, root, { serial: 13, isAuthority: true, until: sealedAt.getTime() });
const leafCertificate = issue(leaf, root, { serial: 14, isAuthority: false });
const signersCertificate = issue(leaf, root, { serial: 16, isAuthority: false, isSigners: true });
const testCertificate = issue(leaf, root, { serial: 17, isAuthority: false, isTestSeals: true });
const lonerCertificate = issue(loner, loner, { serial: 15, isAuthority: true });

/**
 * Seals whose certificate was issued by an authority (docs/evidence-format.md, section 4.2, and the parts of section
 * 3.2 about included certificates).
 */
export async function issued(): Promise<Made> {
  const { add, put, trust, made } = collection("issued");
  const roots = trust("root.pem", pem(rootCertificate.der));
  const leaves = trust("issued-seal.pem", pem(leafCertificate.der));
  const seal = async (name: string, ...others: Certificate[]) => {
    const cms = createCmsSigner({ key: sealKeyOver(leaf.key), chain: [leafCertificate, ...others] });
    return put(name, await sealed(document(), { cms, reason: sealReasons.proof.live }));
  };
  const bySigner = createCmsSigner({ key: sealKeyOver(leaf.key), chain: [signersCertificate, rootCertificate] });
  const signers = await put(
    "by-a-signer.pdf",
    await sealed(document(), { cms: bySigner, reason: sealReasons.proof.live }),
  );
  const whole = await seal("with-its-root.pdf", rootCertificate);
  const alone = await seal("alone.pdf");
  const one = (name: string, file: string, anchors: readonly string[], expect = verified(), teaches: string) =>
    add({ name, kind: "sealed_pdf", files: { sealed: file }, trust: anchors, expect, teaches });
  const untrusted = notVerified({ seal_certificate_trusted: "fails" });
  one("an issued seal, its root trusted", whole, [roots], verified(), "A path leads from the seal to the anchor.");
  one("an issued seal, itself trusted", whole, [leaves], verified(), "The leaf may be the anchor: a path of one.");
  one("an issued seal alone, its root trusted", alone, [roots], verified(), "The issuer is at hand as an anchor.");
  one("an issued seal, another trusted", whole, ["trust/seal.pem"], untrusted, "No path.");
  one(
    "an issued seal, nobody trusted",
    whole,
    [],
    intact({ seal_certificate_trusted: "unchecked" }),
    "The root that came along is not trusted for coming along.",
  );
  one("a signer's certificate, its root trusted", signers, [roots], untrusted, "What a signer signs is no seal.");
  one(
    "a signer's certificate, itself trusted",
    signers,
    [trust("signer.pem", pem(signersCertificate.der))],
    untrusted,
    "Whoever is trusted.",
  );
  const byTests = createCmsSigner({ key: sealKeyOver(leaf.key), chain: [testCertificate, rootCertificate] });
  const ofTests = async (name: string, reason: string) =>
    put(`of-tests-${name}.pdf`, await sealed(document(), { cms: byTests, reason }));
  const tests = trust("seal-of-tests.pem", pem(testCertificate.der));
  const listed = (environment: string) => {
    const sealCertificates = [{ pem: pem(testCertificate.der), environment }];
    return trust(`seal-of-tests-${environment}.json`, JSON.stringify({ format: 1, sealCertificates }));
  };
  const testReason = await ofTests("test", sealReasons.proof.test);
  const liveReason = await ofTests("live", sealReasons.proof.live);
  const allowed = verifiedTest({ seal_certificate_environment: "holds" });
  const exceeded = notVerified({ seal_certificate_environment: "fails" });
  const noPurpose = intact({ seal_purpose: "fails", seal_certificate_environment: "unchecked" });
  const alike = "A certificate with the policy of test seals vouches for purposes of tests.";
  const never = "It never vouches for a live purpose, whoever is trusted.";
  one("a certificate of tests, a test purpose", testReason, [tests], allowed, alike);
  one("a certificate of tests in a list, a test purpose", testReason, [listed("test")], allowed, alike);
  one("a certificate of tests, a live purpose", liveReason, [tests], exceeded, never);
  one("a certificate of tests, a live purpose, its root trusted", liveReason, [roots], exceeded, never);
  one("a certificate of tests in a list, a live purpose", liveReason, [listed("test")], exceeded, never);
  const odd = await ofTests("odd", "Something else");
  one(
    "a certificate of tests, no purpose",
    odd,
    [tests],
    noPurpose,
    "Without a purpose the verdict is intact at most.",
  );
  one(
    "a root that is no authority",
    await seal("root-without-ca.pdf", noAuthority),
    [trust("root-without-ca.pem", pem(noAuthority.der))],
    untrusted,
    "An issuer has cA, although it is the anchor.",
  );
  one(
    "a root that ran out before",
    await seal("root-that-ran-out.pdf", shortRoot),
    [trust("root-that-ran-out.pem", pem(shortRoot.der))],
    notVerified({ seal_certificate_trusted: "unchecked", seal_certificate_valid_at_time: "fails" }),
    "Every certificate on the path is valid at the instant; a validity period alone leaves trust unchecked.",
  );
  one(
    "a certificate of nobody on the path",
    await seal("with-a-loner.pdf", rootCertificate, lonerCertificate),
    [roots],
    notVerified({ seal_signature_valid: "fails" }),
    "Every included certificate is the seal's or the issuer of the one before it.",
  );
  const unusable = "A key that can't be used verifies nothing.";
  const damagedRoot = parseCertificate(offCurve(rootCertificate.der, rootCertificate.spki));
  const underDamaged = await seal("root-off-its-curve.pdf", damagedRoot);
  const broken = notVerified({ seal_signature_valid: "fails" });
  one("a root whose key is off its curve, the root itself trusted", underDamaged, [roots], broken, unusable);
  const damaged = [trust("root-off-its-curve.pem", pem(damagedRoot.der))];
  const pathless = notVerified({ seal_signature_valid: "fails", seal_certificate_trusted: "fails" });
  one("a root whose key is off its curve, and trusted", underDamaged, damaged, pathless, unusable);
  const good = await stamped(document());
  const offOwn = put("own-key-off-its-curve.pdf", offCurve(good, sealer.certificate.spki));
  const own = notVerified({
    document_unchanged_since_seal: "unchecked",
    seal_signature_valid: "fails",
    seal_certificate_trusted: "fails",
    time_stamp_valid: "holds",
  });
  one("the seal's own key off its curve", offOwn, ["trust/seal.pem"], own, unusable);
  const offStamper = put("time-stamp-key-off-its-curve.pdf", offCurve(good, tsa.certificate.spki));
  const ofStamp = notVerified({ time_stamp_valid: "fails" });
  one("the key of a time stamp off its curve", offStamper, ["trust/seal.pem"], ofStamp, unusable);
  return made();
}

/** Changes the last octet, or hexadecimal digit, of a key's point, so that the point is no longer on its curve. */
function offCurve(bytes: Uint8Array, spki: Uint8Array): Uint8Array {
  const copy = Buffer.from(bytes);
  const digits = Buffer.from(spki).toString("hex");
  const inHex = copy.indexOf(digits);
  const last = inHex < 0 ? copy.indexOf(spki) + spki.length - 1 : inHex + digits.length - 1;
  copy[last] = (copy[last] ?? 0) ^ 1;
  return Uint8Array.from(copy);
}
