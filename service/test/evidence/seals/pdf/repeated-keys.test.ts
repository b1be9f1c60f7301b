import assert from "node:assert/strict";
import { test } from "node:test";
import { makePdf } from "@signsealship/testing/inputs/pdf-maker";
import { appendRevision, bodyOf } from "../../../../../packages/evidence/test/seal/signed-pdf.ts";
import { lookUpPdf } from "../../../../src/kernel/pdf/xref/lookup.ts";

const plain = makePdf().toString("latin1");
const catalog = (entry: string) => bodyOf(plain, 1).replace(/ >>$/, ` ${entry} >>`);
const form = catalog("/AcroForm << /Fields [40 0 R] >>");
const lookUp = (objects: readonly (readonly [number, string])[], trailer = "") =>
  lookUpPdf(Buffer.from(appendRevision(plain, objects, trailer), "latin1"));

test("a document is refused when it states twice something on which its seal would depend", () => {
  const field = "<< /FT /Sig /T (a) /V 41 0 R >>";
  for (const [key, objects, trailer] of [
    ["Root", [[1, catalog("")]], " /Root 1 0 R"],
    ["PageMode", [[1, catalog("/PageMode /UseNone /PageMode /UseNone")]]],
    ["Fields", [[1, catalog("/AcroForm << /Fields [] /Fields [40 0 R] >>")]]],
    [
      "T",
      [
        [40, "<< /FT /Sig /T (a) /T (b) >>"],
        [1, form],
      ],
    ],
    [
      "Reason",
      [
        [40, field],
        [41, "<< /Reason (a) /Reason (b) >>"],
        [1, form],
      ],
    ],
    ["DocMDP", [[1, catalog("/Perms << /DocMDP 41 0 R /DocMDP 42 0 R >>")]]],
    [
      "P",
      [
        [41, "<< /Reference [<< /TransformMethod /DocMDP /TransformParams << /P 3 /P 2 >> >>] >>"],
        [1, catalog("/Perms << /DocMDP 41 0 R >>")],
      ],
    ],
  ] as const) {
    const detail = new RegExp(`^/${key} stands twice in .* at \\d+$`);
    assert.throws(() => lookUp(objects, trailer), { name: "PdfRefusal", reason: "needs_repair", detail }, key);
  }
});

test("a repeated key on which no seal depends does not prevent sealing", () => {
  const font = bodyOf(plain, 3).replace(/ >>$/, " /Note 1 /Note 2 >>");
  assert.equal(
    lookUp([
      [3, font],
      [1, catalog("")],
    ]).signatures,
    0,
  );
});
