import assert from "node:assert/strict";
import { test } from "node:test";
import { makePdf } from "@signsealship/testing/inputs/pdf-maker";
import { parseRequestedFields } from "../../../src/orders/order/order.ts";
import { valuesOf } from "../../../src/signing/envelopes/ceremony/sign-request.ts";
import { ownFields } from "../../../src/signing/envelopes/pdf/fields.ts";
import { plan } from "../../../src/signing/envelopes/pdf/placement/plan.ts";
import { exampleEntries, fieldsReferencedBy } from "../../../src/signing/envelopes/preflight/example-entries.ts";
import { openSigning } from "./pdf/signing.ts";

const signing = await openSigning();
const filling = {
  name: "Jane van Doe",
  language: "es",
  at: new Date("2026-03-05T04:06:07Z"),
  zone: "America/New_York",
} as const;

async function preparedOf(elements: readonly object[], turns: readonly number[] = [1]) {
  const requested = parseRequestedFields(JSON.stringify(elements), turns);
  const original = makePdf({ pages: 4 });
  const planned = await plan(original, { signers: turns.length, fields: requested });
  const names = turns.map((_, index) => `Signer ${index + 1}`);
  return (await signing.prepare(original, planned, names)).fields;
}

const spread = (y: number) =>
  ["One", "Two", "Three"].map((label, n) => ({ label, x: 72 + 30 * n, y, width: 14, height: 14 }));
const line = (y: number, x = 72) => ({ page: 1, x, y, width: 150, height: 18 });

/** Required fields of every kind, with every format of a text. */
const everything = [
  { kind: "signature", signer: 1, ...line(10), height: 30 },
  { kind: "initials", signer: 1, ...line(50), width: 60 },
  { kind: "name", signer: 1, ...line(80) },
  { kind: "date", signer: 1, ...line(110), format: "long" },
  ...["any", "email", "phone_us", "zip_us", "ssn_last4"].map((format, n) => ({
    kind: "text",
    signer: 1,
    ...line(140 + 30 * n),
    label: format,
    format,
  })),
  ...[{}, { min: 5 }, { max: -2.5 }, { min: 1000, currency: "EUR" }, { min: 0.5, max: 0.75, decimals: 2 }].map(
    (format, n) => ({
      kind: "number",
      signer: 1,
      ...line(140 + 30 * n, 300),
      label: `Number ${n}`,
      format,
    }),
  ),
  { kind: "dropdown", signer: 1, ...line(300), label: "List", options: [{ label: "Red" }, { label: "Blue" }] },
  { kind: "checkbox", signer: 1, ...line(330), width: 14, height: 14, label: "Agreed", required: true },
  { kind: "radio", signer: 1, page: 1, label: "One of", id: "one", options: spread(360) },
  { kind: "multiple", signer: 1, page: 1, label: "Two of", least: 2, most: 2, options: spread(390) },
];

test("the examples are what the signing page accepts, for required fields of every kind and format", async () => {
  const own = ownFields(await preparedOf(everything), 1);
  const entries = exampleEntries(own, [], filling);
  const accepted = valuesOf(own, { values: entries }, filling, []);
  assert.deepEqual([...accepted.values], [...entries]);
  assert.equal(own.filter(({ name }) => entries.get(name) === "").length, 0, "no required field is left empty");
  assert.equal([...entries.values()].includes("4 de marzo de 2026"), true);
});

test("optional fields stay empty, prefilled ones keep the sender's value, and fields of a false condition are empty", async () => {
  const fields = await preparedOf([
    { kind: "signature", signer: 1, ...line(10), height: 30 },
    { kind: "text", signer: 1, ...line(50), label: "Optional", required: false },
    { kind: "text", signer: 1, ...line(80), label: "Prefilled", value: "From you" },
    { kind: "checkbox", signer: 1, ...line(110), width: 14, height: 14, label: "Pets", id: "pets" },
    { kind: "text", signer: 1, ...line(140), label: "Breed", show_when: { field: "pets", operator: "checked" } },
    { kind: "number", signer: 1, ...line(170), label: "Rent", id: "rent" },
    { kind: "number", signer: 1, ...line(200), label: "Yearly", formula: "rent * 12" },
  ]);
  const own = ownFields(fields, 1);
  const byLabel = (entries: ReadonlyMap<string, string>) =>
    own.flatMap(({ label, name, kind }) => (kind === "signature" ? [] : [[label, entries.get(name)]]));
  assert.deepEqual(byLabel(exampleEntries(own, [], filling)), [
    ["Optional", ""],
    ["Prefilled", "From you"],
    ["Pets", "Off"],
    ["Breed", ""],
    ["Rent", "1"],
    ["Yearly", "12"],
  ]);
  const typed = { Pets: "On", Breed: "", Rent: "many", Prefilled: "", Optional: "4B" };
  const tried = new Map(own.map(({ name, label }) => [name, (typed as Record<string, string>)[label ?? ""] ?? ""]));
  assert.deepEqual(byLabel(exampleEntries(own, [], { ...filling, tried })), [
    ["Optional", "4B"],
    ["Prefilled", "Example"],
    ["Pets", "On"],
    ["Breed", "Example"],
    ["Rent", "1"],
    ["Yearly", "12"],
  ]);
});

test("only one option of a radio is chosen, whatever the sender tried", async () => {
  const own = ownFields(await preparedOf(everything), 1);
  const tried = new Map(own.map(({ name }) => [name, "On"]));
  const entries = exampleEntries(own, [], { ...filling, tried });
  const chosen = (kind: string) =>
    own.filter((field) => field.kind === kind && field.group && entries.get(field.name) === "On").length;
  assert.equal(chosen("radio"), 1);
  assert.equal(chosen("checkbox"), 2, "as many as the multiple choice allows");
});

test("a later signer's rules read the entries of earlier signers, and the sender's values of read-only fields", async () => {
  const fields = await preparedOf(
    [
      { kind: "signature", signer: 1, ...line(10), height: 30 },
      { kind: "signature", signer: 2, ...line(10, 300), height: 30 },
      { kind: "number", signer: 1, ...line(50), label: "Rent", id: "rent", value: 5 },
      { kind: "number", signer: 1, ...line(80), label: "Fee", id: "fee", value: 7, read_only: true },
      { kind: "number", signer: 2, ...line(110), label: "Sum", formula: "rent + fee" },
    ],
    [1, 2],
  );
  const [first, second] = [ownFields(fields, 1), ownFields(fields, 2)];
  const before = fieldsReferencedBy(second, fields, new Map());
  assert.deepEqual(
    before.map(({ label, texts }) => [label, ...texts]),
    [["Rent"], ["Fee", "7"]],
    "nobody has signed",
  );
  const known = fieldsReferencedBy(second, fields, exampleEntries(first, [], filling));
  const sum = second.find(({ label }) => label === "Sum")?.name ?? "";
  assert.equal(exampleEntries(second, known, filling).get(sum), "12");
});
