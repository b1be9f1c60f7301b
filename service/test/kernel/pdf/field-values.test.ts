import assert from "node:assert/strict";
import { hash } from "node:crypto";
import { test } from "node:test";
import { run as fillForm } from "../../../src/orders/fills/pdf/fill-form-task.ts";
import { run as readText } from "../../../src/signing/envelopes/reading/read-text-task.ts";
import { everyKind, type MadeField, madeForm } from "../../orders/fills/made-form.ts";

const textOf = async (pdf: Buffer) => (await readText(pdf))?.pages[0]?.split("\n");

async function filled(answers: Record<string, string[]>): Promise<Buffer> {
  const form = everyKind();
  const options = ["California", "Cat", "Dog", "Fish", "Nevada"];
  const input = { answers: new Map(Object.entries(answers)), options, docSha256: hash("sha256", form) };
  const output = await fillForm(form, input);
  assert.ok("tail" in output, JSON.stringify(output));
  return Buffer.concat([form, output.tail]);
}

test("reads the values of a form that was filled in online where the page shows them", async () => {
  const answers = { f2: ["Reno"], agree: ["on"], married: ["Choice2"], state: ["NV"], pets: ["Cat", "Dog"] };
  assert.deepEqual(
    await textOf(await filled({ ...answers, buyer: ["Jane Doe"], notes: ["One\nTwo"], zip: ["12345"] })),
    [
      "Form 1 of 1",
      "City: Reno",
      "☑ I have read the terms",
      "Yes ☑ No",
      "Full name of the buyer: Jane Doe",
      "Remarks: One",
      "Two",
      "ZIP code: 12345",
      "State: NV",
      "Pets: Cat, Dog",
      "Office use: kept",
    ],
  );
  assert.doesNotMatch(String(await textOf(everyKind())), /☑/);
});

test("reads the drawn text of a field whose value differs, and no value that the page does not show", async () => {
  const page = (entries: string, rest: Partial<MadeField> = {}) =>
    textOf(madeForm([{ entries: `/FT /Tx /T (a) ${entries}`, ...rest }], { text: "Words" }));
  assert.deepEqual(await page("/V (Paid)"), ["Words 1 of 1", "Paid"]);
  assert.deepEqual(await page("/V (Paid) /F 2"), ["Words 1 of 1"], "hidden");
  assert.deepEqual(await page("/V (Paid) /F 32"), ["Words 1 of 1"], "not on screens");
  assert.deepEqual(await page(""), ["Words 1 of 1"]);
});

test("reads the value of a page that is shown turned next to the words in front of it", async () => {
  // Each page is drawn so that its words are upright once a reader has turned the page.
  for (const [turn, matrix, rect] of [
    [0, "1 0 0 1 160 614", "200 610 400 630"],
    [90, "0 1 -1 0 300 160", "286 200 306 400"],
    [180, "-1 0 0 -1 460 314", "220 300 420 320"],
    [270, "0 -1 1 0 300 660", "296 420 316 620"],
  ] as const) {
    const content = `BT /F1 11 Tf ${matrix} Tm (City:) Tj ET BT /F1 11 Tf 72 72 Td (Other) Tj ET`;
    const field = { entries: "/FT /Tx /T (a) /V (Reno)", rect };
    const lines = await textOf(madeForm([field], { content, pageEntries: `/Rotate ${turn}` }));
    assert.ok(lines?.includes("City: Reno"), `${turn}: ${lines?.join("|")}`);
  }
});
