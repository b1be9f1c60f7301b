import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { makePdf } from "@signsealship/testing/inputs/pdf-maker";
import { needs } from "@signsealship/testing/tools/tools";
import type { PlannedField, SignatureMark } from "../../../../src/signing/envelopes/pdf/fields.ts";
import { matchSigners } from "../../../../src/signing/envelopes/pdf/placement/plan.ts";
import { blackInk, inkIn } from "./pixels.ts";
import { openSigning } from "./signing.ts";

const folder = mkdtempSync(join(tmpdir(), "seen-"));

const signing = await openSigning();
after(() => rmSync(folder, { recursive: true }));

const at = (bytes: Buffer, name: string) => {
  const path = join(folder, name);
  writeFileSync(path, bytes);
  return path;
};

/** A black sentence at the place of the second signer, whose field covers it. */
const sentence = "BT /F1 16 Tf 80 212 Td (And 1000000 dollars besides.) Tj ET";
const words = { x: 80, y: 565, width: 200, height: 20 };
const second = { x: 72, y: 552, width: 240, height: 48 };
const planned: PlannedField[] = [
  { kind: "signature", signer: 1, page: 0, place: { x: 72, y: 400, width: 180, height: 48 } },
  { kind: "signature", signer: 2, page: 0, place: second },
  { kind: "text", signer: 2, page: 0, place: { ...second, x: 320 }, label: "Remark" },
];
const document = () => makePdf({ pages: 1, content: sentence });

const picture = (sample: number): SignatureMark => ({
  kind: "uploaded",
  width: 240,
  height: 32,
  rgb: new Uint8Array(240 * 32 * 3).fill(sample),
  alpha: null,
});

test("shows the words below an empty place to earlier signers as at the end", needs("mupdf", "poppler"), async () => {
  const original = document();
  const { bytes, fields } = await signing.prepare(original, planned, ["Jane Doe", "Sender"]);
  const first = await signing.act(bytes, fields, 1, { name: "Jane Doe" });
  const last = await signing.act(first, fields, 2, { name: "." });
  const bare = await inkIn(at(original, "bare.pdf"), blackInk, words);
  assert.ok(bare.mutool > 300 && bare.poppler > 300, JSON.stringify(bare));
  for (const [name, file] of Object.entries({ bytes, first, last })) {
    const shown = await inkIn(at(file, `${name}.pdf`), blackInk, words);
    // The label of a field darkens a few pixels, so the count may grow a little.
    for (const reader of ["mutool", "poppler"] as const)
      assert.ok(shown[reader] >= bare[reader] && shown[reader] < 1.1 * bare[reader], `${name}, ${reader}`);
  }
});

for (const [what, sample] of [
  ["white", 255],
  ["black", 0],
] as const)
  test(`leaves the words below an opaque ${what} picture readable`, needs("mupdf", "poppler"), async () => {
    const { bytes, fields } = await signing.prepare(document(), planned, ["Jane Doe", "Sender"]);
    const signed = await signing.act(bytes, fields, 2, { name: ".", mark: picture(sample) });
    const bare = await inkIn(at(document(), "under.pdf"), blackInk, words);
    const shown = await inkIn(at(signed, `${what}.pdf`), blackInk, words);
    for (const reader of ["mutool", "poppler"] as const) {
      // The gray edges of letters become darker below ink. If something hid the words, all of the area or none of it
      // would be black.
      assert.ok(shown[reader] >= bare[reader] && shown[reader] < 3 * bare[reader], `${reader}: ${shown[reader]}`);
    }
  });

test("covers nothing below the second of a signer's own signature fields", () => {
  const own = [1, 2].map((object) => ({ object, name: "buyer", page: 0, place: second }));
  const fields = matchSigners(own, 1, true);
  assert.deepEqual(
    fields.map(({ covers }) => covers),
    [undefined, undefined],
  );
});
