import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { anyCharacter } from "@signsealship/testing/inputs/any-character";
import { python } from "@signsealship/testing/tools/python";
import { needs } from "@signsealship/testing/tools/tools";
import fc from "fast-check";
import { canonicalJson, canonicalJsonBytes, type JsonValue } from "../../src/manifest/canonical-json.ts";

/** Runs jq, which prints one line of canonical JSON for each line of input. */
function jq(input: string): string[] {
  return run("jq", ["-Sca", "."], input);
}

function asPython(input: string): string[] {
  const program = `import json, sys
for line in sys.stdin.buffer:
    print(json.dumps(json.loads(line), sort_keys=True, separators=(",", ":")))`;
  return run(python, ["-c", program], input);
}

function run(command: string, args: readonly string[], input: string): string[] {
  const outcome = spawnSync(command, args, { input, encoding: "utf8", maxBuffer: 2 ** 28 });
  if (outcome.status !== 0) throw new Error(`${command}: ${outcome.error ?? outcome.stderr}`);
  return outcome.stdout.trimEnd().split("\n");
}

function assertSameAsJqAndPython(values: readonly JsonValue[]): void {
  const input = values.map((value) => `${JSON.stringify(value)}\n`).join("");
  const ours = values.map(canonicalJson);
  assert.deepEqual(ours, jq(input));
  assert.deepEqual(ours, asPython(input));
}

test("every code point of Unicode is written as jq and Python write it", needs("jq", "python"), () => {
  const values: JsonValue[] = [];
  for (let first = 0; first < 0x110000; first += 4096) {
    const points = Array.from({ length: 4096 }, (_, i) => first + i).filter(
      (point) => point < 0xd800 || point > 0xdfff,
    );
    values.push(points.map((point) => String.fromCodePoint(point)).join(""));
  }
  assertSameAsJqAndPython(values);
});

test("any value within the rules is written as jq and Python write it", needs("jq", "python"), () => {
  const name = fc.string({ unit: "grapheme-ascii", maxLength: 12 });
  const tree = fc.letrec<{ value: JsonValue }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 5, depthSize: "medium" },
      fc.oneof(fc.string({ unit: anyCharacter }), fc.maxSafeInteger(), fc.integer(), fc.boolean(), fc.constant(null)),
      fc.array(tie("value"), { maxLength: 5 }),
      fc.dictionary(name, tie("value"), { maxKeys: 6 }).map((object): JsonValue => ({ ...object })),
    ),
  })).value;
  assertSameAsJqAndPython(fc.sample(tree, { numRuns: 3000, seed: 1 }));
});

test("numbers at the ends of the safe range are written as jq and Python write them", needs("jq", "python"), () => {
  const numbers = [0, -0, 1, -1, 2 ** 31, 2 ** 32, 10 ** 15, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER];
  assertSameAsJqAndPython(numbers);
});

test("members are sorted by code unit whatever order they were set in", () => {
  const value = { b: 1, a: 2, B: 3, "10": 4, "9": 5, "": 6, "a b": 7, _: 8, __proto__x: 9 };
  assert.equal(canonicalJson(value), '{"":6,"10":4,"9":5,"B":3,"_":8,"__proto__x":9,"a":2,"a b":7,"b":1}');
  const shuffled = Object.fromEntries(Object.entries(value).reverse());
  assert.equal(canonicalJson(shuffled), canonicalJson(value));
});

test("the text reads back to the same value and is its own canonical form", () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: anyCharacter })), (strings) => {
      const text = canonicalJson(strings);
      assert.deepEqual(JSON.parse(text), strings);
      assert.equal(canonicalJson(JSON.parse(text)), text);
      assert.equal(new TextDecoder().decode(canonicalJsonBytes(strings)), text);
    }),
  );
});

test("a member named __proto__ is a member like any other", () => {
  assert.equal(canonicalJson(JSON.parse('{"a":1,"__proto__":{"b":2}}')), '{"__proto__":{"b":2},"a":1}');
});

test("lone surrogates are refused, in values and in names", () => {
  for (const text of ["\ud800", "a\udc00", "\udc00\ud800", "\ud83d\ude00\ud83d"]) {
    assert.throws(() => canonicalJson(text), { name: "EvidenceError", code: "json" });
    assert.throws(() => canonicalJson({ [text]: 1 }), { name: "EvidenceError", code: "json" });
  }
});

test("names outside printable ASCII, which tools sort differently, are refused", () => {
  for (const name of ["é", "\u007f", "\u0000", "a\n", "\u{1f600}", "\ufb33"]) {
    assert.throws(() => canonicalJson({ [name]: 1 }), { name: "EvidenceError", code: "json" });
  }
});

test("numbers that tools print differently are refused", () => {
  for (const number of [0.5, 2 ** 53, -(2 ** 53), 1e21, Number.NaN, Number.POSITIVE_INFINITY]) {
    assert.throws(() => canonicalJson([number]), { name: "EvidenceError", code: "json" });
  }
});

test("nothing is skipped or coerced: undefined, functions, bigints, dates, maps and boxed values are refused", () => {
  const values = [undefined, () => 1, 1n, Symbol("s"), new Date(0), new Map(), new String("s"), new Uint8Array(1)];
  for (const value of values) {
    for (const within of [value, [value], { a: value }]) {
      assert.throws(() => canonicalJson(within as JsonValue), { name: "EvidenceError", code: "json" });
    }
  }
  assert.throws(() => canonicalJson(new Array(1) as JsonValue), { name: "EvidenceError", code: "json" });
});

test("nesting is bounded, so a cycle ends in an error", () => {
  const cycle: { self?: JsonValue } = {};
  cycle.self = cycle as JsonValue;
  assert.throws(() => canonicalJson(cycle as JsonValue), { name: "EvidenceError", code: "limit" });
  assert.equal(canonicalJson(JSON.parse(`${"[".repeat(64)}${"]".repeat(64)}`)).length, 128);
  assert.throws(() => canonicalJson(JSON.parse(`${"[".repeat(65)}${"]".repeat(65)}`)), { code: "limit" });
});
