import assert from "node:assert/strict";
import { test } from "node:test";
import { refusedIdentifiers } from "./identifiers.ts";

const found = (text: string, file = "service/src/a.ts") =>
  refusedIdentifiers(file, text).map((finding) => `${finding.line}: ${finding.found}`);

test("refuses a listed word in every kind of declared name, with its line", () => {
  const declarations = [
    ["const known = 1;", "known"],
    ["let isGivenUp = 1;", "isGivenUp"],
    ["const MOST_KEPT = 1;", "MOST_KEPT"],
    ["const [, said] = pair;", "said"],
    ["const { name: told } = row;", "told"],
    ["const { name, ...placed } = row;", "placed"],
    ["export function takeOver() {}", "takeOver"],
    ["const f = function issueAnew() {};", "issueAnew"],
    ["function f(given: string) {}", "given"],
    ["function f({ name: made = 1 }) {}", "made"],
    ["const f = (kept = 1) => kept;", "kept"],
    ["const f = ([taken]: string[]) => 1;", "taken"],
    ["class Twin {}", "Twin"],
    ["class A { constructor(readonly whose: string) {} }", "whose"],
    ["class A { #f(news: string) {} }", "news"],
    ["type PDFPlaced = 1;", "PDFPlaced"],
    ["interface Standing {}", "Standing"],
    ["type A<Begun> = Begun;", "Begun"],
    ["type A = (beside: string) => void;", "beside"],
    ["try { f(); } catch (takesPart) {}", "takesPart"],
    ["type Row = { toldAt: Date };", "toldAt"],
    ["interface Rooms { takeOver(room: string): void }", "takeOver"],
    ["class A { #begun = 1; }", "begun"],
    ["class A { isKnown() {} }", "isKnown"],
  ] as const;
  for (const [text, name] of declarations) assert.deepEqual(found(`\n${text}\n`), [`2: ${name}`], text);
});

test("accepts a name that only resembles a listed word", () => {
  for (const name of ["unknown", "remade", "mistake", "takeaway", "newsletter", "understanding", "keptn"])
    assert.deepEqual(found(`const ${name} = 1;\n`), [], name);
});

test("accepts properties whose name data has fixed, names of properties where they are used, and uses of a name", () => {
  const accepted = [
    "type Row = { takenAt: Date; placed: number };",
    "type Name = Row['toldAt'];",
    "const { takenAt } = row;",
    "const { takenAt = null } = row;",
    "const row = { known: 1, take() {} };",
    "iterator.take(3);",
    'import { made } from "elsewhere";',
    "// const known = 1;",
    'const text = "const known = 1;";',
  ];
  for (const text of accepted) assert.deepEqual(found(`${text}\n`), [], text);
});

test("allows a word where it has its plain meaning, and nowhere else", () => {
  assert.deepEqual(found("const take = 1;\n", "service/src/providers/media/webm/take.ts"), []);
  assert.deepEqual(found("const known = 1;\n", "service/src/providers/media/webm/take.ts"), ["1: known"]);
  assert.deepEqual(found("const take = 1;\n", "service/src/providers/open.ts"), ["1: take"]);
});

test("refuses a file's name that contains a listed word, and allows it where the word has its plain meaning", () => {
  for (const name of ["take.ts", "known-keys.ts", "order-news.ts", "isKept.ts"])
    assert.deepEqual(found("", `service/src/orders/${name}`), [`1: ${name}`], name);
  for (const name of ["orders/unknown-keys.ts", "orders/given/keys.ts", "providers/media/webm/take.ts"])
    assert.deepEqual(found("", `service/src/${name}`), [], name);
});

test("names examples of better words", () => {
  assert.match(refusedIdentifiers("service/src/a.ts", "const known = 1;\n")[0]?.better ?? "", /existing, cached/);
});
