import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { withEntries } from "../../../src/kernel/pdf/edit.ts";
import { readDigits, skipSpace, skipValue } from "../../../src/kernel/pdf/lexer.ts";
import { PdfRefusal, type PdfRefusalReason } from "../../../src/kernel/pdf/refusal.ts";
import { asInteger, asName, asRef, elements, entry, readDict } from "../../../src/kernel/pdf/values.ts";

const bytes = (text: string) => Buffer.from(text, "latin1");
const refusal = (reason: PdfRefusalReason) => (error: unknown) =>
  error instanceof PdfRefusal && error.reason === reason;

const space = fc.constantFrom(" ", "\n", "\r\n", "\t", "\0", "\f", " %comment ] >> )\n", "%\r");
const atom = fc.oneof(
  fc.integer({ min: -99999, max: 99999 }).map(String),
  fc.constantFrom("true", "false", "null", "1.5", "-.5", "+7", "4.", "--3", "12 0 R", "3 65535 R"),
  fc.constantFrom(
    "(a)",
    "(a(b)c)",
    "(\\))",
    "(\\\\)",
    "(>>)",
    "(%)",
    "<>",
    "<41 4>",
    "<aF\n0>",
    "/N",
    "/",
    "/A#20b",
    "/R",
  ),
);
/** Any object, with unusual white space between its tokens. */
const { value: anyValue } = fc.letrec<{ value: string }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small" },
    atom,
    fc.array(fc.tuple(tie("value"), space), { maxLength: 4 }).map((items) => `[${items.flat().join("")}]`),
    fc
      .array(fc.tuple(space, tie("value")), { maxLength: 4 })
      .map((items) => `<<${items.map(([gap, item], i) => `/K${i}${gap}${item}`).join("\n")}>>`),
  ),
}));

describe("skipValue", () => {
  test("ends exactly at the end of the object, whatever follows", () => {
    fc.assert(
      fc.property(anyValue, fc.constantFrom("", " ", "\n", "]", ">>", "/X", "%c", "(x)"), (value, after) => {
        // Each ending is empty, or begins with white space or a delimiter, which ends the value's last token. No ending
        // contains an integer, because `1` followed by ` 0 R` would be a reference.
        assert.equal(skipValue(bytes(value + after), 0), value.length);
      }),
      { numRuns: 2000 },
    );
  });

  test("reads an integer as a reference only before a generation and R", () => {
    assert.equal(skipValue(bytes("1 0 R"), 0), 5);
    assert.equal(skipValue(bytes("1 0 R/X"), 0), 5);
    assert.equal(skipValue(bytes("1%\n0\r\nR]"), 0), 7);
    assert.equal(skipValue(bytes("1 0 Rx"), 0), 1);
    assert.equal(skipValue(bytes("1 0 2 R"), 0), 1);
    assert.equal(skipValue(bytes("1 0"), 0), 1);
    assert.equal(skipValue(bytes("1.0 0 obj"), 0), 3);
  });

  test("refuses bytes that are not an object", () => {
    for (const text of [
      "",
      ")",
      "]",
      ">",
      ">>",
      "endobj",
      "tru",
      "nulls",
      "{",
      "1x",
      "1..2",
      "<4G>",
      "<41",
      "(a",
      "[1",
      "[endobj]",
    ]) {
      assert.throws(() => skipValue(bytes(text), 0), refusal("needs_repair"), text);
    }
    for (const text of ["<<", "<</A", "<</A>>", "<</A 1", "<</A 1>", "<<1 2>>", "<</A 1/B>>"]) {
      assert.throws(() => skipValue(bytes(text), 0), refusal("needs_repair"), text);
    }
  });

  test("refuses nesting beyond its limit instead of exhausting the stack", () => {
    assert.equal(skipValue(bytes("[".repeat(100) + "]".repeat(100)), 0), 200);
    assert.throws(() => skipValue(bytes("[".repeat(1_000_000)), 0), refusal("too_complex"));
    assert.throws(() => skipValue(bytes("<</A".repeat(1_000_000)), 0), refusal("too_complex"));
    assert.equal(skipValue(bytes("(".repeat(50_000) + ")".repeat(50_000)), 0), 100_000);
  });

  test("ends or refuses for any bytes", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), (noise) => {
        const input = Buffer.from(noise);
        try {
          const end = skipValue(input, 0);
          assert.ok(end > 0 && end <= input.length);
        } catch (error) {
          assert.ok(error instanceof PdfRefusal);
        }
      }),
      { numRuns: 5000 },
    );
  });
});

describe("readDict", () => {
  test("finds each value as written", () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(space, anyValue, space), { maxLength: 6 }), (items) => {
        const text = `<<${items.map(([a, value, b], i) => `/K${i}${a}${value}${b}`).join("")}>>`;
        const dict = readDict(bytes(text), 0);
        assert.equal(dict.end, text.length);
        assert.deepEqual(
          [...dict.entries].map(([key, { start, end }]) => [key, text.slice(start, end)]),
          items.map(([, value], i) => [`K${i}`, value]),
        );
      }),
      { numRuns: 1000 },
    );
  });

  test("decodes names, and treats null as absent", () => {
    const dict = readDict(bytes("<</P#61ges /Cat#61log/X null>>"), 0);
    assert.equal(asName(entry(dict, "Pages")), "Catalog");
    assert.equal(entry(dict, "X"), undefined);
    assert.equal(entry(dict, "Y"), undefined);
  });

  test("refuses a key with two different values when it is requested", () => {
    const dict = readDict(bytes("<</A 1/B 2/A 1/C 3/B 4>>"), 0);
    assert.equal(asInteger(entry(dict, "A")), 1);
    assert.equal(asInteger(entry(dict, "C")), 3);
    assert.throws(() => entry(dict, "B"), refusal("needs_repair"));
  });

  test("reads integers, references and elements, and nothing else", () => {
    const [integer, real, reference, name] = [...elements({ bytes: bytes("[ 12 1.5 3 7 R/R]"), start: 0, end: 17 })];
    assert.equal(asInteger(integer), 12);
    assert.equal(asInteger(real), undefined);
    assert.equal(asInteger(reference), undefined);
    assert.deepEqual(asRef(reference), { num: 3, gen: 7 });
    assert.equal(asRef(name), undefined);
    assert.equal(asRef(integer), undefined);
    assert.equal(asName(name), "R");
    assert.equal(readDigits(bytes("12345678901"), 0).value, -1);
  });
});

describe("withEntries", () => {
  test("sets the keys and leaves every other byte unchanged", () => {
    fc.assert(
      fc.property(fc.array(anyValue, { minLength: 1, maxLength: 5 }), anyValue, fc.nat(6), (values, set, at) => {
        const text = `<<${values.map((value, i) => `/K${i} ${value} `).join("%c\n")}>>`;
        const made = withEntries(readDict(bytes(text), 0), { [`K${at}`]: set });
        const dict = readDict(bytes(made), 0);
        assert.equal(dict.end, made.length);
        const expected = new Map(values.map((value, i) => [`K${i}`, value]));
        expected.set(`K${at}`, set);
        assert.deepEqual(
          new Map([...dict.entries].map(([key, { start, end }]) => [key, made.slice(start, end)])),
          expected,
        );
      }),
      { numRuns: 1000 },
    );
  });

  test("refuses to set a repeated key", () => {
    const dict = readDict(bytes("<</A 1/A 1>>"), 0);
    assert.throws(() => withEntries(dict, { A: "2" }), refusal("needs_repair"));
    assert.equal(withEntries(dict, { B: "2" }), "<</A 1/A 1/B 2>>");
  });
});

test("skipSpace skips white space and comments and stops at the end", () => {
  assert.equal(skipSpace(bytes(" \0\t\f\r\n%x\n%y\r1"), 0), 12);
  assert.equal(skipSpace(bytes("   %never ends"), 0), 14);
  assert.equal(skipSpace(bytes("x"), 5), 5);
});
