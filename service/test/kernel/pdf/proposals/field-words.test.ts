import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { type FieldWords, kindOfLabel, parties } from "../../../../src/kernel/pdf/proposals/patterns.ts";

const file = JSON.parse(
  await readFile(new URL("../../../../data/field-words.json", import.meta.url), "utf8"),
) as FieldWords;

/** The plain words among an entry's alternatives, without regular-expression syntax. */
function plainWords({ before = "", any, after = "" }: FieldWords["execution"]): string[] {
  return any
    .map((each) => `${before}${each}${after}`.replaceAll("\\b", "").replace(/^\^/, "").replace(/\$$/, ""))
    .filter((words) => /^[\p{L} ]+$/u.test(words));
}

test("each plain word of a label in the data file is recognized", () => {
  const words = file.labels.flatMap(plainWords);
  assert.ok(words.length > 60, `${words.length} words`);
  for (const each of words) assert.notEqual(kindOfLabel(each), null, each);
});

test("each plain word of a party in the data file is recognized as a party", () => {
  const words = file.parties.flatMap(({ any }) => any.filter((each) => /^[\p{L} ]+$/u.test(each)));
  assert.ok(words.length > 10, `${words.length} words`);
  for (const each of words)
    assert.ok(
      parties.some((party) => party.test(each)),
      each,
    );
});

test("every entry of the data file has a kind that the proposals know, and words", () => {
  const kinds = ["signature", "initials", "date", "name", "text", "checkbox", "other", "notary"];
  for (const { is, any } of file.labels) {
    assert.ok(kinds.includes(is), is);
    assert.ok(any.length > 0 && any.every((each) => each !== ""), is);
  }
  for (const [label, kind] of [
    ["Signature:", "signature"],
    ["By:", "signature"],
    ["Date:", "date"],
    ["Print name", "name"],
    ["Initials", "initials"],
    ["Firma", "signature"],
    ["Notary Public", "notary"],
    ["Loan number", "other"],
    ["Weather", null],
  ] as const)
    assert.equal(kindOfLabel(label), kind, label);
});
