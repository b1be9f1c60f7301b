import assert from "node:assert/strict";
import { test } from "node:test";
import type { StripeEvent } from "@signsealship/testing/doubles/stripe";
import { forTests } from "@signsealship/testing/for-tests";
import { changeOrder } from "@signsealship/testing/row-mac";
import { dayMs } from "../../../src/kernel/platform/clock.ts";
import { sql } from "../../../src/kernel/platform/database/sql.ts";
import {
  closeMonths,
  drawnStatement,
  type StatementWithLines,
  statementOf,
  statementsOf,
  sumsByPayer,
} from "../../../src/orders/billing/billing.ts";
import { chargeGroup, checkoutUrl } from "../../../src/orders/payments/payments.ts";
import { type MonthPage, monthBody } from "../../../src/pages/dashboard/statements/body.ts";
import { importCsv, statementCsv } from "../../../src/pages/dashboard/statements/files.ts";
import { silent } from "../order/orders-database.ts";
import { openMoneyWorld } from "../payments/money-world.ts";

const files = 200;

const world = await forTests(openMoneyWorld());
const { db, deps, stripe, orders, clock } = world;
const firm = await world.newFirm();
const { owner } = firm;

/** Sets the clock to noon of this day of the next month. */
function moveTo(day: number): void {
  const now = clock();
  const target = Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, day, 12);
  world.advance(target - now.getTime());
}

const take = async (...events: StripeEvent[]) => {
  for (const event of events) await world.take(event);
};

async function place(n: number, payBy: "firm" | "client"): Promise<string> {
  const code = await orders.insert("QuoteReady", { partnerId: owner.partnerId, payBy, totalCents: 5_000 + n * 37 });
  await changeOrder(
    db,
    code,
    sql`external_reference = ${`2026-${1000 + n}`}, discount_cents = ${n % 7},
    subtotal_cents = total_cents + ${n % 7}`,
  );
  return code;
}

async function chargeTogether(codes: readonly string[]): Promise<string> {
  const members = async () => Promise.all(codes.map(async (code) => ({ id: await world.orderIdOf(code), code })));
  await chargeGroup(deps, firm.principal, members, { record: async () => {}, resultOf: (charged) => charged });
  for (const job of await world.waitingJobs()) if (job.queue === "firm-charge") await world.run(job);
  const intent = String([...stripe.firm.intents.keys()].at(-1));
  await take(stripe.chargeEvent(intent));
  return intent;
}

async function payAsClient(code: string): Promise<string> {
  const url = await checkoutUrl(deps, code, null);
  const event = stripe.pay(stripe.sessionOf(url));
  await take(event);
  return String(event.data.object["payment_intent"]);
}

/** The sum of all movements of money in the processor's own books, in cents. */
const atProcessor = () => stripe.balance.transactions.reduce((sum, { amount }) => sum + Number(amount), 0);

/** The cells of a CSV file, without those of its first row. No cell has a line break. */
const rowsOf = (file: string): string[][] =>
  file
    .trim()
    .split("\r\n")
    .slice(1)
    .map((row) =>
      [...row.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g)].map(([, quoted, bare]) => quoted ?? bare ?? ""),
    );
const centsOf = (text: string) => Math.round(Number(text.replace("\u2212", "-").replaceAll(/[$,]/g, "")) * 100);
const sum = (cents: readonly number[]) => cents.reduce((all, each) => all + each, 0);

/**
 * A month's paid cents minus its refunded and lost cents, as four sources state them: the statement's sums, CSV file,
 * PDF and page.
 */
async function papersOf(month: string) {
  const found = await statementOf({ db, clock }, owner, month);
  const { sums } = found.statement;
  const rows = rowsOf(statementCsv(found));
  const printed = drawnStatement(found, { environment: "live", now: clock() }).tables[0]?.rows ?? [];
  const page = monthBody(found, "live").toString();
  const [table = ""] = /Receipts and credit notes, by file number[\s\S]*/.exec(page) ?? [];
  const shown = [...table.matchAll(/<tr role="row">[\s\S]*?<\/tr>/g)].flatMap(([row]) =>
    [...row.matchAll(/>(\u2212?\$[\d,]+\.\d\d)</g)].slice(0, 1).map(([, amount = ""]) => centsOf(amount)),
  );
  const payers = sumsByPayer(found.lines);
  const imported = payers.map(([payer]) =>
    sum(rowsOf(importCsv(found, { program: "quickbooks", payer })).map((row) => centsOf(row[2] ?? ""))),
  );
  return {
    found,
    rows,
    nets: {
      sums: sums.payments - sums.refunds - sums.losses,
      csv: sum(rows.slice(1, -1).map((row) => centsOf(row[13] ?? ""))),
      pdf: sum(printed.map((row) => centsOf(row.at(-1) ?? ""))),
      page: sum(shown),
      payers: sum(payers.map(([, cents]) => cents)),
    },
    firms: { shown: payers.filter(([payer]) => payer.startsWith("Firm")), imported: -sum(imported) },
  };
}

/**
 * Asserts that the pages of a month have each line once and in its place. A search for a file number must find the
 * file's lines.
 */
function requirePages(found: StatementWithLines): void {
  const shown = (more: Partial<MonthPage>) => monthBody(found, "live", { page: 1, file: "", ...more }).toString();
  const linesIn = (page: string) => [...page.matchAll(/receipts\/([A-Z]+-[\d-]+)"/g)].map(([, number]) => number);
  const whole = linesIn(shown({ page: null }));
  assert.equal(whole.length, found.lines.length);
  const pages = Array.from({ length: 9 }, (_, index) => shown({ page: index + 1 }));
  assert.deepEqual(pages.flatMap(linesIn), whole);
  assert.match(pages[1] ?? "", /Lines 26 to 50 of 204\./);
  assert.match(pages[1] ?? "", /rel="prev" href="[^"]*page=1#lines"[\s\S]*rel="next" href="[^"]*page=3#lines"/);
  assert.deepEqual(linesIn(shown({ page: 99 })), linesIn(pages[8] ?? ""), "past the end is the last page");
  assert.deepEqual(linesIn(shown({ page: -1 })), linesIn(pages[0] ?? ""));
  assert.match(shown({ file: "2026-1199" }), /Lines 1 to 1 of 1 with “2026-1199” in their file number\./);
  assert.equal(linesIn(shown({ file: "2026-11" })).length, 25, "found lines have pages, too");
  assert.match(shown({ file: "2026-11" }), /href="[^"]*file=2026-11&amp;page=2#lines"/);
  const none = shown({ file: "<b>" });
  assert.match(none, /No line has “&lt;b&gt;” in its file number\./);
  assert.doesNotMatch(none, /<table|rel="next"/);
}

test("a month of 200 files agrees on the page, PDF, CSV and imports, and with the processor, over the month's end", async () => {
  moveTo(10);
  const byFirm: string[] = [];
  const intents: string[] = [];
  for (let n = 0; n < files; n += 4) {
    const [first, second, third, clients] = [
      await place(n, "firm"),
      await place(n + 1, "firm"),
      await place(n + 2, "firm"),
      await place(n + 3, "client"),
    ];
    byFirm.push(first, second, third);
    // The firm pays once for a single file, and once for two files together. The fourth file is paid by its client.
    intents.push(await chargeTogether([first]), await chargeTogether([second, third]), await payAsClient(clients));
    world.advance(dayMs / 10);
  }
  const single = (index: number) => intents[index * 3] ?? "";
  for (const index of [0, 7, 21]) await take(...stripe.refundByHand(single(index), 1_234));
  const dispute = stripe.dispute(single(30));
  await take(dispute, stripe.endDispute(String(dispute.data.object["id"]), "lost"));
  const before = atProcessor();
  const month = (await statementsOf({ db, clock }, owner)).at(-1)?.month ?? "";

  moveTo(5);
  await closeMonths({ db, clock, log: silent }, new AbortController().signal);
  for (const index of [40, 41]) await take(...stripe.refundByHand(single(index), 777));

  const { found, rows, nets, firms } = await papersOf(month);
  assert.ok(found.statement.isClosed);
  requirePages(found);
  assert.equal(found.lines.length, files + 3 + 1);
  assert.deepEqual(new Set(Object.values(nets)), new Set([before]), JSON.stringify(nets));
  assert.equal(firms.imported, sum(firms.shown.map(([, cents]) => cents)));
  const receipts = rows.filter((row) => row[5] === "Payment");
  assert.equal(new Set(receipts.map((row) => row[1])).size, files, "each file is found by its number");
  assert.ok(receipts.every((row) => centsOf(row[16] || "0") === (Number(row[1]?.slice(5)) - 1000) % 7));
  const byPayment = Map.groupBy(receipts, (row) => row[17]);
  assert.deepEqual(new Set(byPayment.keys()), new Set(intents), "each payment of the card's statement is found");
  for (const [intent, parts] of byPayment) {
    const ofIntent = ({ source }: Record<string, unknown>) =>
      (source as { payment_intent?: string }).payment_intent === intent;
    const charged = stripe.balance.transactions.find(ofIntent);
    assert.equal(sum(parts.map((row) => centsOf(row[13] ?? ""))), charged?.["amount"]);
  }
  assert.equal(
    rows.at(-1)?.[14],
    (found.statement.sums.closing / 100).toFixed(2),
    "the balance ends as the month does",
  );

  const next = await papersOf((await statementsOf({ db, clock }, owner)).at(-1)?.month ?? "");
  assert.equal(next.found.statement.sums.opening, found.statement.sums.closing);
  assert.deepEqual(new Set(Object.values(next.nets)), new Set([-2 * 777]));
  assert.equal(nets.sums + next.nets.sums, atProcessor());
});
