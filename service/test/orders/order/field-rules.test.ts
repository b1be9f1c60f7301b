import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { minimal } from "@signsealship/testing/inputs/order-form";
import { ServiceError } from "../../../src/kernel/platform/errors.ts";
import { applyRules, type RuledField, settledFormulas, textsIn } from "../../../src/orders/order/form/field-rules.ts";
import { parseOrderForm } from "../../../src/orders/order/form/form.ts";
import { parseFormula, toDecimal, valueIn } from "../../../src/orders/order/form/formula.ts";
import { signingMembers } from "../../../src/orders/order/signing-row.ts";
import { formFieldOf } from "../../../src/orders/templates/from-order.ts";

const rules = { catalogRow: () => null, notarizationBlocked: () => false };
const place = { page: 1, x: 72, y: 100, width: 120, height: 18 };
const sign = (signer: number) => ({ ...place, kind: "signature", signer, width: 180, height: 40 });
const people = (...turns: number[]) =>
  JSON.stringify(turns.map((routing, n) => ({ name: `Signer ${n}`, email: `signer-${n}@example.com`, routing })));

/**
 * Parses an order with these fields and a signature of each signer. Returns the fields as the order stores them. By
 * default, two signers sign one after the other.
 */
const parse = (fields: readonly object[], turns = [1, 2]) =>
  parseOrderForm(
    new Map(
      Object.entries({
        ...minimal,
        svc_sign: "true",
        signers: people(...turns),
        fields: JSON.stringify([...fields, ...turns.map((_, n) => sign(n + 1))]),
      }),
    ),
    true,
    rules,
  ).signing.signatureFields ?? [];

const number = (more: object) => ({ kind: "number", signer: 1, ...place, ...more });
const text = (more: object) => ({ kind: "text", signer: 1, ...place, ...more });
const box = (more: object) => ({ kind: "checkbox", signer: 1, ...place, width: 14, height: 14, ...more });
const option = (label: string, x: number) => ({ label, x, y: 100, width: 14, height: 14 });
const pets = (more: object = {}) => ({
  kind: "multiple",
  signer: 1,
  page: 1,
  id: "pets",
  options: [option("Dog", 72), option("Cat", 100), option("Bird", 130)],
  ...more,
});
const when = (field: string, operator: string, value?: string | number) => ({
  show_when: { field, operator, ...(value !== undefined && { value }) },
});

test("stores names, conditions and formulas, with a condition's value as its field shows it", () => {
  const price = number({ id: "price", format: { currency: "USD" } });
  const [, large, sum] = parse([
    price,
    text({ ...when("price", "greater_than", 1000) }),
    number({ formula: "round(price * 0.1, 2)" }),
  ]);
  assert.deepEqual(large?.showWhen, { field: "price", operator: "greater_than", value: "$1,000.00" });
  assert.equal(sum?.formula, "round(price * 0.1, 2)");
  const [many] = parse([pets({ least: 1, most: 2 })]);
  assert.deepEqual(many?.choices, { least: 1, most: 2 });
  assert.deepEqual(parse([pets({ required: false })])[0]?.choices, { least: 0, most: 3 });
});

test("a signer's rules may refer to an earlier turn, and to a value that nobody can change", () => {
  const later = text({ signer: 2, ...when("agreed", "checked") });
  assert.ok(parse([box({ id: "agreed" }), later]));
  const sender = number({ id: "rate", value: 5, read_only: true, signer: 2 });
  assert.ok(parse([sender, number({ formula: "rate * 2" })]));
});

test("fields with rules have members for the order's MAC, and are written unchanged into a template", () => {
  const sent = [box({ id: "agreed" }), text({ ...when("agreed", "checked") }), pets({ most: 2 })];
  const fields = parse(sent);
  const order = { orderCode: "1", signers: null, customerName: null, customerEmail: "a@b.co", fields };
  assert.match(String(signingMembers(order)["fields"]), /"showWhen":\{"field":"agreed","operator":"checked"\}/);
  const again = parse(fields.slice(0, 3).map((field) => formFieldOf(field)));
  assert.deepEqual(again.slice(0, 3), fields.slice(0, 3));
});

describe("fields are refused, with the member and the rule named,", () => {
  const named = number({ id: "a" });
  const cases: readonly [string, readonly object[], string, (readonly number[])?][] = [
    ["with an id of capitals", [number({ id: "A" })], "fields[0].id must be a lowercase letter"],
    ["with an id twice", [named, text({ id: "a" })], "fields[1].id must differ from that of fields[0]."],
    [
      "with a condition on nothing",
      [text(when("b", "filled"))],
      "fields[0].show_when.field must name the id of a field",
    ],
    ["with a condition on itself", [text({ id: "b", ...when("b", "filled") })], "b reads b."],
    [
      "with conditions in a circle",
      [text({ id: "a", ...when("b", "filled") }), text({ id: "b", ...when("a", "filled") })],
      "fields[0].show_when.field must not depend on itself: a reads b reads a.",
    ],
    [
      "with formulas in a circle",
      [number({ id: "a", formula: "b+1" }), number({ id: "b", formula: "a" })],
      "fields[0].formula must not depend on itself: a reads b reads a.",
    ],
    [
      "with a condition on a later turn",
      [text({ id: "a", signer: 2 }), text(when("a", "filled"))],
      "fields[1].show_when.field must name a field of the same signer",
    ],
    [
      "with a formula of a parallel turn",
      [number({ id: "a", signer: 1 }), number({ signer: 2, formula: "a" })],
      "fields[1].formula must name a field of the same signer",
      [1, 1],
    ],
    [
      "with a condition on a date",
      [text({ kind: "date", id: "a" }), text(when("a", "filled"))],
      "must not name a date",
    ],
    [
      "with a text that is checked",
      [text({ id: "a" }), text(when("a", "checked"))],
      "fields[1].show_when.operator must be one of filled, empty, equals, not_equals for a text.",
    ],
    ["with no operator", [named, text({ show_when: { field: "a" } })], "fields[1].show_when.operator is required."],
    ["with no value", [named, text(when("a", "equals"))], "fields[1].show_when.value is required."],
    ["with a value too many", [named, text(when("a", "filled", "1"))], "fields[1].show_when.value must be left out"],
    [
      "with words for a number",
      [named, text(when("a", "equals", "x"))],
      "value must be a number as that field takes it.",
    ],
    ["with an option of no name", [pets(), text(when("pets", "equals", "Cow"))], "must be the label of one of that"],
    [
      "with a condition on a signature",
      [named, { ...sign(1), ...when("a", "filled") }],
      "must be left out for a signature.",
    ],
    [
      "with a condition on what nobody changes",
      [named, text({ value: "x", read_only: true, ...when("a", "filled") })],
      "fields[1].show_when must be left out where read_only is true",
    ],
    ["with a formula for a text", [named, text({ formula: "a" })], "fields[1].formula must be left out for a text."],
    [
      "with a value beside its formula",
      [named, number({ formula: "a", value: 1 })],
      "value must be left out with formula",
    ],
    [
      "with a formula of texts",
      [text({ id: "a" }), number({ formula: "a" })],
      "must use only number fields: a is a text.",
    ],
    ["with a script as its formula", [number({ formula: "process.exit()" })], "fields[0].formula can't be read at"],
    ["with a formula cut off", [named, number({ formula: "(a + 1" })], "fields[1].formula ends too early."],
    ["with an unknown function", [named, number({ formula: "eval(a)" })], "has no function eval: use sum, min, max or"],
    ["with more choices than options", [pets({ most: 4 })], "fields[0].most must be a whole number from 1 to 3."],
    ["with choices reversed", [pets({ least: 2, most: 1 })], "fields[0].least must be at most fields[0].most."],
    [
      "with choices of a radio",
      [{ ...pets(), kind: "radio", least: 1 }],
      "fields[0].least must be left out for a radio.",
    ],
    [
      "with a division by a zero that nobody changes",
      [
        number({ id: "none", value: 0, read_only: true }),
        number({ id: "half", formula: "none / 2" }),
        number({ signer: 2, formula: "1 / half" }),
      ],
      "fields[2].formula must not divide by zero: nobody changes the values that it reads.",
    ],
    [
      "with a product past its bounds that nobody changes",
      [number({ id: "rate", value: 30, read_only: true }), number({ formula: "rate * rate", format: { max: 800 } })],
      "fields[1].formula must result in at most 800: nobody changes",
    ],
    [
      "with 101 rules",
      [named, ...Array.from({ length: 101 }, () => text(when("a", "filled")))],
      "fields must have at most 100 with show_when or formula.",
    ],
  ];
  for (const [name, fields, message, turns] of cases)
    test(name, () => {
      assert.throws(
        () => parse(fields, turns ? [...turns] : undefined),
        (error) => {
          assert.ok(error instanceof ServiceError);
          assert.ok(error.message.includes(message), error.message);
          return true;
        },
      );
    });
});

test("a formula is exact, rounds halves away from zero, and has no value when it divides by zero", () => {
  const calculate = (formula: string, values: Record<string, bigint> = {}) => {
    const read = parseFormula(formula);
    if ("fault" in read) return read.fault;
    const value = valueIn(read.expression, (id) => ({ over: values[id] ?? 0n, under: 1n }));
    return value && toDecimal(value, 4);
  };
  for (const [formula, expected] of [
    ["0.1 + 0.2", "0.3000"],
    ["1 - 2 - 3", "-4.0000"],
    ["2 + 3 * 4", "14.0000"],
    ["(2 + 3) * 4", "20.0000"],
    ["12 / 2 / 3", "2.0000"],
    ["-2 * -(1 + 1)", "4.0000"],
    ["1 / 3 * 3", "1.0000"],
    ["2 / 3", "0.6667"],
    ["round(2.5)", "3.0000"],
    ["round(-2.5)", "-3.0000"],
    ["round(1.005, 2)", "1.0100"],
    ["sum(a, b, 1)", "6.0000"],
    ["min(a, b) + max(a, b)", "5.0000"],
    ["1 / (a - 2)", null],
    ["round(1, 5)", "must call round with a value, and with 0 to 4 decimals at most"],
    ["round(1, a)", "must call round with a value, and with 0 to 4 decimals at most"],
    ["1 +", "ends too early"],
    ["1 1", "can't be read at character 2"],
    ["1.2.3", "can't be read at character 1"],
    [`${"(".repeat(21)}1${")".repeat(21)}`, "must have at most 20 parentheses in one another"],
    ["1".repeat(201), "must have at most 200 characters"],
  ] as const)
    assert.equal(calculate(formula, { a: 2n, b: 3n }), expected, formula);
});

test("a hidden field is empty, so fields that depend on it are hidden, too, and it counts as 0", () => {
  type Field = RuledField & { readonly typed: string };
  const fields: readonly Field[] = [
    { kind: "checkbox", id: "pets", typed: "Off" },
    { kind: "number", id: "fee", typed: "25", showWhen: { field: "pets", operator: "checked" } },
    { kind: "text", id: "why", typed: "x", showWhen: { field: "fee", operator: "filled" } },
    { kind: "number", id: "total", typed: "", formula: "100 + fee", format: { currency: "USD" } },
    { kind: "text", typed: "", showWhen: { field: "total", operator: "equals", value: "$100.00" } },
  ];
  const shown = (all: readonly Field[]) => {
    const { isShown, calculate } = applyRules(all, (field) => textsIn(field, field.typed));
    return [all.map(isShown), calculate(all[3] as Field)];
  };
  assert.deepEqual(shown(fields), [[true, false, false, true, true], { value: "$100.00" }]);
  const checked = fields.map((field) => (field.id === "pets" ? { ...field, typed: "On" } : field));
  assert.deepEqual(shown(checked), [[true, true, true, true, false], { value: "$125.00" }]);
});

test("the longest chain of the longest formulas is calculated", () => {
  const ones = "+1".repeat(97);
  const fields: RuledField[] = Array.from({ length: 100 }, (_, n) => ({
    kind: "number",
    id: `f${n}`,
    formula: `${n === 99 ? 0 : `f${n + 1}`}${ones}`,
  }));
  const [first] = fields;
  assert.deepEqual(first && applyRules(fields, () => []).calculate(first), { value: "9,700" });
});

test("a formula is final once nobody can change its inputs, even if it is permanently hidden", () => {
  type Field = RuledField & { readonly by: number };
  const fields: readonly Field[] = [
    { kind: "checkbox", id: "some", by: 1 },
    { kind: "number", id: "total", by: 1 },
    { kind: "number", id: "qty", by: 2, showWhen: { field: "some", operator: "checked" } },
    { kind: "number", id: "each", by: 2, formula: "total / qty" },
    { kind: "number", by: 3, formula: "each + each" },
    { kind: "number", by: 3, formula: "total", showWhen: { field: "some", operator: "checked" } },
  ];
  const settledWith = (isChecked: boolean, last: number) => {
    const rules = applyRules(fields, ({ id }) => (id === "some" && !isChecked ? [] : ["1"]));
    return settledFormulas(fields, rules, ({ by, formula }) => by <= last && formula === undefined).map((field) =>
      fields.indexOf(field),
    );
  };
  assert.deepEqual(settledWith(true, 0), []);
  assert.deepEqual(settledWith(true, 1), [5]);
  assert.deepEqual(settledWith(false, 1), [3, 4]);
  assert.deepEqual(settledWith(true, 2), [3, 4, 5]);
});
