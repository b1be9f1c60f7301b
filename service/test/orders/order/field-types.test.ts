import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { minimal } from "@signsealship/testing/inputs/order-form";
import { ServiceError } from "../../../src/kernel/platform/errors.ts";
import { dateText, type FieldFormat, readFieldValue } from "../../../src/orders/order/form/field-values.ts";
import { parseOrderForm } from "../../../src/orders/order/form/form.ts";
import { signingMembers } from "../../../src/orders/order/signing-row.ts";

const rules = { catalogRow: () => null, notarizationBlocked: () => false };
const signature = { kind: "signature", signer: 1, page: 1, x: 72, y: 600, width: 180, height: 48 };

/** Parses an order with this field and a signature. @returns the field as the order stores it */
const parse = (field: Record<string, unknown>) =>
  parseOrderForm(
    new Map(
      Object.entries({ ...minimal, svc_sign: "true", fields: JSON.stringify([{ ...common, ...field }, signature]) }),
    ),
    true,
    rules,
  ).signing.signatureFields?.[0];

const common = { signer: 1, page: 1 };
const place = { x: 72, y: 100, width: 120, height: 18 };
const small = { x: 72, y: 100, width: 14, height: 14 };
const checkbox = { kind: "checkbox", ...small };
const number = { kind: "number", ...place };
const text = { kind: "text", ...place };
const labels = (...names: string[]) => names.map((label) => ({ label }));
const dropdown = { kind: "dropdown", ...place, options: labels("Red", "Blue") };
const option = (label: string, x = 72, more: Record<string, unknown> = {}) => ({ label, ...small, x, ...more });
const radio = { kind: "radio", options: [option("Yes"), option("No", 100)] };

test("accepts the smallest and the largest place of each new type", () => {
  for (const [field, min, max] of [
    [checkbox, [6, 6], [36, 36]],
    [number, [24, 10], [576, 200]],
    [dropdown, [24, 10], [576, 200]],
  ] as const)
    for (const [width, height] of [min, max]) {
      const { width: kept } = parse({ ...field, width, height }) ?? {};
      assert.equal(kept, width, field.kind);
    }
  for (const side of [6, 36]) {
    const options = [option("Yes", 72, { width: side, height: side }), option("No", 120)];
    assert.equal(parse({ ...radio, options })?.options?.[0]?.place?.width, side);
  }
});

test("stores requested values, and nothing when the order states none", () => {
  const kept = { signer: 1, page: 1, label: null, required: true };
  assert.deepEqual(parse(text), { ...kept, ...text });
  assert.deepEqual(parse(checkbox), { ...kept, ...checkbox, required: false });
  assert.deepEqual(parse({ ...checkbox, value: false, required: true }), { ...kept, ...checkbox, required: true });
  assert.deepEqual(parse({ ...checkbox, value: true, required: true, read_only: true }), {
    ...kept,
    ...checkbox,
    value: "On",
    readOnly: true,
  });
  assert.deepEqual(parse({ ...dropdown, value: "Blue", help: "Pick one" }), {
    ...kept,
    ...dropdown,
    value: "Blue",
    help: "Pick one",
  });
  const { options, ...around } = parse({ ...radio, label: "Title" }) ?? {};
  assert.deepEqual(around, { ...kept, kind: "radio", label: "Title", x: 72, y: 100, width: 42, height: 14 });
  assert.deepEqual(options?.[1], { label: "No", place: { ...small, x: 100 } });
  const format = { decimals: 2, min: 0.5, max: 1000, currency: "USD" };
  assert.deepEqual(parse({ ...number, format, value: 12.5 }), {
    ...kept,
    ...number,
    value: "$12.50",
    format: { decimals: 2, min: "0.5", max: "1000", currency: "USD" },
  });
});

test("has members for its MAC that contain only whole numbers and texts", () => {
  const field = parse({ ...radio, options: [option("Yes", 72.25), option("No", 100)], value: "Yes" });
  assert.ok(field);
  const order = { orderCode: "1", signers: null, customerName: null, customerEmail: "a@b.co", fields: [field] };
  assert.match(String(signingMembers(order)["fields"]), /"x":"72\.25"/);
});

test("accepts options that people can distinguish", () => {
  const options = labels("Yes", "yes", "Yés", "Yes.", "да");
  assert.deepEqual(parse({ ...dropdown, options })?.options, options);
});

describe("a field is refused, with the element and the rule named,", () => {
  const fifty = labels(...Array.from({ length: 51 }, (_, n) => `${n}`));
  type Case = [name: string, field: Record<string, unknown>, message: string | RegExp];
  const cases: Case[] = [
    ["as a checkbox of 5 points", { ...checkbox, width: 5 }, "width must be a number from 6 to 14400."],
    ["as a checkbox of 37 points", { ...checkbox, height: 37 }, "height must be at most 36 points for a checkbox."],
    ["as a number 23 points wide", { ...number, width: 23 }, "width must be a number from 24 to 14400."],
    ["as a dropdown 9 points high", { ...dropdown, height: 9 }, "height must be a number from 10 to 14400."],
    ["as a number 201 points high", { ...number, height: 201 }, "height must be at most 200 points for a number."],
    [
      "as a radio with a place",
      { ...radio, x: 1 },
      /x must be left out for a radio: each of its options has a place\.$/,
    ],
    ["as a radio without options", { kind: "radio" }, "options is required for a radio."],
    ["as a dropdown without options", { ...dropdown, options: undefined }, "options is required for a dropdown."],
    ["with one option", { ...dropdown, options: labels("Red") }, "options must be an array of 2 to 50 objects."],
    ["with 51 options", { ...dropdown, options: fifty }, "options must be an array of 2 to 50 objects."],
    [
      "with two options alike",
      { ...dropdown, options: labels("A", "A") },
      /options\[1\]\.label must differ from those/,
    ],
    ...["A\u200bB", "\uff21B", "A\u00adB", "A\ufe0fB", "\u2061AB"].map(
      (label): Case => [
        `with an option that looks like another (${JSON.stringify(label)})`,
        { ...dropdown, options: labels("C", "AB", label) },
        "options[2].label looks the same as that of fields[0].options[1]: a signer could not tell them apart.",
      ],
    ),
    [
      "with options that differ in a space",
      { ...radio, options: [option("A B"), option("A\u00a0 B", 100)] },
      /looks the same/,
    ],
    ["with a nameless option", { ...dropdown, options: [{}, {}] }, "options[0].label is required."],
    ["with an option of text", { ...dropdown, options: ["A", "B"] }, "options[0] must be an object."],
    [
      "with an unknown member",
      { ...dropdown, options: [{ name: "A" }, {}] },
      /options\[0\] must have no other members/,
    ],
    [
      "with a long option",
      { ...dropdown, options: labels("x".repeat(201), "B") },
      "options[0].label must be text of at most 200 characters.",
    ],
    [
      "with a dropdown's option placed",
      { ...dropdown, options: radio.options },
      /options\[0\]\.x must be left out for/,
    ],
    ["with a radio's option nowhere", { ...radio, options: labels("A", "B") }, "options[0].x is required."],
    [
      "with an option of 5 points",
      { ...radio, options: [option("A", 1, { width: 5 }), option("B")] },
      "options[0].width must be a number from 6 to 36.",
    ],
    [
      "with an option of 37 points",
      { ...radio, options: [option("A"), option("B", 1, { height: 37 })] },
      "options[1].height must be a number from 6 to 36.",
    ],
    ["with options of a text", { ...text, options: labels("A", "B") }, "options must be left out for a text."],
    ["with a long label", { ...text, label: "x".repeat(201) }, "label must be text of at most 200 characters."],
    ["with a long help", { ...text, help: "x".repeat(401) }, "help must be text of at most 400 characters."],
    [
      "with a label that turns",
      { ...text, label: "a\u202eb" },
      /label must have no characters that change the direction/,
    ],
    ["with a help that turns", { ...text, help: "a\u2067b" }, /help must have no characters that change the direction/],
    [
      "with a value that turns",
      { ...text, value: "a\u202ab" },
      /value must have no characters that change the direction/,
    ],
    [
      "with an option that turns",
      { ...dropdown, options: labels("a\u202db", "c") },
      /options\[0\]\.label must have no characters that change/,
    ],
    ["with a value for a date", { ...text, kind: "date", value: "2026-01-01" }, "value must be left out for a date."],
    ["with a value for a name", { ...text, kind: "name", value: "Jane" }, "value must be left out for a name."],
    ["with a long value", { ...text, value: "x".repeat(201) }, "value must be text of at most 200 characters."],
    ["with a number as text's value", { ...text, value: 7 }, "value must be text for a text."],
    ["with text as a checkbox's value", { ...checkbox, value: "On" }, "value must be true or false for a checkbox."],
    [
      "with a check by the sender where the signer must check",
      { ...checkbox, required: true, value: true },
      "value must be left out or false for a required checkbox: the signer checks it.",
    ],
    ["with an unknown choice", { ...dropdown, value: "Green" }, "value must be the label of one of its options."],
    ["with an unknown option", { ...radio, value: "Maybe" }, "value must be the label of one of its options."],
    ["with words as a number", { ...number, value: "many" }, "value must be a number such as 1234.50."],
    ["with no email address", { ...text, format: "email", value: "jane" }, "value must be an email address."],
    ["read-only without a value", { ...text, read_only: true }, "value is required when read_only is true."],
    ["as a read-only signature", { ...signature, read_only: true }, "read_only must be left out for a signature."],
    ["with a flag as text", { ...text, value: "x", read_only: "yes" }, "read_only must be true or false."],
    [
      "with another's format",
      { ...text, format: "iso" },
      /format must be one of any, email, phone_us, zip_us, ssn_last4/,
    ],
    ["with a format of no name", { ...text, kind: "date", format: "de" }, "format must be one of iso, us, long."],
    ["with a format for a checkbox", { ...checkbox, format: "any" }, "format must be left out for a checkbox."],
    ["with a format of text", { ...number, format: "usd" }, "format must be an object."],
    ["with 5 decimals", { ...number, format: { decimals: 5 } }, "format.decimals must be a whole number from 0 to 4."],
    ["with a fine bound", { ...number, format: { min: 0.00001 } }, "format.min must have at most 4 decimals."],
    ["with bounds reversed", { ...number, format: { min: 2, max: 1 } }, /format\.min must be at most .*format\.max\.$/],
    [
      "in a currency of no name",
      { ...number, format: { currency: "XXX" } },
      /format\.currency must be one of USD, CAD/,
    ],
    ["below its bound", { ...number, format: { min: 2 }, value: 1 }, "value must be at least 2."],
    ["above its bound", { ...number, format: { max: 2 }, value: "2.01" }, "value must be at most 2."],
    [
      "with more decimals than it has",
      { ...number, format: { decimals: 1 }, value: "2.01" },
      "value must be a number with at most 1 decimals.",
    ],
  ];
  for (const [name, field, message] of cases)
    test(name, () => {
      assert.throws(
        () => parse(field),
        (error) => {
          assert.ok(error instanceof ServiceError);
          assert.ok(error.message.startsWith("fields[0]."), error.message);
          if (typeof message === "string") assert.equal(error.message, `fields[0].${message}`);
          else assert.match(error.message, message);
          return true;
        },
      );
    });
});

test("a number is written with grouped digits, and as many decimals as its format has", () => {
  const written = (typed: string, format: FieldFormat = {}) => {
    const read = readFieldValue({ kind: "number", format }, typed);
    return "value" in read ? read.value : read.rule;
  };
  for (const [typed, format, expected] of [
    ["1234567.5", {}, "1,234,567.5"],
    ["1,234", {}, "1,234"],
    ["007", {}, "7"],
    ["-12", {}, "-12"],
    ["-0", {}, "0"],
    ["1250", { currency: "USD" }, "$1,250.00"],
    ["$1,250.00", { currency: "USD" }, "$1,250.00"],
    ["-5", { currency: "USD" }, "-$5.00"],
    ["9.5", { currency: "EUR" }, "9.50 EUR"],
    ["9.50 EUR", { currency: "EUR" }, "9.50 EUR"],
    ["3", { decimals: 4 }, "3.0000"],
    ["99999999999", {}, "99,999,999,999"],
    ["999999999999", {}, "number"],
    ["1,23", {}, "number"],
    ["1.234,50", {}, "number"],
    ["$5", {}, "number"],
    ["5 EUR", { currency: "USD" }, "number"],
    ["1e5", {}, "number"],
    ["5.", {}, "number"],
    ["1.5", { decimals: 0 }, "decimals"],
    ["0.00001", {}, "decimals"],
    ["0.1", { min: "0.1" }, "0.1"],
    ["0.0999", { min: "0.1" }, "min"],
    ["-1", { max: "-1.5" }, "max"],
  ] as const)
    assert.equal(written(typed, format), expected, typed);
});

test("a text has the form that its format names", () => {
  for (const [format, fits, others] of [
    ["any", ["x"], []],
    ["email", ["jane@example.com"], ["jane", "jane@example", "a b@c.de", "a@b@c.de"]],
    ["phone_us", ["(503) 555-0100", "503-555-0100", "5035550100", "+1 503 555 0100"], ["555-0100", "+44 20 7946 0958"]],
    ["zip_us", ["97201", "97201-1234"], ["9720", "97201-12", "97201 1234"]],
    ["ssn_last4", ["6789"], ["123-45-6789", "678", "67890"]],
  ] as const) {
    for (const value of fits) assert.deepEqual(readFieldValue({ kind: "text", format }, value), { value }, value);
    for (const value of others) assert.ok("rule" in readFieldValue({ kind: "text", format }, value), value);
  }
});

test("a date is written in the format of its field and the language of its signer", () => {
  const at = new Date("2026-01-05T23:59:59Z");
  const written = (format: FieldFormat | undefined) => dateText(at, { format, language: "en", zone: "UTC" });
  assert.deepEqual(
    [undefined, "iso", "us", "long"].map((format) => written(format as FieldFormat | undefined)),
    ["2026-01-05", "2026-01-05", "01/05/2026", "January 5, 2026"],
  );
  assert.equal(dateText(at, { format: "long", language: "es", zone: "UTC" }), "5 de enero de 2026");
});

test("a date is the day in its time zone, also when that is another month or year than in UTC", () => {
  const dayIn = (zone: string, at: string) => dateText(new Date(at), { format: "iso", language: "en", zone });
  assert.equal(dayIn("America/New_York", "2026-01-01T04:59:59Z"), "2025-12-31");
  assert.equal(dayIn("America/New_York", "2026-01-01T05:00:00Z"), "2026-01-01");
  assert.equal(dayIn("America/New_York", "2026-07-01T03:59:59Z"), "2026-06-30");
  assert.equal(dayIn("Pacific/Honolulu", "2026-03-01T09:59:59Z"), "2026-02-28");
  assert.equal(dayIn("Pacific/Guam", "2026-02-28T14:00:00Z"), "2026-03-01");
});
