import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { forTests } from "@signsealship/testing/for-tests";
import { asService, testRowMac } from "@signsealship/testing/row-mac";
import type { Principal } from "../../../src/kernel/identity/identity.ts";
import { sql } from "../../../src/kernel/platform/database/sql.ts";
import {
  closeMonths,
  documentsOfOrder,
  drawnStatement,
  readIssuer,
  registerIssuer,
  setBuyer,
  statementOf,
  statementsOf,
} from "../../../src/orders/billing/billing.ts";
import { applyEvent } from "../../../src/orders/payments/events/apply-event.ts";
import { spentThisMonth, zoneOf } from "../../../src/orders/payments/payments.ts";
import { statementCsv } from "../../../src/pages/dashboard/statements/files.ts";
import { openOrdersDatabase, silent } from "../order/orders-database.ts";

const orders = await forTests(openOrdersDatabase());
const { db } = orders;
let now = new Date("2026-01-10T12:00:00Z");
const clock = () => now;
// The service's own billing file has New York as its time zone.
await registerIssuer(db, readIssuer(new URL("../../../data/billing.yaml", import.meta.url).pathname), now);
const [firm] = await db.query<{ partnerId: string }>(sql`SELECT id AS "partnerId" FROM partners`);
const partnerId = firm?.partnerId ?? "";
const owner = { partnerId, environment: "live", firmName: "Acme Title" } as const;
const userId = randomUUID();
await asService(
  { db, rowMac: testRowMac },
  sql`INSERT INTO users (id, email, created_at) VALUES (${userId}, 'owner@acme.example', ${now})`,
);
const principal = {
  ...owner,
  tier: "trial",
  liveEnabled: true,
  key: null,
  member: { userId, role: "owner", liveAccess: true },
} as unknown as Principal;

let count = 0;
/** Sets the clock to `time`, and pays a new order. @returns the order's code */
async function paidAt(time: string): Promise<string> {
  now = new Date(time);
  const code = await orders.insert("QuoteReady");
  const intent = `pi_${++count}`;
  const object = {
    id: `cs_${intent}`,
    metadata: { order_code: code },
    payment_status: "paid",
    payment_intent: intent,
    amount_total: 9_900,
    currency: "usd",
  };
  const event = { id: `evt_${intent}`, type: "checkout.session.completed", data: { object } };
  const options = { at: now, log: silent, actor: "processor" } as const;
  await db.transaction((tx) => applyEvent(tx, event, options));
  return code;
}
const choose = (zone: string) => setBuyer({ db, clock }, principal, { name: "Acme Title", address: "", zone });
const close = () => closeMonths({ db, clock, log: silent }, new AbortController().signal);
const months = () => statementsOf({ db, clock }, owner);
const codesOf = async (month: string) =>
  (await statementOf({ db, clock }, owner, month)).lines.map(({ orderCode }) => orderCode);

test("a firm without a time zone of its own has the service's", async () => {
  assert.equal(await zoneOf(db, partnerId), "America/New_York");
  assert.equal(await zoneOf(db, randomUUID()), "America/New_York");
});

test("a month ends at midnight in the firm's time zone, and its papers name the zone", async () => {
  await choose("America/Los_Angeles");
  // In New York it is already February.
  const last = await paidAt("2026-02-01T06:30:00Z");
  const next = await paidAt("2026-02-01T08:30:00Z");
  await close();
  assert.deepEqual([await codesOf("2026-01"), await codesOf("2026-02")], [[last], [next]]);
  const found = await statementOf({ db, clock }, owner, "2026-01");
  assert.equal(found.statement.endsAt?.toISOString(), "2026-02-01T08:00:00.000Z");
  assert.ok(found.statement.isClosed);
  const facts = new Map(drawnStatement(found, { environment: "live", now }).facts);
  assert.deepEqual(
    [facts.get("From"), facts.get("To"), facts.get("Time zone")],
    ["January 1, 2026", "January 31, 2026", "America/Los_Angeles"],
  );
  assert.match(statementCsv(found), /^\uFEFFDate \(America\/Los_Angeles\),[\s\S]*\r\n2026-01-31,/);
  const [receipt] = await documentsOfOrder(db, last, owner);
  assert.equal(receipt?.buyer.zone, "America/Los_Angeles");
});

test("after a change, the next month begins where the last one ended, and no payment is in two months or in none", async () => {
  await choose("America/New_York");
  now = new Date("2026-03-02T12:00:00Z");
  await close();
  await choose("Pacific/Guam");
  const inGuam = await paidAt("2026-03-31T15:00:00Z");
  await close();
  const all = await months();
  for (const [index, { startsAt }] of all.entries()) if (index > 0) assert.deepEqual(startsAt, all[index - 1]?.endsAt);
  assert.deepEqual(
    all.map(({ month, zone }) => [month, zone]),
    [
      ["2026-01", "America/Los_Angeles"],
      ["2026-02", "America/New_York"],
      ["2026-03", "Pacific/Guam"],
      ["2026-04", "Pacific/Guam"],
    ],
  );
  assert.deepEqual([await codesOf("2026-03"), await codesOf("2026-04")], [[], [inGuam]]);
  const lines = (await Promise.all(all.map(({ month }) => codesOf(month)))).flat();
  assert.equal(new Set(lines).size, lines.length);
  assert.equal(lines.length, count);
});

test("a receipt keeps the time zone with which it was issued", async () => {
  const code = await paidAt("2026-04-10T12:00:00Z");
  await choose("America/Chicago");
  const [receipt] = await documentsOfOrder(db, code, owner);
  assert.equal(receipt?.buyer.zone, "Pacific/Guam");
});

test("the month of spending limits is that of the statements", async () => {
  await choose("Pacific/Honolulu");
  now = new Date("2026-06-01T09:59:00Z");
  const spender = { spender: `key:${randomUUID()}`, name: "", isOwner: false, orderCents: 1, monthCents: 1 };
  const used = await spentThisMonth({ db, clock }, owner, [spender]);
  assert.equal(used.get(spender.spender), 0);
  assert.equal((await months()).at(-1)?.month, "2026-05");
});

test("refuses a time zone that is not listed, and goes back to the service's", async () => {
  for (const zone of ["Mars/Olympus", "america/new_york", "'; DROP TABLE x; --"])
    await assert.rejects(choose(zone), /Time zone must be one of the listed ones\./);
  await choose("");
  assert.equal(await zoneOf(db, partnerId), "America/New_York");
});

const lastNumbers = (max: number) =>
  db.query<{ year: number; number: number }>(sql`
    SELECT year, number FROM billing_documents WHERE kind = 'receipt' ORDER BY id DESC LIMIT ${max}`);

test("numbers of receipts never go back to an earlier year when the time zone changes", async () => {
  await choose("Pacific/Guam");
  // In Guam it is already 2027.
  await paidAt("2026-12-31T16:00:00Z");
  await choose("America/Los_Angeles");
  await paidAt("2026-12-31T17:00:00Z");
  assert.deepEqual(await lastNumbers(2), [
    { year: 2027, number: 2 },
    { year: 2027, number: 1 },
  ]);
});

test("a change of the name or the address without a time zone keeps the present one", async () => {
  await choose("America/Denver");
  await setBuyer({ db, clock }, principal, { name: "Acme Title & Escrow", address: "" });
  assert.equal(await zoneOf(db, partnerId), "America/Denver");
});

test("the operator's time zone is the name of a region, which the database reads like the service", async () => {
  const directory = await mkdtemp(join(tmpdir(), "zones-"));
  const file = join(directory, "billing.yaml");
  const read = async (zone: string) => {
    const issuer = { name: "Acme", address: [], taxId: "" };
    await writeFile(file, JSON.stringify({ issuer, taxLine: "", zone }));
    return readIssuer(file).zone;
  };
  for (const zone of ["+05:00", "-08:00", "CET", "EST", "Mars/Olympus", ""])
    await assert.rejects(read(zone), (error: Error) => {
      assert.match(
        error.message,
        /^BILLING .*billing.yaml: zone must be the name of a time zone, such as America\/New_York/,
      );
      return error.message.includes(`and not ${JSON.stringify(zone)}`);
    });
  for (const zone of ["UTC", "US/Eastern", "Asia/Kolkata", "America/Argentina/Ushuaia"])
    assert.equal(await read(zone), zone);
  await rm(directory, { recursive: true });
});

test("a forged time zone is refused", async () => {
  await choose("America/Denver");
  await db.transaction(async (tx) => {
    await tx.script("ALTER TABLE billing_parties DISABLE TRIGGER billing_parties_append_only");
    await tx.query(sql`
      UPDATE billing_parties SET content = jsonb_set(content, '{zone}', '"UTC"') WHERE id = (SELECT max(id) FROM billing_parties)`);
    await tx.script("ALTER TABLE billing_parties ENABLE TRIGGER billing_parties_append_only");
  });
  await assert.rejects(zoneOf(db, partnerId), { code: "unavailable" });
  // At this time it is 2028 in the forged zone (UTC), but still 2027 in the firm's (Denver). The payment is still
  // booked, and its receipt is not numbered in 2028.
  await paidAt("2028-01-01T02:00:00Z");
  assert.deepEqual((await lastNumbers(1))[0]?.year, 2027);
});
