import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { findSignatures, openUnlocked } from "@signsealship/evidence/pdf";
import { sealPurposeOf, sealReasons, verifyProof } from "@signsealship/evidence/seal";
import { zooBytes, zooFiles } from "@signsealship/testing/inputs/zoo";
import { createNodeCrypto } from "@signsealship/verifier/node-crypto";
import { sealChainPem } from "../../../../src/evidence/seals/certificate/certificate.ts";
import { prepareSeal } from "../../../../src/evidence/seals/pdf/seal-pdf.ts";
import { createSealer } from "../../../../src/evidence/seals/sealer.ts";
import { PdfRefusal } from "../../../../src/kernel/pdf/refusal.ts";
import { systemRandom } from "../../../../src/kernel/platform/random.ts";
import { inlineWorkers } from "../../../../src/kernel/platform/workers/inline.ts";
import { memoryKey, selfSigned } from "../signers.ts";
import { run } from "./oracles.ts";

const at = new Date("2026-03-04T05:06:07Z");
const folder = mkdtempSync(join(tmpdir(), "encrypted-"));
after(() => rmSync(folder, { recursive: true }));
const opened = zooFiles().filter(({ name, expected }) => name.startsWith("encrypted-") && expected === "sealed");

const key = memoryKey("p-256");
const certificate = await selfSigned(key, at.getTime());
const identity = { key, chain: [certificate] as const, chainPem: sealChainPem([certificate]) };
const anchors = { sealAnchors: [certificate], tsaAnchors: [] };
const seal = createSealer({ workers: inlineWorkers, random: systemRandom, identity, clock: () => at, stamp: null });

/** The document as qpdf decrypts it, with every string in its original form. */
async function decrypted(name: string, bytes: Buffer): Promise<string> {
  const path = join(folder, name);
  writeFileSync(path, bytes);
  const { output } = await run("qpdf", ["--decrypt", "--object-streams=disable", "--static-id", "--qdf", path, "-"]);
  return output;
}

describe("an encrypted document that the empty password opens, and that lets fields be added", () => {
  for (const { name } of opened) {
    test(`${name} is sealed in its own encryption`, async () => {
      const original = zooBytes(name);
      const { bytes, docSha256 } = await seal({ bytes: original, reason: sealReasons.proof.test });
      assert.ok(bytes.subarray(0, original.length).equals(original));
      const { verdict } = await verifyProof(bytes, anchors, at.getTime(), { crypto: createNodeCrypto() });
      assert.equal(verdict, "verified");
      const [signature] = findSignatures(await openUnlocked(bytes)).slice(-1);
      assert.deepEqual(signature && sealPurposeOf(signature.dictionary), { kind: "proof", environment: "test" });
      // No text is left unencrypted, and qpdf can read both our new strings and the rewritten ones.
      const tail = bytes.subarray(original.length).toString("latin1");
      assert.ok(!tail.includes("SignSealShip-Seal") && !tail.includes("test environment"), "strings in clear");
      const text = await decrypted(name, bytes);
      assert.ok(text.includes(`(SignSealShip-Seal-${docSha256.slice(0, 32)})`));
      assert.ok(text.includes("/M (D:20260304050607Z)"));
      assert.ok(text.includes("/Reason (Proof passport \\(test environment\\))"));
      const strings = (whole: string) => whole.match(/^ {2}\/(DA|X|Y|V) [(<].*$/gm) ?? [];
      assert.deepEqual(strings(text), strings(await decrypted(`before-${name}`, original)));
    });
  }

  test("gets no initialization vector twice", () => {
    const original = zooBytes("encrypted-open-aes-256-object-streams.pdf");
    const { tail } = prepareSeal({ original, at, reserve: 8, name: "SignSealShip", reason: "Sealed" });
    const vectors = [...tail.toString("latin1").matchAll(/<([0-9a-f]{32})[0-9a-f]{32,}>/g)].map(([, iv]) => iv);
    assert.ok(vectors.length >= 6, `${vectors.length} strings`);
    assert.equal(new Set(vectors).size, vectors.length);
  });
});

test("an encrypted document is refused as encrypted, whatever its other faults, and the message says why", () => {
  const whys: Record<string, RegExp> = {
    "encrypted-aes-256.pdf": /needs a password/,
    "encrypted-broken.pdf": /needs repair too: no cross-reference section at \d+/,
    "encrypted-forged-permissions.pdf": /not those its key vouches for/,
    "encrypted-missing.pdf": /can't be read/,
    "encrypted-open-forbids-all.pdf": /P -1324/,
    "encrypted-open-forbids-new-fields.pdf": /P -44/,
    "encrypted-open-forbids-other-changes.pdf": /P -12/,
    "encrypted-open-forbids-rc4-40.pdf": /P -12/,
    "encrypted-public-key.pdf": /Adobe\.PubSec/,
    "encrypted-then-not.pdf": /different Encrypt dictionaries/,
    "encrypted-unpublished.pdf": /V 3/,
  };
  for (const [name, why] of Object.entries(whys)) {
    assert.throws(
      () => prepareSeal({ original: zooBytes(name), at, reserve: 8 }),
      (error) => error instanceof PdfRefusal && error.reason === "encrypted" && why.test(error.detail),
      name,
    );
  }
});
