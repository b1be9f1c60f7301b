import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { X509Certificate } from "node:crypto";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { OID } from "@signsealship/evidence/asn1";
import type { Certificate } from "@signsealship/evidence/x509";
import { needs } from "@signsealship/testing/tools/tools";
import {
  makeSealCertificate,
  readSealChain,
  sealChainPem,
} from "../../../../src/evidence/seals/certificate/certificate.ts";
import { openChain } from "../../../../src/evidence/seals/certificate/file.ts";
import type { SealKey } from "../../../../src/evidence/seals/keys/seal-key.ts";
import { StartupError } from "../../../../src/kernel/platform/errors.ts";
import { memoryKey, memoryRoot, selfSigned, someInstant } from "../signers.ts";

const folder = mkdtempSync(join(tmpdir(), "seal-certificate-"));
after(() => rmSync(folder, { recursive: true, force: true }));
const keys = { rsa: memoryKey("rsa"), "p-256": memoryKey("p-256") };
const root = await memoryRoot();
const serialNumber = Buffer.alloc(16, 0xa7);
const issued = ({ publicKey }: SealKey, subject = "seal.example", at = someInstant) =>
  makeSealCertificate({ root, publicKey, subject, serialNumber, at });
const openSealChain = (path: string, make?: () => Promise<readonly Certificate[]>) =>
  openChain({ path, setting: "SEAL_CERTIFICATE" }, make);

for (const [kind, key] of Object.entries(keys)) {
  test(`makes a certificate of the ${kind} key that signs documents, is not an authority and lasts ten years`, async () => {
    const [certificate, issuer, ...above] = await issued(key);
    assert.deepEqual([issuer, above], [root.chain[0], []]);
    assert.deepEqual([...(certificate.keyUsage ?? [])], ["digitalSignature", "contentCommitment"]);
    const purposes = [OID.kpDocumentSigning, OID.kpEmailProtection];
    assert.deepEqual(certificate.extendedKeyUsage, { critical: false, purposes });
    assert.deepEqual(certificate.basicConstraints, { ca: false, pathLength: null });
    assert.deepEqual(certificate.authorityKeyIdentifier, issuer?.subjectKeyIdentifier);
    assert.equal(certificate.subjectKeyIdentifier?.length, 20);
    assert.equal(certificate.serialNumber.length, 16);
    assert.equal(certificate.notBefore, someInstant - 300_000);
    assert.equal(certificate.notAfter, Date.UTC(2036, 0, 15, 12));
    assert.deepEqual(certificate.spki, key.publicKey);
  });

  test(`openssl reads the ${kind} certificate as intended and verifies its signature`, needs("openssl"), async () => {
    const [certificate] = await issued(key);
    const foreign = new X509Certificate(certificate.der);
    assert.equal(foreign.verify(new X509Certificate(root.chain[0].der).publicKey), true);
    assert.equal(foreign.ca, false);
    const text = execFileSync("openssl", ["x509", "-noout", "-text"], {
      input: sealChainPem([certificate]),
    }).toString();
    assert.match(text, /Basic Constraints: critical\s+CA:FALSE/);
    assert.match(text, /Key Usage: critical\s+Digital Signature, Non Repudiation\s/);
    assert.match(text, /Subject: CN = SignSealShip seal seal\.example\s/);
  });
}

test("a certificate that is valid beyond 2049 has dates that openssl reads", needs("openssl"), async () => {
  const [certificate] = await issued(keys["p-256"], "seal.example", Date.UTC(2045, 5, 1));
  assert.equal(new Date(new X509Certificate(certificate.der).validTo).getTime(), Date.UTC(2055, 5, 1));
});

test("a long host name is cut to the maximum length of a common name", async () => {
  const host = `${"a".repeat(80)}.example`;
  const [certificate] = await issued(keys["p-256"], host);
  assert.equal(new X509Certificate(certificate.der).subject, `CN=SignSealShip seal ${"a".repeat(46)}`);
  assert.equal(certificate.serialNumber.length, 16);
});

test("a chain is read back from its PEM, in order", async () => {
  const chain = [await selfSigned(keys.rsa), await selfSigned(keys["p-256"])];
  assert.deepEqual(readSealChain(sealChainPem(chain)), chain);
});

test("the file of the chain is made once, and then read", async () => {
  const path = join(folder, "keys", "seal.pem");
  const chain = await openSealChain(path, () => issued(keys.rsa));
  assert.equal(readFileSync(path, "utf8"), sealChainPem(chain));
  const again = await openSealChain(path, () => assert.fail("made twice"));
  assert.deepEqual(again, chain);
});

test("two concurrent calls both use the file that was written first", async () => {
  const path = join(folder, "at-once", "seal.pem");
  const make = (kind: "rsa" | "p-256") => openSealChain(path, () => issued(keys[kind]));
  const [one, other] = await Promise.all([make("rsa"), make("p-256")]);
  assert.deepEqual(one, other);
  assert.deepEqual(readdirSync(join(folder, "at-once")), ["seal.pem"]);
});

test("refuses a configured file that is missing, contains no certificate or is not a file", async () => {
  const refused = (text: RegExp) => (error: unknown) =>
    error instanceof StartupError && error.message.startsWith("SEAL_CERTIFICATE: ") && text.test(error.message);
  await assert.rejects(openSealChain(join(folder, "missing")), refused(/read: ENOENT/));
  writeFileSync(join(folder, "text"), "hello");
  await assert.rejects(openSealChain(join(folder, "text")), refused(/No certificate/));
  await assert.rejects(openSealChain(folder), refused(/read: EISDIR/));
  await assert.rejects(
    openSealChain(join(folder, "text", "seal.pem"), () => issued(keys.rsa)),
    refused(/read: ENOTDIR/),
  );
  await assert.rejects(
    openSealChain(join(folder, "n".repeat(250)), () => issued(keys.rsa)),
    refused(/written: ENAMETOOLONG/),
  );
});
