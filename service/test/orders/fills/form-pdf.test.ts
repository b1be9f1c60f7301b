import assert from "node:assert/strict";
import { hash } from "node:crypto";
import { test } from "node:test";
import { namedFields } from "../../../src/kernel/pdf/named-fields.ts";
import { lookUpPdf } from "../../../src/kernel/pdf/xref/lookup.ts";
import { run as fillForm } from "../../../src/orders/fills/pdf/fill-form-task.ts";
import { valuesAt } from "../../../src/orders/fills/pdf/form-questions.ts";
import type { Answers } from "../../../src/orders/fills/pdf/question.ts";
import { run as questionsOf } from "../../../src/orders/fills/pdf/questions-task.ts";
import { everyKind, madeForm } from "./made-form.ts";

async function questions(form: Buffer) {
  const found = await questionsOf(form);
  assert.ok("questions" in found, JSON.stringify(found));
  return found.questions;
}

const answersIn = (given: Record<string, string[]>): Answers => new Map(Object.entries(given));

async function filled(form: Buffer, given: Record<string, string[]>, options: readonly string[] = []): Promise<Buffer> {
  const output = await fillForm(form, { answers: answersIn(given), options, docSha256: hash("sha256", form) });
  assert.ok("tail" in output, JSON.stringify(output));
  return Buffer.concat([form, output.tail]);
}

const valuesIn = (pdf: Buffer): Record<string, string> => {
  const look = lookUpPdf(pdf);
  return Object.fromEntries(namedFields(look).map(({ name, dict }) => [name, valuesAt(look.file, dict).join("+")]));
};

test("asks for each field in reading order, with the form's words, the words next to it, or its name", async () => {
  const found = await questions(everyKind());
  assert.deepEqual(
    found.map(({ name, kind, label, isGuessed, required }) => [name, kind, label, isGuessed, required]),
    [
      ["buyer", "text", "Full name of the buyer", false, true],
      ["f2", "text", "City", false, false],
      ["notes", "text", "Remarks", false, false],
      ["zip", "text", "ZIP code", false, false],
      ["agree", "checkbox", "I have read the terms", false, true],
      ["married", "radio", "Married", false, false],
      ["state", "dropdown", "State", false, false],
      ["pets", "list", "Pets", false, false],
      ["Text 9", "text", "9.", true, false],
    ],
  );
  const of = (name: string) => found.find((each) => each.name === name);
  assert.deepEqual(
    of("married")?.options.map(({ label }) => label),
    ["Yes", "No"],
  );
  assert.deepEqual(of("state")?.options, [
    { value: "CA", label: "California" },
    { value: "NV", label: "Nevada" },
  ]);
  assert.deepEqual([of("zip")?.maxLength, of("notes")?.lines, of("f2")?.value], [5, true, ["Springfield"]]);
});

test("writes answers into the form's own fields, and closes all fields except the signature", async () => {
  const answers = {
    buyer: ["Zoë Łukasz 陈 محمد"],
    f2: ["Reno"],
    notes: ["one\n\ntwo"],
    zip: ["89501"],
    agree: ["on"],
    married: ["Choice2"],
    state: ["NV"],
    pets: ["Cat", "Fish"],
  };
  const pdf = await filled(everyKind(), answers, ["Nevada"]);
  assert.deepEqual(valuesIn(pdf), {
    buyer: "Zoë Łukasz 陈 محمد",
    f2: "Reno",
    notes: "one\n\ntwo",
    zip: "89501",
    agree: "Yes",
    married: "Choice2",
    state: "NV",
    pets: "Cat+Fish",
    "Text 9": "",
    office: "kept",
    sign: "",
  });
  for (const { name, flags } of namedFields(lookUpPdf(pdf)))
    assert.equal(flags & 1, name === "sign" ? 0 : 1, name ?? "");
  assert.ok(/NeedAppearances\s+false/.test(pdf.toString("latin1")));
  assert.equal(((await questionsOf(pdf)) as { whyNot?: string }).whyNot, "no_fields");
});

test("refuses an answer that is too long for its field, and characters that no font contains", async () => {
  const form = everyKind();
  const output = await fillForm(form, {
    answers: answersIn({
      buyer: ["W".repeat(400)],
      f2: ["a\u{10FFFD}b"],
      zip: ["123456"],
      notes: ["word ".repeat(700)],
    }),
    options: [],
    docSha256: hash("sha256", form),
  });
  assert.deepEqual(output, {
    unshown: [
      { name: "buyer", why: "long" },
      { name: "f2", why: "characters" },
      { name: "notes", why: "long" },
      { name: "zip", why: "long" },
    ],
  });
});

test("an answer can't end its string, or be drawn as operators", async () => {
  const hostile = ") /AA << /S /JavaScript /JS (x) >> endobj\n";
  const form = madeForm([{ entries: "/FT /Tx /T (a) /TU (A)", rect: "72 600 572 620" }]);
  const pdf = await filled(form, { a: [hostile.trim()] });
  assert.equal(valuesIn(pdf)["a"], hostile.trim());
  assert.ok(!pdf.toString("latin1", form.length).includes("JavaScript"));
});

test("states why a form can't be filled in", async () => {
  const why = async (form: Buffer) => ((await questionsOf(form)) as { whyNot?: string }).whyNot;
  assert.equal(await why(madeForm([])), "no_fields");
  assert.equal(await why(madeForm([{ entries: "/FT /Tx /T (a) /Ff 8192" }])), "secret_fields");
  assert.equal(await why(Buffer.from("%PDF-1.7\nnothing")), "unreadable");
  const many = Array.from({ length: 501 }, (_, n) => ({ entries: `/FT /Tx /T (f${n})` }));
  assert.equal(await why(madeForm(many)), "too_many");
});

test("omits marks that hide text or change its direction from the form's words", async () => {
  const [question] = await questions(
    madeForm([{ entries: "/FT /Tx /T (a) /TU <FEFF004E202E0061006D0065000A200B0031>" }]),
  );
  assert.equal(question?.label, "N ame 1");
});

test("draws upright on rotated pages, and in the cells of a comb", async () => {
  for (const rotate of [90, 180, 270]) {
    const form = madeForm([{ entries: "/FT /Tx /T (a) /TU (A) /Ff 16777216 /MaxLen 4", rect: "100 100 120 200" }], {
      pageEntries: `/Rotate ${rotate}`,
    });
    const pdf = await filled(form, { a: ["WXYZ"] });
    assert.equal(valuesIn(pdf)["a"], "WXYZ");
  }
});
