import assert from "node:assert/strict";
import { test } from "node:test";
import { makePdf } from "@signsealship/testing/inputs/pdf-maker";
import { appendRevision, bodyOf } from "../../../../../packages/evidence/test/seal/signed-pdf.ts";
import { placeProblem } from "../../../../src/signing/notaries/uploads/visible-place.ts";

const original = makePdf({ text: "I owe 100 dollars" });

/** The document with a popup on its first page. */
function withPopup(rect: string, appearance: string): Buffer {
  const text = original.toString("latin1");
  const ink = "1 g 0 0 400 60 re f";
  const form = `<< /Type /XObject /Subtype /Form /BBox [0 0 400 60] /Length ${ink.length} >>\nstream\n${ink}\nendstream`;
  const popup = `<< /Type /Annot /Subtype /Popup /F 4 /Rect [${rect}] ${appearance} >>`;
  const page = bodyOf(text, 5).replace(/>>\s*$/, "/Annots [90 0 R]>>");
  return Buffer.from(
    appendRevision(text, [
      [5, page],
      [90, popup],
      [91, form],
    ]),
    "latin1",
  );
}

test("a popup with an appearance, which poppler prints, may not cover words", async () => {
  const appearance = "/AP << /N 91 0 R >>";
  assert.match(
    (await placeProblem(original, withPopup("60 690 460 750", appearance))) ?? "",
    /an addition covers words/,
  );
  assert.equal(await placeProblem(original, withPopup("60 60 260 120", appearance)), null);
});

test("a popup without an appearance may be anywhere, because readers open it in a window", async () => {
  assert.equal(await placeProblem(original, withPopup("60 690 460 750", "")), null);
});
