import { createHash, generateKeyPairSync } from "node:crypto";
import { sealReasons, verifyProof } from "@signsealship/evidence/seal";
import { makePdf } from "@signsealship/testing/inputs/pdf-maker";
import { createNodeCrypto } from "@signsealship/verifier/node-crypto";
import { createCmsSigner } from "../service/src/evidence/seals/cms/cms.ts";
import { sealKeyOf } from "../service/src/evidence/seals/keys/file-key.ts";
import { sealPdf } from "../service/src/evidence/seals/pdf/seal-pdf.ts";
import { atLeast, type Result } from "./result.ts";
import { sealChainOf } from "./support/seal-chain.ts";

const at = new Date("2026-01-15T12:00:00Z");

/** Verification of integrity and signature, compared with hashing the same file. */
export async function run(): Promise<Result[]> {
  const key = sealKeyOf(generateKeyPairSync("rsa", { modulusLength: 3072 }).privateKey, "bench");
  const chain = await sealChainOf(key, at.getTime());
  const signer = createCmsSigner({ key, chain });
  const crypto = createNodeCrypto();
  const results: Result[] = [];
  for (const [name, bytes, budget] of [
    ["100 KB", 100 * 1024, 0.4],
    ["1 MB", 1024 * 1024, 0.8],
  ] as const) {
    const original = makePdf({ pages: 1, bytes });
    const { tail } = await sealPdf({
      original,
      at,
      reason: sealReasons.proof.live,
      reserve: signer.maxLength(),
      sign: async (place) => (await signer.sign(place)).cms(),
    });
    const sealed = Buffer.concat([original, tail]);
    const slice = async (work: () => unknown): Promise<number> => {
      const started = performance.now();
      let done = 0;
      for (; performance.now() - started < 300; done++) await work();
      return done / ((performance.now() - started) / 1000);
    };
    const verify = () => verifyProof(sealed, { sealAnchors: [chain[0]], tsaAnchors: [] }, at.getTime(), { crypto });
    const { verdict } = await verify();
    if (verdict !== "verified") throw new Error(`the bench's own seal is ${verdict}`);
    const hash = () => createHash("sha256").update(sealed).digest();
    const rates = { ours: [] as number[], other: [] as number[] };
    for (let round = 0; round < 9; round++) {
      rates.ours.push(await slice(verify));
      rates.other.push(await slice(hash));
    }
    results.push(atLeast(`verify ${name}, sha256 of the file`, rates.ours, rates.other, "files/s", budget));
  }
  return results;
}
