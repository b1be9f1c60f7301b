import assert from "node:assert/strict";
import { test } from "node:test";
import { verifyProof } from "../../src/seal/verify-proof.ts";
import { memoizedCrypto } from "../node-crypto.ts";
import { testSigner } from "../signer.ts";
import { ENDING, endingIn, RUNNING_OVER } from "./running-over.ts";
import { signPdf } from "./signed-pdf.ts";

const signer = testSigner("seal");
const trust = { sealAnchors: [signer.certificate], tsaAnchors: [] };
const verify = (original: Uint8Array) =>
  verifyProof(signPdf(original, { signer, reserve: 2400 }), trust, Date.UTC(2026, 5, 1), { crypto: memoizedCrypto() });

for (const naming of ["named", "named behind a comment", "named by no section"] as const) {
  for (const [what, value] of Object.entries(RUNNING_OVER)) {
    test(`refuses a seal of a document that ends within ${what} (${naming})`, async () => {
      const { verdict, claims } = await verify(endingIn(value, naming));
      assert.equal(verdict, "not_verified");
      assert.equal(claims.find(({ name }) => name === "signature_structure")?.state, "fails");
    });
  }
  for (const [what, value] of Object.entries(ENDING)) {
    test(`verifies a seal of a document with ${what} (${naming})`, async () => {
      assert.equal((await verify(endingIn(value, naming))).verdict, "verified");
    });
  }
}
