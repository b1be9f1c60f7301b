import assert from "node:assert/strict";
import { test } from "node:test";
import { ServiceError } from "../../../src/kernel/platform/errors.ts";
import { parseOrderForm, readWhole } from "../../../src/orders/order/form/form.ts";

const rules = { catalogRow: () => null, notarizationBlocked: (state: string) => state === "GA" };
const read = (fields: Record<string, string>, hasDocument = true) =>
  readWhole(new Map(Object.entries(fields)), hasDocument, rules);
const good = { email: "signer@example.com", byod_confirmed: "true" };

test("a correct form is read without a refusal", () => {
  const { refusals, form } = read({ ...good, svc_sign: "true" });
  assert.deepEqual([refusals, form?.services.sign], [[], true]);
});

test("all faults of a form are reported at once, each once", () => {
  const { refusals, form } = read(
    {
      email: "x",
      svc_ship: "true",
      ship_name: "Jane",
      ship_postal: "1",
      ship_state: "ZZ",
      fax_to: "12",
      name: "x".repeat(201),
    },
    false,
  );
  const fields = refusals.map((each) => each.split(" ")[0]);
  for (const field of [
    "email",
    "byod_confirmed",
    "document",
    "fax_to",
    "name",
    "ship_line1",
    "ship_city",
    "ship_state",
    "ship_postal",
  ])
    assert.equal(fields.filter((each) => each === field).length, 1, `${field}: ${fields}`);
  assert.equal(form?.services.ship, true, "what stands in for them makes a form that can be priced");
});

test("unreadable signers leave the rest of the form readable", () => {
  const { refusals, form } = read({ ...good, svc_sign: "true", signers: "[", external_reference: "x".repeat(121) });
  assert.deepEqual(refusals.map((each) => each.split(/[ .[]/)[0]).sort(), ["external_reference", "signers"]);
  assert.notEqual(form, null);
});

test("a refusal carries the part of the form that its message begins with", () => {
  const signed = { ...good, svc_sign: "true" };
  const person = { name: "Jane", email: "x" };
  for (const [at, fields] of [
    ["email", { ...good, email: "x" }],
    ["document", { ...good, fill_token: "x" }],
    ["signers", { ...signed, signers: "[" }],
    ["signers[0].email", { ...signed, signers: JSON.stringify([person]) }],
    ["fields[0].kind", { ...signed, fields: "[{}]" }],
  ] as const)
    assert.throws(
      () => parseOrderForm(new Map(Object.entries(fields)), true, rules),
      (error) => error instanceof ServiceError && error.at === at && error.message.startsWith(`${at} `),
    );
});

test("reading ends for any input", () => {
  for (const fields of [
    {},
    { email: "\0" },
    { svc_sign: "maybe", svc_ship: "maybe", svc_notary: "?" },
    { fill_token: "x", email: "a@b.example" },
  ]) {
    const { refusals } = read(fields as Record<string, string>);
    assert.ok(refusals.length > 0 && refusals.length < 30);
  }
});
