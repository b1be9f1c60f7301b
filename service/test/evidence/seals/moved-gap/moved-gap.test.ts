import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { describe, test } from "node:test";
import { sealReasons, verifyProof } from "@signsealship/evidence/seal";
import { createNodeCrypto } from "@signsealship/verifier/node-crypto";
import { cmsOver } from "../../../../../packages/evidence/test/signer.ts";
import { sealChainPem } from "../../../../src/evidence/seals/certificate/certificate.ts";
import { createCmsSigner } from "../../../../src/evidence/seals/cms/cms.ts";
import { sealKeyOf } from "../../../../src/evidence/seals/keys/file-key.ts";
import { sealPdf } from "../../../../src/evidence/seals/pdf/seal-pdf.ts";
import { createSealer } from "../../../../src/evidence/seals/sealer.ts";
import { ServiceError } from "../../../../src/kernel/platform/errors.ts";
import { type Random, systemRandom } from "../../../../src/kernel/platform/random.ts";
import { inlineWorkers } from "../../../../src/kernel/platform/workers/inline.ts";
import { selfSigned } from "../signers.ts";
import { asTheSealer, FORGERS, moveIntoId, type SealForStrangers, SPELLINGS } from "./forger.ts";

const at = new Date("2026-03-04T05:06:07Z");
const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
const key = sealKeyOf(privateKey, "memory");
const certificate = await selfSigned(key);
const identity = { key, chain: [certificate], chainPem: sealChainPem([certificate]) } as const;
const crypto = createNodeCrypto();
const signer = createCmsSigner(identity);
const reason = sealReasons.proof.test;

const verified = (bytes: Uint8Array) =>
  verifyProof(bytes, { sealAnchors: [certificate], tsaAnchors: [] }, at.getTime(), { crypto });
const failing = async (bytes: Uint8Array) =>
  (await verified(bytes)).claims.filter(({ state }) => state === "fails").map(({ name }) => name);

const joined = (original: Buffer, { tail }: { readonly tail: Buffer }) => Buffer.concat([original, tail]);
/** The sealer of earlier releases: every length is predictable, and the signature covers only the digest. */
const asBefore: SealForStrangers = async (original) =>
  joined(
    original,
    await sealPdf({
      original,
      at,
      reserve: 1200,
      reason,
      sign: ({ messageDigest }) => cmsOver(messageDigest, { key: privateKey, certificate }),
    }),
  );
/** A sealer whose signature covers the seal's position in the file, but whose lengths are predictable. */
const predictable: SealForStrangers = async (original) =>
  joined(
    original,
    await sealPdf({ original, at, reserve: 1200, reason, sign: async (place) => (await signer.sign(place)).cms() }),
  );
const sealerWith = (random: Pick<Random, "below">): SealForStrangers => {
  const sealDocument = createSealer({
    workers: inlineWorkers,
    identity,
    clock: () => at,
    stamp: null,
    random,
  });
  return async (bytes) => (await sealDocument({ bytes, reason })).bytes;
};

const cases = [
  ...Object.entries(FORGERS).map(([name, forge]) => [name, forge, asTheSealer] as const),
  ...Object.entries(FORGERS).flatMap(([name, forge]) =>
    Object.entries(SPELLINGS).map(([how, spelling]) => [`${name}, ${how}`, forge, spelling] as const),
  ),
];

test("the sealer copies no /ID that has room for another signature", async () => {
  const { genuine } = await moveIntoId(predictable);
  assert.equal((await verified(genuine)).verdict, "verified");
  assert.ok(genuine.lastIndexOf("cargo") < genuine.lastIndexOf("/SSSOriginalLength"));
});

describe("the signature value moved to", () => {
  for (const [name, forge, spelling] of cases) {
    test(`${name}: neither an old seal nor one that signs its place is accepted for another document`, async () => {
      const before = await forge(asBefore, spelling);
      assert.notDeepEqual(before.forged, before.genuine);
      assert.equal((await verified(before.forged)).verdict, "not_verified");
      const now = await forge(predictable, spelling);
      assert.equal((await verified(now.genuine)).verdict, "verified");
      assert.equal((await verified(now.forged)).verdict, "not_verified");
      if (spelling === asTheSealer) assert.ok((await failing(now.forged)).includes("seal_place"), name);
    });

    test(`${name}: the sealer refuses the document, or its numbers do not match`, async () => {
      await assert.rejects(
        forge(sealerWith({ below: () => 0 }), spelling),
        (error) =>
          error instanceof ServiceError && error.code === "validation" && /names? another place/.test(error.message),
      );
      const drawn = await forge(sealerWith(systemRandom), spelling).catch((error) => error);
      if (drawn instanceof ServiceError) return;
      assert.equal((await verified(drawn.genuine)).verdict, "verified");
      // The verdict may also be that the forged file is unsigned: if the forger guessed its /ByteRange wrong, readers
      // find no signature.
      assert.notEqual((await verified(drawn.forged)).verdict, "verified");
    });
  }
});
