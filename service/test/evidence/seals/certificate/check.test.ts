import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { generateKeyPairSync } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Certificate } from "@signsealship/evidence/x509";
import { parseCertificatesPem } from "@signsealship/evidence/x509";
import { testsNeeding } from "@signsealship/testing/tools/tools";
import { checkSealCertificate } from "../../../../src/evidence/seals/certificate/check.ts";
import { sealKeyOf } from "../../../../src/evidence/seals/keys/file-key.ts";
import { memoryKey, selfSigned, someInstant } from "../signers.ts";

const { after, before, test } = testsNeeding("openssl");

const day = 24 * 3_600_000;
const folder = mkdtempSync(join(tmpdir(), "seal-certificate-check-"));
after(() => rmSync(folder, { recursive: true, force: true }));

const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
const key = sealKeyOf(privateKey, "memory");
writeFileSync(join(folder, "seal.key"), privateKey.export({ type: "pkcs8", format: "pem" }));
const openssl = (...args: string[]) => execFileSync("openssl", args, { cwd: folder, stdio: "pipe" });
const read = (name: string): Certificate => {
  const [certificate] = parseCertificatesPem(readFileSync(join(folder, `${name}.pem`), "utf8"));
  assert.ok(certificate);
  return certificate;
};

/** A certificate of the seal key with these extensions, issued by an authority that openssl made. */
function issued(name: string, extensions: string): Certificate {
  writeFileSync(join(folder, "ext"), extensions);
  openssl("req", "-new", "-key", "seal.key", "-subj", `/CN=${name}`, "-out", "csr");
  const issuer = ["-CA", "ca.pem", "-CAkey", "ca.key", "-set_serial", "5"];
  openssl("x509", "-req", "-in", "csr", ...issuer, "-days", "3650", "-extfile", "ext", "-out", `${name}.pem`);
  return read(name);
}

const [usage, documents] = ["keyUsage=critical,digitalSignature,nonRepudiation", "extendedKeyUsage=1.3.6.1.5.5.7.3.36"];
let ca: Certificate;
let twinOfCa: Certificate;
let leaf: Certificate;
let soon: number;
before(() => {
  for (const name of ["ca", "other"]) {
    const made = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-noenc", "-keyout", `${name}.key`];
    openssl("req", "-x509", ...made, "-subj", "/CN=Test CA", "-days", "3650", "-out", `${name}.pem`);
  }
  [ca, twinOfCa] = [read("ca"), read("other")];
  leaf = issued("proper", `${usage}\n${documents}\n`);
  soon = leaf.notBefore + day;
});

const codes = (chain: readonly Certificate[], at = soon, of: { publicKey: Uint8Array } = key) =>
  checkSealCertificate({ chain, key: of, at }).map((problem) => problem.code);

test("finds no fault in the certificate of a first run", async () => {
  assert.deepEqual(codes([await selfSigned(key)], someInstant), []);
});

test("finds no fault in an authority's certificate, with the chain and without", () => {
  assert.deepEqual(codes([leaf, ca]), []);
  assert.deepEqual(codes([leaf]), []);
  assert.deepEqual(codes([issued("no extensions", "")]), []);
});

test("reports that there is no certificate", () => {
  assert.deepEqual(codes([]), ["no-certificate"]);
});

test("reports a certificate of another key", async () => {
  assert.deepEqual(codes([leaf, ca], soon, memoryKey("p-256")), ["key-mismatch"]);
  assert.deepEqual(codes([leaf], soon, memoryKey("rsa")), ["key-mismatch"]);
});

test("reports one that is not valid yet, has expired, or will expire within 30 days", async () => {
  const certificate = await selfSigned(key);
  const { notBefore, notAfter } = certificate;
  assert.deepEqual(codes([certificate], notBefore - 1), ["not-yet-valid"]);
  assert.deepEqual(codes([certificate], notBefore), []);
  assert.deepEqual(codes([certificate], notAfter - 30 * day), []);
  assert.deepEqual(codes([certificate], notAfter - 30 * day + 1), ["expires-soon"]);
  assert.deepEqual(codes([certificate], notAfter), ["expires-soon"]);
  assert.deepEqual(codes([certificate], notAfter + 1000), ["expired"]);
});

test("only the coming expiry is a warning", async () => {
  const certificate = await selfSigned(key);
  const [problem] = checkSealCertificate({ chain: [certificate], key, at: certificate.notAfter });
  assert.equal(problem?.severity, "warning");
  assert.match(problem?.detail ?? "", /^SEAL_CERTIFICATE: CN=SignSealShip seal seal\.example expires on 2036-01-15$/);
  const [expired] = checkSealCertificate({ chain: [certificate], key, at: certificate.notAfter + day });
  assert.equal(expired?.severity, "error");
});

for (const [name, extensions] of [
  ["key encipherment alone", "keyUsage=critical,keyEncipherment"],
  ["web servers", "extendedKeyUsage=serverAuth"],
  ["time-stamping", "extendedKeyUsage=critical,timeStamping"],
  ["an authority", "basicConstraints=critical,CA:true\nkeyUsage=critical,keyCertSign,digitalSignature"],
] as const) {
  test(`reports a certificate for ${name}`, () => {
    assert.deepEqual(codes([issued(name, `${extensions}\n`), ca]), ["wrong-usage"]);
  });
}

test("reports a certificate with an unknown critical extension", () => {
  assert.deepEqual(codes([issued("unknown", "1.2.3.4=critical,DER:0500\n"), ca]), ["unusable"]);
});

test("reports a chain that is out of order, and an issuer with the right name whose key did not sign", () => {
  assert.deepEqual(codes([ca, leaf]), ["key-mismatch", "wrong-usage", "chain-order"]);
  assert.deepEqual(codes([leaf, twinOfCa]), ["chain-order"]);
  assert.deepEqual(codes([leaf, leaf]), ["chain-order"]);
});

test("reports an issuer that expires, by its name", () => {
  const problems = checkSealCertificate({ chain: [leaf, ca], key, at: ca.notAfter - day });
  assert.deepEqual(
    problems.map((problem) => problem.code),
    ["expires-soon", "expires-soon"],
  );
  assert.match(problems[1]?.detail ?? "", /CN=Test CA expires on/);
});
