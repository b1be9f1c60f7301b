import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { EvidenceError } from "../../src/errors.ts";
import { cursorAt } from "../../src/pdf/cursor.ts";
import { readIndirectObject, readValue } from "../../src/pdf/lexer.ts";
import { sameValue } from "../../src/pdf/same-value.ts";
import { integerOf, nameOf } from "../../src/pdf/values.ts";
import { bytesOf } from "../seal/signed-pdf.ts";

const read = (text: string) => readValue(cursorAt(bytesOf(text), 0));
const dictionary = (text: string) => {
  const value = read(text);
  assert.equal(value.kind, "dictionary");
  return value.kind === "dictionary" ? value : assert.fail();
};

test("reads every kind of object", () => {
  const value = dictionary(
    "<< /Name /A#20B /Number -12 /Real 1.5 /Yes true /No false /Null null /Text (a\\)(b)) /Hex <4142> /Ref 12 3 R /List [1 2 R 3 0 R] >>",
  );
  assert.equal(nameOf(value, "Name"), "A B");
  assert.equal(integerOf(value, "Number"), -12);
  assert.equal(integerOf(value, "Real"), undefined);
  const kinds = [...value.entries.values()].map(({ kind }) => kind);
  assert.deepEqual(kinds.slice(1, 9), [
    "number",
    "number",
    "boolean",
    "boolean",
    "null",
    "string",
    "string",
    "reference",
  ]);
});

test("reads two integers without a following R as two integers", () => {
  const value = read("[1 2 3 0 R 4]");
  assert.deepEqual(value.kind === "array" && value.items.map(({ kind }) => kind), [
    "number",
    "number",
    "reference",
    "number",
  ]);
});

test("names the repeated keys, however they are written", () => {
  assert.deepEqual(dictionary("<< /A 1 /B 2 /#41 3 >>").repeated, ["A"]);
  assert.deepEqual(dictionary("<< /A 1 /B 2 >>").repeated, []);
});

test("skips comments, and finds where a string begins and ends", () => {
  const value = dictionary("<< % >> not the end\n /Contents <41 42> >>");
  const contents = value.entries.get("Contents");
  assert.deepEqual([contents?.start, contents?.end], [31, 38]);
});

test("refuses broken objects with the code pdf", () => {
  for (const text of [
    "",
    "<<",
    "<< /A >>",
    "<< 1 2 >>",
    "[1 2",
    "(open",
    "<41",
    "--1",
    "1.2.3",
    "R",
    "obj",
    ">>",
    "]",
    "1e5",
  ]) {
    assert.throws(() => read(text), { name: "EvidenceError", code: "pdf" }, text);
  }
});

test("refuses nesting beyond its limit, and names beyond theirs", () => {
  assert.throws(() => read("[".repeat(100_000)), { code: "limit" });
  assert.throws(() => read("<< /A ".repeat(100_000)), { code: "limit" });
  assert.throws(() => read(`/${"A".repeat(5000)}`), { code: "limit" });
});

test("reads an indirect object and where its stream begins", () => {
  const object = readIndirectObject(bytesOf("  7 0 obj << /Length 2 >>\nstream\r\nab\nendstream endobj"), 0);
  assert.deepEqual([object?.number, object?.generation, object?.start, object?.streamStart], [7, 0, 2, 34]);
  assert.equal(readIndirectObject(bytesOf("xref"), 0), undefined);
  assert.equal(readIndirectObject(bytesOf("7 0 object"), 0), undefined);
});

test("finds values equal that have the same meaning, and others different", () => {
  const text = "<< /A [1 (b) /C <44>] /E 1 0 R /F null /G true >>";
  assert.ok(sameValue(read(text), read(text.replaceAll(" ", "  "))));
  for (const [from, to] of [
    ["1 (b)", "2 (b)"],
    ["(b)", "(c)"],
    ["/C", "/D"],
    ["<44>", "<45>"],
    ["1 0 R", "2 0 R"],
    ["null", "0"],
    ["/G true", ""],
  ] as const) {
    assert.ok(!sameValue(read(text), read(text.replace(from, to))), from);
  }
});

test("throws only its own error on arbitrary text", () => {
  const token = fc.constantFrom(
    "<<",
    ">>",
    "[",
    "]",
    "<",
    ">",
    "(",
    ")",
    "/A",
    "1",
    "0",
    "R",
    "obj",
    "null",
    " ",
    "%",
    "\n",
    "\\",
    "#4",
    "-",
    ".",
  );
  fc.assert(
    fc.property(fc.array(token, { maxLength: 60 }), (tokens) => {
      try {
        const bytes = bytesOf(tokens.join(""));
        const value = readValue(cursorAt(bytes, 0));
        assert.ok(value.start >= 0 && value.end <= bytes.length && value.start < value.end);
      } catch (error) {
        assert.ok(error instanceof EvidenceError, String(error));
      }
    }),
    { numRuns: 20_000 },
  );
});
