import assert from "node:assert/strict";
import { test } from "node:test";
import { verifyProof } from "../../../src/seal/verify-proof.ts";
import { memoizedCrypto } from "../../node-crypto.ts";
import { testSigner, tokenOver } from "../../signer.ts";
import type { Attack, Permission } from "./attacks/attack.ts";
import { attacks } from "./attacks/attacks.ts";
import { asBytes, formDocument, signForm } from "./document.ts";
import { honest } from "./honest/honest.ts";
import type { Honest } from "./honest/update.ts";

const signer = testSigner("stranger");
const tsa = testSigner("tsa");
const crypto = memoizedCrypto();
const at = Date.UTC(2026, 5, 1);
const stamp = (signed: Uint8Array) => tokenOver(signed, tsa, Date.UTC(2026, 0, 2));
const PERMISSIONS: readonly Permission[] = [1, 2, 3, "approval"];

/**
 * Verifies a PDF and returns the state of the claim about later changes. The claim is that of the first signature that
 * covers a revision; if there is none, of the first signature. For an unreadable file, returns the state of the claim
 * `pdf_readable`.
 */
async function first(pdf: string): Promise<string | undefined> {
  // With the appended comment, no signature covers the whole file. So none is treated as the seal.
  const result = await verifyProof(asBytes(`${pdf}% end\n`), { sealAnchors: [], tsaAnchors: [tsa.certificate] }, at, {
    crypto,
  });
  const { earlierSignatures: all } = result;
  const claims = (all.find(({ pades }) => pades !== null) ?? all[0])?.claims ?? result.claims;
  return claims.find(
    ({ name }) => name === "later_changes_permitted" || (name === "pdf_readable" && claims.length === 1),
  )?.state;
}

type Made = Pick<Attack & Honest, "prepared" | "preparedRevision" | "signature">;

function signedForm({ prepared, preparedRevision, signature }: Made, permission: Permission) {
  const original = (preparedRevision ?? ((pdf: string) => pdf))(formDocument(prepared));
  const certify = permission === "approval" ? {} : { certify: permission };
  const signed = signForm(original, { signer, ...certify, ...signature });
  return { original, signed, state: first(signed) };
}

const usual = new Map(PERMISSIONS.map((permission) => [permission, signedForm({}, permission)]));

/**
 * The signed form that a change applies to. For most changes it is the usual form, which is signed only once per
 * permission.
 */
function formOf(made: Made, permission: Permission) {
  const isUsual = !made.prepared && !made.preparedRevision && !made.signature;
  return (isUsual && usual.get(permission)) || signedForm(made, permission);
}

for (const { kind, ...attack } of attacks) {
  for (const permission of attack.forbidden) {
    test(`refuses ${kind}: ${attack.name} (${permission})`, async () => {
      const { original, signed, state } = formOf(attack, permission);
      const forged = attack.make(signed, original);
      assert.notEqual(forged, signed);
      if (!attack.unsound) assert.equal(await state, "holds", "the form that was signed");
      assert.equal(await first(forged), "fails");
    });
  }
}

for (const { kind, ...update } of honest) {
  for (const permission of PERMISSIONS) {
    const permitted = update.permitted.includes(permission);
    test(`${permitted ? "permits" : "refuses"} ${kind}: ${update.name} (${permission})`, async () => {
      const { signed, state } = formOf(update, permission);
      assert.equal(await state, "holds", "the form that was signed");
      assert.equal(await first(update.make(signed, signer, stamp)), permitted ? "holds" : "fails");
    });
  }
}
