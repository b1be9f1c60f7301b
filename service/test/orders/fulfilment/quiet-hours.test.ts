import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";
import { forTests } from "@signsealship/testing/for-tests";
import { asService, testRowMac } from "@signsealship/testing/row-mac";
import { sql } from "../../../src/kernel/platform/database/sql.ts";
import { enqueue, type Handler, type Jobs } from "../../../src/kernel/platform/jobs/jobs.ts";
import type { Mail } from "../../../src/kernel/platform/mail/mail.ts";
import { secretBytes } from "../../../src/kernel/platform/secrets.ts";
import { type OrderMailDeps, orderMail, untilMorning } from "../../../src/orders/fulfilment/fulfilment.ts";
import type { MailMoment } from "../../../src/orders/order/order.ts";
import { chooseZone } from "../billing/choose-zone.ts";
import { openOrdersDatabase } from "../order/orders-database.ts";

const orders = await forTests(openOrdersDatabase());
const { db } = orders;
const [evening, midnight, morning] = ["00:00", "05:00", "12:00"].map((time) => new Date(`2026-11-24T${time}:00Z`));
let now = evening ?? new Date();
const clock = () => now;

let sent: string[] = [];
const handlers = new Map<string, Handler<object>>();
const jobs: Jobs = {
  work: (queue, work) => void handlers.set(queue, work as Handler<object>),
  start: async () => {},
  stop: async () => {},
};
const take = async ({ subject }: Mail) => void sent.push(subject);
const port = (quietHours: boolean) => untilMorning({ db, clock, config: { quietHours } });
const deps = {
  db,
  clock,
  rowMac: testRowMac,
  mailer: { send: take, keep: take },
  baseUrl: "https://sss.example",
  secrets: secretBytes(Buffer.alloc(32)),
  titleOf: () => null,
};
const openWith = (quietHours: boolean) =>
  orderMail.work(jobs, {
    ...deps,
    clients: { acceptsPayment: () => true, closingsOf: async () => [], untilMorning: port(quietHours) },
  } as unknown as OrderMailDeps);
openWith(true);

type Facts = Parameters<typeof orders.insert>[1] & { status?: string; isAlone?: true };

/** Runs the job of a mail about a new order. @returns the sent subjects, and the hours until the job runs again */
async function mail(moment: MailMoment, { status = "Shipped", isAlone, ...facts }: Facts = {}) {
  await orders.insert(status, facts);
  const [order] = await db.query<{ id: number }>(sql`SELECT id FROM orders ORDER BY id DESC LIMIT 1`);
  sent = [];
  await db.query(sql`DELETE FROM jobs`);
  const payload = { orderId: order?.id, moment, at: now.toISOString(), ...(isAlone && { isAlone }) };
  await enqueue(db, "order-mail", payload);
  const run = async () => {
    const queued = await db.query<{ payload: object }>(sql`DELETE FROM jobs RETURNING payload`);
    for (const each of queued)
      await handlers.get("order-mail")?.(each.payload, { attempt: 1, signal: new AbortController().signal });
    const [again] = await db.query<{ hours: number }>(
      sql`SELECT round(extract(epoch FROM due_at - now()) / 3600)::int AS hours FROM jobs`,
    );
    return { sent, again: again?.hours ?? null };
  };
  return { run, ...(await run()) };
}

test("at night a client’s mail about a carrier, a fax or a refund waits until 7 AM, and is then sent once", async () => {
  for (const [moment, status] of [
    ["shipped", "Shipped"],
    ["ready_for_pickup", "Shipped"],
    ["delivered", "Delivered"],
    ["fax_delivered", "FaxDelivered"],
    ["fax_failed", "FaxFailed"],
    ["on_hold", "OnHold"],
    ["refunded", "Refunded"],
    ["completed", "Completed"],
  ] as const) {
    now = midnight ?? now;
    const { run, ...first } = await mail(moment, { status });
    assert.deepEqual(first, { sent: [], again: 7 }, moment);
    now = morning ?? now;
    const { sent: subjects, again } = await run();
    assert.deepEqual([subjects.length, again], [1, null], moment);
  }
});

test("an answer to what the client just did, and a request, are sent at any hour", async () => {
  now = midnight ?? now;
  for (const [moment, facts] of [
    ["quote_ready", { status: "QuoteReady" }],
    ["payment_received", { status: "EsignPending" }],
    ["payment_failed", { status: "PaymentFailed" }],
    ["cancelled", { status: "Cancelled" }],
    ["completed", { status: "Completed", ship: false, fax: false }],
    ["completed", { status: "Completed", isAlone: true }],
  ] as const) {
    const { sent: subjects, again } = await mail(moment, facts);
    assert.deepEqual([subjects.length, again], [1, null], moment);
  }
});

test("by day, in test, and with QUIET_HOURS=off nothing waits", async () => {
  now = evening ?? now;
  assert.equal((await mail("shipped")).sent.length, 1, "7 PM in New York");
  now = midnight ?? now;
  assert.equal((await mail("shipped", { environment: "test" })).sent.length, 1);
  openWith(false);
  assert.equal((await mail("shipped")).sent.length, 1);
  openWith(true);
});

test("the night is the one of the firm’s time zone", async () => {
  const [firm] = await db.query<{ partnerId: string }>(sql`SELECT id AS "partnerId" FROM partners`);
  const partnerId = firm?.partnerId ?? "";
  const userId = randomUUID();
  await asService(
    { db, rowMac: testRowMac },
    sql`INSERT INTO users (id, email, created_at) VALUES (${userId}, 'owner@acme.example', ${now})`,
  );
  await chooseZone({ db, clock }, partnerId, "Pacific/Honolulu", userId);
  now = midnight ?? now;
  assert.equal((await mail("shipped")).sent.length, 1, "7 PM in Hawaii");
  now = morning ?? now;
  assert.equal((await mail("shipped")).again, 5, "2 AM in Hawaii");
  await db.query(sql`ALTER TABLE billing_parties DISABLE TRIGGER USER`);
  await db.query(sql`UPDATE billing_parties SET content = content || '{"zone": "Asia/Tokyo"}'`);
  assert.equal((await mail("shipped")).sent.length, 1, "7 AM in New York, for a zone that was altered");
});
