import assert from "node:assert/strict";
import { hash } from "node:crypto";
import { test } from "node:test";
import { createTypeset, openFaces } from "@signsealship/certificate";
import { makePdf } from "@signsealship/testing/inputs/pdf-maker";
import { plan, planBlock } from "../../../../src/signing/envelopes/pdf/placement/plan.ts";
import { type PlannedBlock, prepareDocument } from "../../../../src/signing/envelopes/pdf/prepare.ts";

const typeset = createTypeset(await openFaces());

/**
 * Prepares a document for signers and a notary.
 * @returns the notary's block, the page (from 0) of each signer's signature, and the number of all fields
 */
async function prepared(original: Buffer, signers: number, change: Partial<PlannedBlock> = {}) {
  const planned = await plan(original, { signers, fields: null });
  const block = { ...(await planBlock(original, planned)), ...change };
  const about = { signers, page: { title: "", note: "" }, docSha256: hash("sha256", original), isNotarized: true };
  const made = prepareDocument(original, { planned, ...about, block }, typeset);
  const pages = made.fields.filter(({ kind, signer }) => kind === "signature" && signer <= signers);
  return { block: made.block, pages: pages.map(({ page }) => page), count: made.fields.length };
}

test("the block is below the signers on the added page; where they are too many for that, in a blank place of the document", async () => {
  const two = await prepared(makePdf({ text: "Deed" }), 2);
  assert.deepEqual([two.pages, two.block?.page], [[1, 1], 1]);
  const nine = await prepared(makePdf({ text: "Deed" }), 9);
  assert.deepEqual([nine.pages.at(-1), nine.block?.page], [1, 0]);
});

test("a document without any room for the block is prepared without it, and one that must have it is refused", async () => {
  const original = makePdf({ text: "Deed" });
  const without = await prepared(original, 9, { at: null });
  assert.equal(without.block, null);
  assert.equal(without.count, 18, "a signature and a date for each signer, and nothing else");
  const planned = await plan(original, { signers: 9, fields: null });
  const about = { signers: 9, page: { title: "", note: "" }, docSha256: hash("sha256", original) };
  assert.throws(
    () => prepareDocument(original, { planned, ...about, block: { width: 290, height: 150, at: null } }, typeset),
    /has no room for a notary below 9 signers/,
  );
});

test("a block that readers would place outside its page is left out", async () => {
  const { block, pages } = await prepared(makePdf({ text: "Deed" }), 9, { at: { page: 0, x: 500, y: 10 } });
  assert.equal(block, null);
  assert.equal(pages.length, 9);
});
