import assert from "node:assert/strict";
import { createPublicKey, verify } from "node:crypto";
import { test } from "node:test";
import { temporaryFolder } from "@signsealship/testing/service";
import { openPkcs12, Pkcs12Error } from "../../../../src/pages/operator/browser/pkcs12.ts";
import { certificateFiles, password } from "../../../signing/notaries/certificate-files.ts";

const folder = temporaryFolder();
const make = certificateFiles(folder.path);

const faultOf = (file: Uint8Array, typed = password) =>
  openPkcs12(file, typed).then(
    () => "opened",
    (error: unknown) => {
      assert.ok(error instanceof Pkcs12Error, String(error));
      return error.fault;
    },
  );

const kinds = {
  "RSA, as OpenSSL 3 exports": {},
  "P-256, as OpenSSL 3 exports": { key: "p256" },
  "RSA with AES-128 and SHA-1": { export: ["-keypbe", "AES-128-CBC", "-certpbe", "AES-128-CBC", "-macalg", "sha1"] },
  "RSA with certificates in the clear": { export: ["-certpbe", "NONE"] },
  "RSA in the old encryption, 3DES and RC2 of 40 bits": { export: ["-legacy"] },
  "P-256 with 3DES throughout": {
    key: "p256",
    export: ["-legacy", "-keypbe", "PBE-SHA1-3DES", "-certpbe", "PBE-SHA1-3DES"],
  },
  "RSA with 3DES of two keys, and RC2 of 128 bits": {
    export: ["-legacy", "-keypbe", "PBE-SHA1-2DES", "-certpbe", "PBE-SHA1-RC2-128"],
  },
  "RSA without a MAC": { export: ["-nomac"] },
} as const;

for (const [name, options] of Object.entries(kinds))
  test(`opens a file of ${name}, and its key signs`, async () => {
    const { p12, pem } = make("Nora Ames", options);
    const { sign, certificate } = await openPkcs12(p12, password);
    const data = Buffer.from("signed attributes");
    const key = createPublicKey(pem);
    const isRsa = key.asymmetricKeyType === "rsa";
    const form = isRsa ? key : ({ key, dsaEncoding: "ieee-p1363" } as const);
    assert.ok(verify("sha256", data, form, await sign(data)));
    assert.ok(pem.replace(/\s/g, "").includes(Buffer.from(certificate.der).toString("base64")));
    assert.equal(await faultOf(p12, `${password}.`), "password");
    assert.equal(await faultOf(p12, ""), "password");
  });

test("refuses a file in RC4 by its own reason", async () => {
  const { p12 } = make("Nora Ames", { export: ["-legacy", "-certpbe", "PBE-SHA1-RC4-128"] });
  assert.equal(await faultOf(p12), "legacy");
});

test("refuses a key on another curve, a file without a key, and a file without the certificate of its key", async () => {
  assert.equal(await faultOf(make("Nora Ames", { key: "p384" }).p12), "key_kind");
  assert.equal(await faultOf(make("Nora Ames", { export: ["-nokeys"] }).p12), "no_key");
  assert.equal(await faultOf(make("Nora Ames", { export: ["-nocerts"] }).p12), "no_certificate");
});

test("refuses a file that is not a certificate file, or is cut off or altered, always with a reason", async () => {
  for (const bytes of [Buffer.alloc(0), Buffer.from("%PDF-1.7"), Buffer.from("30820101", "hex")])
    assert.equal(await faultOf(bytes), "format");
  const { p12 } = make("Nora Ames", { key: "p256" });
  for (let at = 0; at < p12.length; at += 7) {
    assert.notEqual(await faultOf(p12.subarray(0, at)), "opened");
    const altered = Buffer.from(p12);
    altered.writeUInt8((altered.readUInt8(at) + 1) % 256, at);
    await faultOf(altered);
  }
});

process.on("exit", () => folder.remove());
