import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { sealReasons, verifyProof } from "@signsealship/evidence/seal";
import { makePdf } from "@signsealship/testing/inputs/pdf-maker";
import { needs } from "@signsealship/testing/tools/tools";
import { createNodeCrypto } from "@signsealship/verifier/node-crypto";
import { askPyHanko } from "../../../../../packages/evidence/test/pdf/changes/oracles/pyhanko-oracle.ts";
import { makeSealCertificate, sealChainPem } from "../../../../src/evidence/seals/certificate/certificate.ts";
import { createSealer } from "../../../../src/evidence/seals/sealer.ts";
import { systemRandom } from "../../../../src/kernel/platform/random.ts";
import { inlineWorkers } from "../../../../src/kernel/platform/workers/inline.ts";
import { pdfsigTrusting } from "../../../evidence/seals/pdf/oracles.ts";
import { memoryKey, memoryRoot } from "../../../evidence/seals/signers.ts";
import { openSigning } from "./signing.ts";

const folder = mkdtempSync(join(tmpdir(), "trusted-root-"));
after(() => rmSync(folder, { recursive: true, force: true }));
const database = (name: string) => {
  const path = join(folder, name);
  mkdirSync(path);
  return path;
};

const names = ["Jane Doe", "Zoë Łuczak", "SignSealShip seal seal.example"];

const signing = await openSigning();
const key = memoryKey("rsa");
const made = { subject: "seal.example", serialNumber: randomBytes(16), at: Date.now() };
const chain = await makeSealCertificate({ ...made, root: signing.root, publicKey: key.publicKey });
const identity = { key, chain, chainPem: sealChainPem(chain) };
const { bytes, fields } = await signing.prepare(makePdf(), [], names.slice(0, 2));
const values = { date: "2026-01-15" };
const first = await signing.act(bytes, fields, 1, { name: "Jane Doe", values });
/** The document with two acts, and with the seal after them. */
const whole = await sealed(await signing.act(first, fields, 2, { name: "Zoë Łuczak", values }));

async function sealed(bytes: Buffer): Promise<Buffer> {
  const clock = () => new Date();
  const seal = createSealer({ workers: inlineWorkers, random: systemRandom, identity, clock, stamp: null });
  return (await seal({ bytes, reason: sealReasons.proof.test })).bytes;
}

const at = (name: string, bytes: Buffer) => {
  const path = join(folder, name);
  writeFileSync(path, bytes);
  return path;
};

test(
  "pdfsig trusts acts and seal once NSS knows the root, and names their holders",
  needs("poppler", "nss"),
  async () => {
    const found = await pdfsigTrusting(at("whole.pdf", whole), sealChainPem(signing.root.chain), database("known"));
    assert.deepEqual(
      found.map(({ valid, certificate }) => [valid, certificate]),
      Array(3).fill([true, "Certificate is Trusted."]),
    );
    assert.deepEqual(
      found.map(({ name }) => Buffer.from(name, "latin1").toString()),
      names,
    );
    const stranger = sealChainPem((await memoryRoot()).chain);
    for (const { valid, certificate } of await pdfsigTrusting(
      join(folder, "whole.pdf"),
      stranger,
      database("stranger"),
    ))
      assert.deepEqual([valid, certificate], [true, "Certificate issuer isn't Trusted."]);
  },
);

test(
  "pyHanko calls acts and seal valid with the root, and trusts none with another root",
  needs("pyhanko"),
  async () => {
    const validate = whole;
    const [known, stranger] = askPyHanko([
      { validate, roots: [signing.root.chain[0].der] },
      { validate, roots: [(await memoryRoot()).chain[0].der] },
    ]);
    assert.deepEqual(
      known?.validations?.map(({ valid, trusted }) => [valid, trusted]),
      Array(3).fill([true, true]),
      JSON.stringify(known),
    );
    assert.deepEqual(
      stranger?.validations?.map(({ valid, trusted }) => [valid, trusted]),
      Array(3).fill([false, false]),
      JSON.stringify(stranger),
    );
  },
);

test("openssl verifies the seal with only the root", needs("openssl"), async () => {
  const alone = await sealed(makePdf());
  const text = alone.toString("latin1");
  const [, a = 0, b = 0, c = 0, d = 0] = /\/ByteRange ?\[ ?(\d+) (\d+) (\d+) (\d+)/.exec(text)?.map(Number) ?? [];
  const cms = at("seal.p7s", Buffer.from(text.slice(b + 1, c - 1), "hex"));
  const content = at("covered", Buffer.concat([alone.subarray(a, a + b), alone.subarray(c, c + d)]));
  const root = at("root.pem", Buffer.from(sealChainPem(signing.root.chain)));
  const stranger = at("stranger.pem", Buffer.from(sealChainPem((await memoryRoot()).chain)));
  const verify = (trusted: string) =>
    execFileSync(
      "openssl",
      ["cms", "-verify", "-binary", "-cades", "-inform", "DER", "-in", cms, "-content", content, "-CAfile", trusted],
      { stdio: "pipe" },
    );
  verify(root);
  assert.throws(() => verify(stranger), /Verification failure/);
});

test("our verifier verifies the seal by its own certificate and by the root, and a signer's as no seal", async () => {
  const crypto = createNodeCrypto();
  const verdict = async (bytes: Buffer, sealAnchors: Parameters<typeof verifyProof>[1]["sealAnchors"]) =>
    verifyProof(bytes, { sealAnchors, tsaAnchors: [] }, Date.now(), { crypto });
  assert.equal((await verdict(whole, identity.chain.slice(0, 1))).verdict, "verified");
  assert.equal((await verdict(whole, signing.root.chain)).verdict, "verified");
  const { bytes, fields } = await signing.prepare(makePdf(), [], ["Mallory"]);
  const signed = await signing.act(bytes, fields, 1, { name: "SignSealShip seal seal.example" });
  const { verdict: outcome, claims } = await verdict(signed, signing.root.chain);
  assert.equal(outcome, "not_verified");
  assert.match(claims.find(({ name }) => name === "seal_certificate_trusted")?.why ?? "", /issued to a signer/);
});
