import assert from "node:assert/strict";
import { test } from "node:test";
import { readDer } from "../../src/asn1/der.ts";
import { OID } from "../../src/asn1/oid.ts";
import { encode, octetString, oid, printableString, sequence, set, utf8String } from "../../src/asn1/writer.ts";
import { createWebCrypto } from "../../src/webcrypto.ts";
import { parseCertificate, serialNumberText } from "../../src/x509/certificate.ts";
import { verifyChain } from "../../src/x509/chain.ts";
import { readExtensions } from "../../src/x509/extensions.ts";
import { commonNameOf, nameText } from "../../src/x509/name.ts";
import { encodePem, parseCertificatesPem } from "../../src/x509/pem.ts";
import { vector, vectorCertificate } from "../vector-cases.ts";

const at = Date.UTC(2030, 0, 1);
const port = createWebCrypto(crypto.subtle);

test("reads the parts of a certificate", () => {
  const sub = vectorCertificate("sub");
  assert.equal(sub.version, 3);
  assert.equal(nameText(sub.subject), "CN=Vector Authority");
  assert.equal(nameText(sub.issuer), "CN=Vector Root");
  assert.equal(sub.notBefore, Date.UTC(2024, 0, 1));
  assert.equal(sub.notAfter, Date.UTC(2044, 0, 1));
  assert.deepEqual(sub.publicKey, { type: "ec", curve: "P-384" });
  assert.deepEqual(sub.signatureAlgorithm, { scheme: "ecdsa", hash: "SHA-256" });
  assert.deepEqual(sub.basicConstraints, { ca: true, pathLength: 0 });
  assert.deepEqual([...(sub.keyUsage ?? [])], ["keyCertSign", "cRLSign"]);
  assert.deepEqual(sub.authorityKeyIdentifier, vectorCertificate("root").subjectKeyIdentifier);
  assert.match(serialNumberText(sub), /^[0-9A-F]{20,40}$/);
  assert.deepEqual(vectorCertificate("rsa").publicKey, { type: "rsa", bits: 3072 });
  assert.deepEqual(vectorCertificate("pss").signatureAlgorithm, { scheme: "rsa-pss", hash: "SHA-256", saltLength: 32 });
  assert.deepEqual(vectorCertificate("tsa").extendedKeyUsage, { critical: true, purposes: [OID.kpTimeStamping] });
  assert.deepEqual(vectorCertificate("unknown").unknownCriticalExtensions, ["1.3.6.1.4.1.55555.1"]);
});

test("refuses a certificate whose two signature algorithms differ", () => {
  const der = vector("x509/p256.der");
  const last = Buffer.from(der).lastIndexOf(Buffer.from("06082a8648ce3d040302", "hex"));
  der[last + 9] = 3;
  assert.throws(() => parseCertificate(der), { code: "x509" });
});

test("refuses a certificate that has bytes after it, is cut off, or is empty", () => {
  const der = vector("x509/p256.der");
  assert.throws(() => parseCertificate(Uint8Array.of(...der, 0)), { code: "der" });
  for (let length = 0; length < der.length; length += 7)
    assert.throws(() => parseCertificate(der.subarray(0, length)), { name: "EvidenceError" });
});

test("a certificate with one changed bit in its signed part has no chain", async () => {
  const root = vectorCertificate("root");
  const der = vector("x509/mail.der");
  const position = Buffer.from(der).indexOf("Mail Signer");
  der[position] = (der[position] ?? 0) ^ 1;
  const result = await verifyChain({
    leaf: parseCertificate(der),
    intermediates: [],
    anchors: [root],
    at,
    purpose: "documentSigning",
    crypto: port,
  });
  assert.equal(result.valid ? "valid" : result.reason, "bad-signature");
});

test("gives up on many authorities that all have one name", async () => {
  const root = vectorCertificate("root");
  const impostor = vectorCertificate("impostor");
  const sameNamed = Array.from({ length: 200 }, (_, i) => ({
    ...root,
    spki: Uint8Array.from([...root.spki.slice(0, -2), i, 1]),
  }));
  let verified = 0;
  const counting = { ...port, verify: () => ++verified < 0 };
  const input = {
    leaf: impostor,
    intermediates: sameNamed,
    anchors: [],
    at,
    purpose: "documentSigning",
    crypto: counting,
  } as const;
  const result = await verifyChain(input);
  assert.equal(result.valid, false);
  assert.equal(verified, 64);
});

test("gives up on a chain that is too long", async () => {
  const root = vectorCertificate("root");
  const name = (n: number) => encode(sequence(set(sequence(oid(OID.commonName), utf8String(`Authority ${n}`)))));
  const links = Array.from({ length: 12 }, (_, n) => ({
    ...root,
    der: name(n),
    subject: name(n),
    issuer: name(n + 1),
    authorityKeyIdentifier: null,
  }));
  const [first, ...rest] = links;
  assert.ok(first);
  const leaf = { ...first, keyUsage: null };
  const trusting = { ...port, verify: () => true };
  const chain = (anchors: typeof rest) =>
    verifyChain({ leaf, intermediates: rest, anchors, at, purpose: "documentSigning", crypto: trusting });
  assert.equal((await chain(rest.slice(6, 7))).valid, true);
  const tooLong = await chain(rest.slice(7, 8));
  assert.equal(tooLong.valid ? "valid" : tooLong.reason, "limit");
});

test("an instant that is not a number is outside every validity", async () => {
  const leaf = vectorCertificate("alone");
  const input = {
    leaf,
    intermediates: [],
    anchors: [leaf],
    at: Number.NaN,
    purpose: "documentSigning",
    crypto: port,
  } as const;
  assert.equal((await verifyChain(input)).valid, false);
});

test("names are shown most specific first, and no value passes for another attribute", () => {
  const attribute = (type: string, text: string) => set(sequence(oid(type), utf8String(text)));
  const name = encode(
    sequence(
      set(sequence(oid(OID.countryName), printableString("US"))),
      attribute(OID.organizationName, "Ship, Inc."),
      attribute(OID.commonName, "A=B, O=Bank\u202e\n"),
      attribute("1.2.3.4", "x"),
    ),
  );
  assert.equal(nameText(name), "1.2.3.4=x, CN=A\\=B\\, O\\=Bank\\u{202e}\\u{a}, O=Ship\\, Inc., C=US");
  assert.equal(commonNameOf(name), "A=B, O=Bank\u202e\n");
  assert.equal(commonNameOf(encode(sequence())), null);
});

test("refuses a PEM text from which another program may read another certificate", () => {
  const own = encodePem(vector("x509/root.der"), "CERTIFICATE");
  const other = encodePem(vector("x509/sub.der"), "CERTIFICATE");
  const odd = [
    other.replace("\n", "\nX-Header: of older PEM\n\n"),
    other.replaceAll(" CERTIFICATE", " X509 CERTIFICATE"),
    other.replaceAll(" CERTIFICATE", " TRUSTED CERTIFICATE"),
    other.replaceAll("CERTIFICATE", "certificate"),
    other.replace("\n", "\u0001\n"),
    other.replace("-----END", "-\n-----END"),
    other.replace(/\n$/, "x\n"),
    other.replace("\n", "x\n"),
    `\ufeff${other}`,
    `# ${other}`,
    `\u2028${other}`,
    `\r${other}`,
    other.replace("\n-----END", "-----END"),
    other.slice(0, -10),
  ];
  for (const [index, text] of odd.entries()) {
    for (const pem of [`${text}${own}`, `${own}${text}`]) {
      assert.throws(() => parseCertificatesPem(pem), { code: "x509" }, `case ${index}`);
    }
  }
});

test("reads the certificates of a PEM text, with text around them", () => {
  const [root, sub] = [vector("x509/root.der"), vector("x509/sub.der")];
  const pem = `subject=x\n${encodePem(root, "CERTIFICATE")}junk\n${encodePem(sub, "CERTIFICATE")}`;
  assert.deepEqual(
    parseCertificatesPem(pem).map((certificate) => certificate.der),
    [root, sub],
  );
  assert.equal(parseCertificatesPem(pem.replaceAll("\n", "\r\n")).length, 2);
  assert.throws(() => parseCertificatesPem("nothing"), { code: "x509" });
  assert.throws(() => parseCertificatesPem("-----BEGIN CERTIFICATE-----\nA\n-----END CERTIFICATE-----"), {
    code: "x509",
  });
});

test("name constraints that are not critical exclude a certificate from every chain, like critical ones", () => {
  const extension = (type: string) => sequence(oid(type), octetString(encode(sequence())));
  const read = (type: string) => readExtensions(readDer(encode(sequence(extension(type))))).unknownCriticalExtensions;
  assert.deepEqual(read(OID.nameConstraints), [OID.nameConstraints]);
  assert.deepEqual(read("1.2.3.4"), []);
});
