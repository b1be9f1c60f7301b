import { createHash, createPublicKey, generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { contentOf, readDer } from "../src/asn1/der.ts";
import { OID } from "../src/asn1/oid.ts";
import { fieldsOf } from "../src/asn1/values.ts";
import {
  bitString,
  boolean,
  type DerValue,
  encode,
  explicit,
  generalizedTime,
  implicit,
  integer,
  nullValue,
  octetString,
  octetStringOf,
  oid,
  raw,
  sequence,
  set,
  setOf,
  time,
  utf8String,
} from "../src/asn1/writer.ts";
import { type Certificate, parseCertificate } from "../src/x509/certificate.ts";

/** A P-256 key with a self-signed certificate. */
export type TestSigner = {
  readonly key: KeyObject;
  readonly certificate: Certificate;
  /** Signs in place of `key` (ECDSA with SHA-256), so that a test gets the same signature in each run. */
  readonly sign?: (data: Uint8Array) => Uint8Array;
};

const NAME_SERIAL = { seal: 1, tsa: 2, stranger: 3, plain: 4, tests: 5 } as const;
const sha256 = (...chunks: readonly Uint8Array[]) => {
  const hash = createHash("sha256");
  for (const chunk of chunks) hash.update(chunk);
  return Uint8Array.from(hash.digest());
};

const signatureBy = (
  { key, sign: own }: Omit<TestSigner, "certificate">,
  data: Uint8Array,
  hash: "sha256" | "sha1" = "sha256",
): Uint8Array => own?.(data) ?? Uint8Array.from(sign(hash, data, key));

/**
 * Creates a signer. A `tsa` has the critical timeStamping usage, and `tests` is for test seals only. The other kinds
 * sign documents.
 */
export function testSigner(
  kind: keyof typeof NAME_SERIAL,
  from = Date.UTC(2025, 0, 1),
  to = Date.UTC(2035, 0, 1),
  given?: Omit<TestSigner, "certificate">,
): TestSigner {
  const own = given ?? { key: generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey };
  const publicKey = createPublicKey(own.key);
  const spki = raw(Uint8Array.from(publicKey.export({ type: "spki", format: "der" })));
  const name = sequence(set(sequence(oid(OID.commonName), utf8String(`Test ${kind}`))));
  const extension = (type: string, value: DerValue) => sequence(oid(type), boolean(true), octetStringOf(value));
  const usage = extension(OID.keyUsage, bitString(Uint8Array.of(0xc0), 6));
  const extended = extension(OID.extKeyUsage, sequence(oid(OID.kpTimeStamping)));
  const policy = extension(OID.certificatePolicies, sequence(sequence(oid(OID.testSealPolicy))));
  const tbs = sequence(
    explicit(0, integer(2)),
    integer(NAME_SERIAL[kind]),
    sequence(oid(OID.ecdsaWithSha256)),
    name,
    sequence(time(from), time(to)),
    name,
    spki,
    explicit(3, sequence(usage, ...(kind === "tsa" ? [extended] : []), ...(kind === "tests" ? [policy] : []))),
  );
  const signature = signatureBy(own, encode(tbs));
  const der = encode(sequence(tbs, sequence(oid(OID.ecdsaWithSha256)), bitString(signature)));
  return { ...own, certificate: parseCertificate(der) };
}

/** How a CMS deviates from the default, which is a PAdES baseline signature. */
export type CmsOptions = {
  readonly signingTime?: number;
  readonly withoutSigningCertificate?: boolean;
  /** DER of certificates to put before the signer's own. */
  readonly before?: readonly Uint8Array[];
  /** Makes the signature over this content itself, without signed attributes. */
  readonly bare?: Uint8Array;
  /** Names SHA-1 as the digest algorithm and in the signature algorithm, as old programs did. */
  readonly sha1?: boolean;
  /** Writes NULL as the parameters of the signature algorithm. */
  readonly nullParameters?: boolean;
  /** Time-stamps the signature value. */
  readonly stamp?: (signature: Uint8Array) => Uint8Array;
  readonly contentType?: string;
  readonly content?: Uint8Array;
  /** Uses the greater of the two possible values of s in an ECDSA signature. No sealer writes it. */
  readonly highS?: boolean;
  /** A seal's statement of its own position. */
  readonly place?: { readonly byteRange: readonly number[]; readonly originalLength: number };
};

const P256_ORDER = 0xffffffff_00000000_ffffffff_ffffffff_bce6faad_a7179e84_f3b9cac2_fc632551n;

function pairOf(signature: Uint8Array): readonly [Uint8Array, bigint] {
  const fields = fieldsOf(readDer(signature), "cms");
  const [r, s] = [contentOf(fields.next("r")), contentOf(fields.next("s"))];
  return [r, BigInt(`0x${Buffer.from(s).toString("hex")}`)];
}

/** The other form of a P-256 ECDSA signature: (r, n - s) for (r, s). */
function otherForm(signature: Uint8Array): Uint8Array {
  const [r, s] = pairOf(signature);
  return encode(sequence(integer(r), integer(P256_ORDER - s)));
}

export function withLowS(signature: Uint8Array): Uint8Array {
  return pairOf(signature)[1] > P256_ORDER / 2n ? otherForm(signature) : signature;
}

/** DER of a SignedData over content with this SHA-256. */
export function cmsOver(digest: Uint8Array, signer: TestSigner, options: CmsOptions = {}): Uint8Array {
  const { certificate } = signer;
  const contentType = options.contentType ?? OID.idData;
  const attribute = (type: string, value: DerValue) => sequence(oid(type), set(value));
  const signingCertificate = sequence(sequence(sequence(octetString(sha256(certificate.der)))));
  const { place } = options;
  const statement =
    place === undefined
      ? []
      : [
          attribute(
            OID.sealStatement,
            sequence(
              integer(1),
              sequence(...place.byteRange.map((number) => integer(number))),
              integer(place.originalLength),
              octetString(sha256(certificate.der)),
            ),
          ),
        ];
  const signedAttrs = setOf([
    ...statement,
    attribute(OID.idContentType, oid(contentType)),
    attribute(OID.idMessageDigest, octetString(digest)),
    ...(options.withoutSigningCertificate ? [] : [attribute(OID.idAaSigningCertificateV2, signingCertificate)]),
    ...(options.signingTime === undefined ? [] : [attribute(OID.idSigningTime, time(options.signingTime))]),
  ]);
  const toSign = options.bare ?? encode(signedAttrs);
  const low = withLowS(signatureBy(signer, toSign, options.sha1 ? "sha1" : "sha256"));
  const signature = options.highS ? otherForm(low) : low;
  const digestAlgorithm = sequence(oid(options.sha1 ? OID.sha1 : OID.sha256));
  const unsigned =
    options.stamp === undefined
      ? []
      : [implicit(1, setOf([attribute(OID.idAaTimeStampToken, raw(options.stamp(signature)))]))];
  const signerInfo = sequence(
    integer(1),
    sequence(raw(certificate.issuer), integer(certificate.serialNumber)),
    digestAlgorithm,
    ...(options.bare === undefined ? [implicit(0, signedAttrs)] : []),
    sequence(
      oid(options.sha1 ? OID.ecdsaWithSha1 : OID.ecdsaWithSha256),
      ...(options.nullParameters ? [nullValue] : []),
    ),
    octetString(signature),
    ...unsigned,
  );
  const content = options.content === undefined ? [] : [explicit(0, octetString(options.content))];
  const signedData = sequence(
    integer(options.content === undefined ? 1 : 3),
    set(digestAlgorithm),
    sequence(oid(contentType), ...content),
    implicit(0, set(...(options.before ?? []).map(raw), raw(certificate.der))),
    set(signerInfo),
  );
  return encode(sequence(oid(OID.idSignedData), explicit(0, signedData)));
}

/** DER of an RFC 3161 token over a message. */
export function tokenOver(message: Uint8Array, tsa: TestSigner, genTime: number): Uint8Array {
  const content = encode(
    sequence(
      integer(1),
      oid("1.2.3.4"),
      sequence(sequence(oid(OID.sha256)), octetString(sha256(message))),
      integer(7),
      generalizedTime(genTime),
    ),
  );
  return cmsOver(sha256(content), tsa, { contentType: OID.idCtTSTInfo, content });
}
