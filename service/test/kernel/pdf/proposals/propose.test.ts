import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { signatureForms } from "@signsealship/testing/inputs/signature-forms";
import { zooBytes, zooFiles } from "@signsealship/testing/inputs/zoo";
import { openWithPdfJs } from "../../../../src/kernel/pdf/pdf-js.ts";
import { readContent } from "../../../../src/kernel/pdf/proposals/content.ts";
import { kindOfLabel } from "../../../../src/kernel/pdf/proposals/patterns.ts";
import { propose } from "../../../../src/kernel/pdf/proposals/propose.ts";

async function proposalsOf(pdf: Buffer) {
  const { opening, OPS } = await openWithPdfJs(pdf);
  try {
    const document = await opening.promise;
    return propose(await readContent(await document.getPage(1), OPS));
  } finally {
    await opening.destroy();
  }
}

describe("proposes the places of a form, and no others:", () => {
  for (const { name, pdf, places } of signatureForms())
    test(name, async () => {
      const proposals = await proposalsOf(pdf);
      const left = [...proposals];
      for (const { kind, x, y } of places) {
        const at = left.findIndex(
          ({ kind: each, rect }) =>
            each === kind && x >= rect.x - 6 && x <= rect.x + rect.width && Math.abs(rect.y + rect.height - y) <= 6,
        );
        assert.notEqual(at, -1, `${kind} at ${x}, ${y} in ${JSON.stringify(proposals)}`);
        left.splice(at, 1);
      }
      assert.deepEqual(left, []);
    });
});

test("the example's own lines are proposed, and the notary's are not", async () => {
  const proposals = await proposalsOf(
    readFileSync(new URL("../../../../../examples/lien-release.pdf", import.meta.url)),
  );
  assert.deepEqual(
    proposals.map(({ kind }) => kind),
    ["signature", "date"],
  );
});

test("nothing is proposed in files that nobody has to sign", async () => {
  let read = 0;
  for (const { name } of zooFiles()) {
    const proposals = await proposalsOf(zooBytes(name)).catch(() => null);
    if (proposals) read++;
    assert.deepEqual(proposals ?? [], [], name);
  }
  assert.ok(read > 90, `${read} files were read`);
});

test("labels are read by their words", () => {
  for (const [label, kind] of [
    ["Signature of Buyer:", "signature"],
    ["By", "signature"],
    ["Authorized Signatory", "signature"],
    ["Print Name", "name"],
    ["Name (print)", "name"],
    ["Date signed:", "date"],
    ["Buyer's initials", "initials"],
    ["Signature of Notary", "notary"],
    ["Title", "other"],
    ["Property address", "other"],
    ["Witness", "notary"],
    ["Governing law", null],
    ["", null],
  ] as const)
    assert.equal(kindOfLabel(label), kind, label);
});
