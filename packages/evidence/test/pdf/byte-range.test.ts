import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { readByteRange } from "../../src/pdf/byte-range.ts";
import { cursorAt } from "../../src/pdf/cursor.ts";
import { readValue } from "../../src/pdf/lexer.ts";
import { bytesOf } from "../seal/signed-pdf.ts";

const DER = "300502010112ff".slice(0, 14);

/** Runs `readByteRange` on a file that contains only a signature dictionary. */
function check(contents: string, ranges?: (gapStart: number, gapEnd: number, length: number) => string, more = "") {
  const make = (text: string) => `<< ${more}/Contents ${contents} /ByteRange ${text.padEnd(60)}>>`;
  const gapStart = make("").indexOf(contents);
  const gapEnd = gapStart + contents.length;
  const { length } = make("");
  const bytes = bytesOf(make(ranges?.(gapStart, gapEnd, length) ?? `[0 ${gapStart} ${gapEnd} ${length - gapEnd}]`));
  const dictionary = readValue(cursorAt(bytes, 0));
  assert.equal(dictionary.kind, "dictionary");
  const result = dictionary.kind === "dictionary" ? readByteRange(bytes, dictionary, true) : assert.fail();
  return { result, bytes, problem: result.ok ? null : result.problem };
}

test("gives the signed bytes and the DER without its padding", () => {
  const { result, bytes } = check(`<${DER}0000>`);
  assert.ok(result.ok);
  assert.equal(result.range.end, bytes.length);
  assert.deepEqual(Buffer.from(result.range.contents).toString("hex"), DER);
  const signed = Buffer.concat(result.range.signedBytes);
  assert.equal(signed.length, bytes.length - DER.length - 6);
  assert.ok(!signed.includes("<30"));
});

test("accepts a range that ends before the file does, as that of an earlier revision", () => {
  const { result } = check(`<${DER}>`, (start, end, length) => `[0 ${start} ${end} ${length - end}]`);
  assert.ok(result.ok);
});

test("refuses each malformed /ByteRange by name", () => {
  const problem = (ranges: Parameters<typeof check>[1]) => check(`<${DER}>`, ranges).problem;
  assert.equal(
    problem(() => "null"),
    "byte-range-not-four-integers",
  );
  assert.equal(
    problem(() => "[0 1 2]"),
    "byte-range-not-four-integers",
  );
  assert.equal(
    problem((a, b, c) => `[0 ${a} ${b} -${c - b}]`),
    "byte-range-not-four-integers",
  );
  assert.equal(
    problem((a, b, c) => `[0 ${a}.0 ${b} ${c - b}]`),
    "byte-range-not-four-integers",
  );
  assert.equal(
    problem((a, b, c) => `[0 ${a} ${b} ${c - b} 0 0]`),
    "byte-range-not-four-integers",
  );
  assert.equal(
    problem((a, b, c) => `[1 ${a} ${b} ${c - b}]`),
    "byte-range-not-from-start",
  );
  assert.equal(
    problem((a, b, c) => `[0 ${a} ${b} ${c}]`),
    "byte-range-outside-file",
  );
  assert.equal(
    problem((a, b, c) => `[0 ${b} ${a} ${c - a}]`),
    "byte-range-outside-file",
  );
  assert.equal(
    problem((a, b, c) => `[0 ${a - 1} ${b} ${c - b}]`),
    "gap-is-not-contents",
  );
  assert.equal(
    problem((a, b, c) => `[0 ${a} ${b + 1} ${c - b - 1}]`),
    "gap-is-not-contents",
  );
  assert.equal(
    problem((a, b, c) => `[0 ${a} ${b} ${c - b - 9}]`),
    "gap-is-not-contents",
  );
});

test("refuses each malformed /Contents by name", () => {
  const problem = (contents: string) => check(contents).problem;
  assert.equal(problem("<>"), "contents-not-der");
  assert.equal(problem("<00>"), "contents-not-der");
  assert.equal(problem("<308002010100>"), "contents-not-der");
  assert.equal(problem("<30820003020101>"), "contents-not-der");
  assert.equal(problem("<3003020101000>"), "contents-not-hexadecimal");
  assert.equal(problem("<30030201 01>"), "contents-not-hexadecimal");
  assert.equal(problem("(0003)"), "contents-not-hexadecimal");
  assert.equal(problem("<30030201aA>"), "contents-mixed-case");
  assert.equal(problem("<3003020101aa>"), "padding-not-zero");
  assert.equal(problem("<300302010100000000000000000000000000000000000000000001>"), "padding-not-zero");
  assert.equal(problem("null"), "contents-not-hexadecimal");
});

test("refuses repeated keys, missing keys, and a dictionary that is not in the file", () => {
  assert.equal(check(`<${DER}>`, undefined, "/Contents <00> ").problem, "repeated-key");
  assert.equal(check(`<${DER}>`, undefined, "/ByteRange [0 0 0 0] ").problem, "repeated-key");
  const bytes = bytesOf("<< /ByteRange [0 1 2 3] >>");
  const dictionary = readValue(cursorAt(bytes, 0));
  assert.ok(dictionary.kind === "dictionary");
  assert.deepEqual(readByteRange(bytes, dictionary, true), { ok: false, problem: "contents-missing" });
  const empty = readValue(cursorAt(bytesOf("<< >>"), 0));
  assert.ok(empty.kind === "dictionary");
  assert.deepEqual(readByteRange(bytes, empty, true), { ok: false, problem: "byte-range-missing" });
});

test("accepts only the range around the value, whatever four numbers the file states", () => {
  fc.assert(
    fc.property(fc.tuple(fc.nat(120), fc.nat(120), fc.nat(120), fc.nat(120)), (numbers) => {
      let right = "";
      const { result } = check(`<${DER}>`, (start, end, length) => {
        right = `0 ${start} ${end} ${length - end}`;
        return `[${numbers.join(" ")}]`;
      });
      assert.equal(result.ok, numbers.join(" ") === right);
    }),
    { numRuns: 3000 },
  );
});
