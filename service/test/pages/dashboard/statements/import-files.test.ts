import assert from "node:assert/strict";
import { test } from "node:test";
import { type StatementWithLines, sumsByPayer } from "../../../../src/orders/billing/billing.ts";
import { importCsv, importName, statementCsv } from "../../../../src/pages/dashboard/statements/files.ts";

type Line = StatementWithLines["lines"][number];

const payer = "Firm, Visa •••• 4242";
const zone = "America/Los_Angeles";

const line = (number: string, more: Partial<Line> = {}): Line => ({
  number,
  kind: "receipt",
  at: new Date("2026-11-02T12:00:00Z"),
  orderCode: "3f9ac1".padEnd(40, "0"),
  reference: "2026-1187",
  services: "Sign, Ship",
  document: "Warranty deed",
  amountCents: 9_900,
  currency: "usd",
  applied: true,
  replacesLoss: false,
  creditedCents: 0,
  discountCents: 1_100,
  payBy: "firm",
  simulated: false,
  paymentReference: "pi_1",
  outside: null,
  received: null,
  method: { kind: "card", brand: "visa", last4: "4242" },
  ...more,
});

const lines: Line[] = [
  // At this time it is December in New York, but still November in Los Angeles.
  line("R-2026-00001", { at: new Date("2026-12-01T06:30:00Z") }),
  line("R-2026-00002", { reference: null, document: "=cmd|' /C calc'!A0", amountCents: 18_240 }),
  line("R-2026-00003", { reference: "@SUM(1+1)*cmd", document: "Escritura, número “7”\nx" }),
  line("CN-2026-00001", { kind: "credit_note", amountCents: 500, creditedCents: 500, discountCents: 0 }),
  line("R-2026-00004", { payBy: "client", method: null }),
  line("R-2026-00005", { method: { kind: "bank", brand: "Test bank", last4: "6789" } }),
];

const found: StatementWithLines = {
  statement: {
    month: "2026-11",
    startsAt: new Date("2026-11-01T07:00:00Z"),
    endsAt: new Date("2026-12-01T08:00:00Z"),
    isClosed: true,
    zone,
    buyer: { name: "Acme Title", address: [] },
    issuer: { name: "Harbor Services LLC", address: [], taxId: "", taxLine: "", zone: "America/New_York" },
    sums: {
      opening: 0,
      charges: 0,
      credits: 0,
      payments: 0,
      refunds: 0,
      losses: 0,
      closing: 0,
      owed: 0,
      corrections: 0,
    },
  },
  lines,
};

/** Splits a CSV file whose cells have no line breaks inside. */
const rowsOf = (file: string) =>
  file
    .trim()
    .split("\r\n")
    .map((row) =>
      [...row.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g)].map(([, quoted, bare]) => quoted ?? bare ?? ""),
    );

test("QuickBooks gets three columns, one payment in each row, and the sum of the payer on the page", () => {
  const file = importCsv(found, { program: "quickbooks", payer });
  const [head, ...rows] = rowsOf(file);
  assert.deepEqual(head, ["Date", "Description", "Amount"]);
  assert.deepEqual(rows[0], ["11/30/2026", "R-2026-00001 - 2026-1187 - Warranty deed - Sign, Ship", "-99.00"]);
  assert.equal(rows.length, 4);
  assert.ok(rows.every((row) => row.length === 3 && /^-?\d+\.\d\d$/.test(row[2] ?? "")));
  const cents = rows.reduce((sum, [, , amount]) => sum + Math.round(Number(amount) * 100), 0);
  assert.equal(cents, -(new Map(sumsByPayer(lines)).get(payer) ?? 0));
  assert.match(rows.at(-1)?.[1] ?? "", /^CN-2026-00001 .* - Refund$/);
});

test("names the files of two methods apart", () => {
  const nameOf = (of: string) =>
    importName({ program: "quickbooks", payer: of, environment: "live", month: "2026-12" });
  assert.equal(nameOf(payer), "quickbooks-visa-4242-live-2026-12.csv");
  assert.equal(nameOf("Firm, Test bank •••• 6789"), "quickbooks-test-bank-6789-live-2026-12.csv");
  assert.equal(nameOf('../"\r\nx'), "quickbooks-x-live-2026-12.csv");
  assert.equal(nameOf(""), "quickbooks-live-2026-12.csv");
});

test("Xero gets its five columns in their order", () => {
  const [head, ...rows] = rowsOf(importCsv(found, { program: "xero", payer }));
  assert.deepEqual(head, ["Date", "Amount", "Payee", "Description", "Reference"]);
  assert.deepEqual(rows[0], [
    "2026-11-30",
    "-99.00",
    "Harbor Services LLC",
    "R-2026-00001 - 2026-1187 - Warranty deed - Sign, Ship",
    "2026-1187",
  ]);
  assert.equal(rows[1]?.[4], "R-2026-00002", "the number stands in for a missing file number");
  assert.ok(rows.every((row) => row.length === 5));
});

test("no cell of a file is a formula, and texts are ASCII", () => {
  for (const program of ["quickbooks", "xero"] as const) {
    const file = importCsv(found, { program, payer });
    assert.match(file, /^[\x20-\x7e\r\n]*$/);
    for (const cell of rowsOf(file).flat()) assert.doesNotMatch(cell, /^[=+@]|^-(?!\d+\.\d\d$)/);
  }
  for (const cell of rowsOf(statementCsv(found)).flat()) assert.doesNotMatch(cell, /^[=+@]|^-(?!\d+\.\d\d$)/);
});

test("an unknown payer, and a client, has no payments in the firm's books", () => {
  for (const other of ["", "Client, payment page", "Firm, Visa •••• 1111"])
    assert.equal(rowsOf(importCsv(found, { program: "quickbooks", payer: other })).length, 1);
});

test("the complete file ends with the document's name, the discount and the payment", () => {
  const [head, , ...rows] = rowsOf(statementCsv(found).replace(/\n(?=x)/g, " "));
  assert.deepEqual(head?.slice(-4), ["Balance", "Document", "Discount", "Payment reference"]);
  const row = rows.find((cells) => cells[4] === "R-2026-00001");
  assert.deepEqual([row?.[0], ...(row?.slice(-3) ?? [])], ["2026-11-30", "Warranty deed", "11.00", "pi_1"]);
  assert.equal(rows.find((cells) => cells[4] === "CN-2026-00001")?.at(-2), "");
});
