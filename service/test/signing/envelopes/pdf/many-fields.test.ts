import assert from "node:assert/strict";
import { hash } from "node:crypto";
import { test } from "node:test";
import { formFields } from "../../../../src/kernel/pdf/form-fields.ts";
import { PdfRefusal } from "../../../../src/kernel/pdf/refusal.ts";
import { lookUpPdf } from "../../../../src/kernel/pdf/xref/lookup.ts";
import { inlineWorkers } from "../../../../src/kernel/platform/workers/inline.ts";
import { createPreflight } from "../../../../src/signing/envelopes/open-envelopes.ts";

/** A document of one page with text fields, each its own widget. */
function formOf(count: number, more = ""): Buffer {
  const refs = Array.from({ length: count }, (_, index) => `${5 + index} 0 R`).join(" ");
  const field = (index: number) =>
    `<</Type/Annot/Subtype/Widget/FT/Tx/T(f${index})/F 4/Rect[72 ${index % 700} 90 ${(index % 700) + 9}]/DA(/Helv 9 Tf 0 g)${more}>>`;
  const objects = [
    "<</Type/Catalog/Pages 2 0 R/AcroForm 4 0 R>>",
    "<</Type/Pages/Kids[3 0 R]/Count 1>>",
    `<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Resources<<>>/Annots[${refs}]>>`,
    `<</Fields[${refs}]>>`,
    ...Array.from({ length: count }, (_, index) => field(index)),
  ];
  const parts = ["%PDF-1.7\n"];
  let length = 9;
  const offsets = objects.map((object, index) => {
    const text = `${index + 1} 0 obj\n${object}\nendobj\n`;
    parts.push(text);
    length += text.length;
    return length - text.length;
  });
  parts.push(`xref\n0 ${objects.length + 1}\n0000000000 65535 f \n`);
  for (const at of offsets) parts.push(`${String(at).padStart(10, "0")} 00000 n \n`);
  parts.push(`trailer\n<</Size ${objects.length + 1}/Root 1 0 R>>\nstartxref\n${length}\n%%EOF\n`);
  return Buffer.from(parts.join(""), "latin1");
}

test("a form of 20,000 fields is tried completely, and accepted", async () => {
  const bytes = formOf(20_000);
  const signature = { kind: "signature", signer: 1, page: 1, x: 300, y: 700, width: 180, height: 36 } as const;
  const tried = await createPreflight(inlineWorkers)({
    holder: "firm",
    bytes,
    sha256: hash("sha256", bytes),
    signers: ["Jane Roe"],
    fields: [{ ...signature, label: null, required: true }],
  });
  assert.equal(tried.pages, 1);
});

test("a form is read once, however often its fields are requested", () => {
  const { file, acroForm } = lookUpPdf(formOf(1_000));
  assert.ok(acroForm);
  const all = () => [...formFields(file, acroForm.dict)].map(({ ref }) => ref.num);
  const before = file.budget.lexedBytes;
  assert.equal(all().length, 1_000);
  const [first] = [...formFields(file, acroForm.dict)];
  assert.equal(first?.ref.num, 5);
  assert.equal(all().length, 1_000);
  assert.equal(file.budget.lexedBytes, before, "signatures were counted before, by the same walk");
});

test("a form that can't be read to its end is refused each time", () => {
  const { file, acroForm } = lookUpPdf(formOf(10));
  assert.ok(acroForm);
  const dict = { ...acroForm.dict };
  file.budget.lexedBytes = 700;
  for (let time = 0; time < 2; time++)
    assert.throws(
      () => [...formFields(file, dict)],
      (error) => error instanceof PdfRefusal && error.reason === "too_complex",
    );
});
