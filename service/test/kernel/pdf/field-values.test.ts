import assert from "node:assert/strict";
import { hash } from "node:crypto";
import { test } from "node:test";
import { fieldValues } from "../../../src/kernel/pdf/field-values.ts";
import { run as fillForm } from "../../../src/orders/fills/pdf/fill-form-task.ts";
import { run as readText } from "../../../src/signing/envelopes/reading/read-text-task.ts";
import { everyKind, madeForm } from "../../orders/fills/made-form.ts";

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
      "Yes No",
      "Full name of the buyer: Jane Doe",
      "Remarks: One",
      "Two",
      "ZIP code: 12345",
      "State: NV",
      "Pets: Cat, Dog",
    ],
  );
  assert.doesNotMatch(String(await textOf(everyKind())), /☑/);
});

test("reads the text that a field draws, whatever its value is, and nothing of a field that draws none", async () => {
  const page = (entries: string, drawn?: string) =>
    textOf(madeForm([{ entries, ...(drawn !== undefined && { drawn }) }], { text: "Words" }));
  assert.deepEqual(await page("/FT /Tx /T (a) /V (Paid)", "Paid"), ["Words 1 of 1", "Paid"]);
  assert.deepEqual(await page("/FT /Tx /T (a) /V (Paid)", "Owed"), ["Words 1 of 1", "Owed"]);
  assert.deepEqual(await page("/FT /Ch /Ff 131072 /T (a) /V (Paid)", "Paid"), ["Words 1 of 1", "Paid"]);
  for (const entries of ["/FT /Tx", "/FT /Ch /Ff 131072"])
    assert.deepEqual(await page(`${entries} /T (a) /V (Paid)`), ["Words 1 of 1"], entries);
  assert.deepEqual(await page("/FT /Tx /T (a) /V (Paid)", ""), ["Words 1 of 1"]);
  for (const more of ["/F 2", "/F 32", "/Ff 8192"])
    assert.deepEqual(await page(`/FT /Tx /T (a) /V (Paid) ${more}`, "Paid"), ["Words 1 of 1"], more);
});

test("reads no mark of a radio button, because a page can draw another button than the group's value", async () => {
  const kid = (state: string, x: number) => ({ entries: `/AS /${state}`, rect: `${x} 440 ${x + 12} 452` });
  const group = { entries: "/FT /Btn /Ff 49152 /T (a) /V /A", kids: [kid("Off", 72), kid("B", 172)] };
  assert.doesNotMatch(String(await textOf(madeForm([group], { text: "Words" }))), /☑/);
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
    const field = { entries: "/FT /Tx /T (a) /V (Reno)", drawn: "Reno", rect };
    const lines = await textOf(madeForm([field], { content, pageEntries: `/Rotate ${turn}` }));
    assert.ok(lines?.includes("City: Reno"), `${turn}: ${lines?.join("|")}`);
  }
});

test("reads the beginning of a value that is too long", async () => {
  const long = "x".repeat(30_000);
  const read = await readText(madeForm([{ entries: `/FT /Tx /T (a) /V (${long})`, drawn: long }], { text: "Words" }));
  assert.equal(read?.pages[0], `Words 1 of 1\n${long.slice(0, 20_000)}`);
});

test("places no value once a page has cost too many comparisons, and reads no more values than a page may have", () => {
  const run = (i: number) => ({ str: "word", hasEOL: false, transform: [1, 0, 0, 1, i / 1_000, 100] });
  const words = Array.from({ length: 100_000 }, (_, i) => run(i));
  const field = (i: number) => ({
    fieldType: "Tx",
    fieldValue: `v${i}`,
    textContent: [`v${i}`],
    rect: [200, 90, 210, 110],
  });
  const fields = Array.from({ length: 3_000 }, (_, i) => field(i));
  const values = fieldValues(words, fields, (x, y) => [x, y]);
  assert.equal(values.length, 2_000);
  assert.deepEqual(values[0], { text: "v0", run: 99_999, side: "after" });
  assert.deepEqual(values[1_999], { text: "v1999", run: null, side: "after" });
});
