import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";
import { forTests } from "@signsealship/testing/for-tests";
import { asService, testRowMac } from "@signsealship/testing/row-mac";
import { isSealed, sql } from "../../../src/kernel/platform/database/sql.ts";
import type { Handler, Jobs } from "../../../src/kernel/platform/jobs/jobs.ts";
import type { Mail } from "../../../src/kernel/platform/mail/mail.ts";
import type { MailDeps } from "../../../src/kernel/platform/mail/mail-jobs.ts";
import { readIssuer, registerIssuer } from "../../../src/orders/billing/billing.ts";
import { lockOrder, transition } from "../../../src/orders/order/order.ts";
import { moneyMail } from "../../../src/orders/payments/payments.ts";
import { takeEvent } from "../../../src/orders/payments/processor/events.ts";
import { recordPayment } from "../../../src/orders/payments/store.ts";
import { openOrdersDatabase, silent } from "../order/orders-database.ts";

const orders = await forTests(openOrdersDatabase());
const { db } = orders;
const at = new Date("2026-03-04T05:06:07.089Z");
const total = 9_900;
await registerIssuer(db, readIssuer(new URL("../../../data/billing.yaml", import.meta.url).pathname), at);
const owner = randomUUID();
await asService(
  { db, rowMac: testRowMac },
  sql`INSERT INTO users (id, email, created_at) VALUES (${owner}, 'owner@acme.example', ${at})`,
  sql`INSERT INTO members (user_id, partner_id, role, live_access, linked_at)
    SELECT ${owner}, id, 'owner', true, ${at} FROM partners`,
);

let sent: Mail[] = [];
let handler: Handler<object> | undefined;
const jobs: Jobs = {
  work: (_, work) => {
    handler = work as Handler<object>;
  },
  start: async () => {},
  stop: async () => {},
};
const mailer = {
  send: async (mail: Mail) => void sent.push(mail),
  keep: async () => assert.fail("no test orders here"),
};
moneyMail.work(jobs, {
  ...{ db, clock: () => at, rowMac: testRowMac, mailer, baseUrl: "https://sss.example" },
} as unknown as MailDeps);

/** Sends the waiting mails. @returns their subjects and texts */
async function mails(): Promise<string[]> {
  sent = [];
  const waiting = await db.query<{ payload: object }>(sql`
    DELETE FROM jobs WHERE queue = 'firm-money-mail' RETURNING payload`);
  for (const { payload } of waiting) await handler?.(payload, { attempt: 1, signal: new AbortController().signal });
  return sent.map(({ subject, text }) => `${subject}\n${text}`);
}

let count = 0;
const take = (type: string, object: object) =>
  db.transaction((tx) =>
    takeEvent(
      tx,
      { id: `evt_${++count}`, type, created: 1_772_600_000 + count, data: { object } },
      { at: new Date(at.getTime() + count), log: silent, actor: "processor", simulated: false, livemode: null },
    ),
  );
const paid = (code: string, intent: string) =>
  take("checkout.session.completed", {
    ...{ id: `cs_${intent}`, metadata: { order_code: code }, payment_status: "paid", payment_intent: intent },
    ...{ amount_total: total, currency: "usd" },
  });
const disputed = (intent: string, status: string, amount = total) =>
  take(`charge.dispute.${status === "needs_response" ? "created" : "closed"}`, {
    ...{ id: `dp_${intent}`, payment_intent: intent, amount, currency: "usd", status },
  });
const refunded = (intent: string, amount: number) =>
  take("refund.updated", {
    ...{ id: `re_${++count}`, payment_intent: intent, amount, currency: "usd", status: "succeeded", metadata: {} },
  });
const whole = (intent: string, metadata = {}) =>
  take("charge.refunded", { payment_intent: intent, refunded: true, amount: total, currency: "usd", metadata });

/** Orders in a status that one payment paid. */
async function paidTogether(size: number, status = "EsignPending") {
  const intent = `pi_${++count}`;
  const codes: string[] = [];
  for (let n = 0; n < size; n++) codes.push(await orders.insert(status, { payBy: "firm" }));
  for (const code of codes) {
    const [row] = await db.query<{ id: number }>(
      sql`SELECT id FROM orders WHERE ${isSealed(sql`code`, "order", code)}`,
    );
    const payment = { paymentIntent: intent, sessionId: `cs_${intent}`, amount: total, currency: "usd" };
    await db.transaction((tx) => recordPayment(tx, { ...payment, orderId: row?.id ?? 0, simulated: false, at }));
  }
  return { intent, codes };
}

test("a refund of all that a firm paid is told as such before the order has moved, and once", async () => {
  const { intent } = await paidTogether(1);
  await refunded(intent, total);
  const [mail = "", ...more] = await mails();
  assert.deepEqual(more, []);
  assert.match(mail, /^An order of your firm was refunded/);
  assert.match(mail, /\$99\.00 of what your firm paid/);
  assert.match(mail, /The order is being closed/);
  await whole(intent);
  assert.deepEqual(await mails(), []);
});

test("a refund in part says that work continues, where it does", async () => {
  for (const [status, words] of [
    ["EsignPending", /The order continues/],
    ["RefundPending", /The order is being closed/],
    ["Cancelled", /The order is closed/],
    ["Completed", null],
    ["OnHold", null],
  ] as const) {
    const { intent } = await paidTogether(1, status);
    await refunded(intent, 500);
    const [mail = ""] = await mails();
    assert.match(mail, /^A payment of your firm was refunded in part/, status);
    if (words) assert.match(mail, words, status);
    else assert.doesNotMatch(mail, /continues|closed/, status);
  }
});

test("of a shared payment that a bank takes back, each order’s mail names its own part, and an order that lost nothing has none", async () => {
  for (const [amount, asked, lost] of [
    [2 * total, ["$99.00", "$99.00"], ["$99.00", "$99.00"]],
    [total + 5_000, ["$99.00", "$50.00"], ["$99.00", "$50.00"]],
    [5_000, ["$50.00", "money"], ["$50.00"]],
  ] as const) {
    const { intent } = await paidTogether(2);
    const sums = async () => (await mails()).map((mail) => /(\S+) (?:that was|back for good)/.exec(mail)?.[1]);
    await disputed(intent, "needs_response", amount);
    assert.deepEqual(await sums(), asked);
    await disputed(intent, "lost", amount);
    assert.deepEqual(await sums(), lost);
  }
});

test("a payment that a bank leaves is to be paid back only if the service owes it", async () => {
  const kept = await paidTogether(1);
  await disputed(kept.intent, "needs_response");
  await whole(kept.intent);
  await mails();
  assert.equal((await orders.look(kept.codes[0] ?? "")).status, "Refunded");
  await disputed(kept.intent, "won");
  const [mail = ""] = await mails();
  assert.match(mail, /Your firm owes nothing more for it/);
  assert.doesNotMatch(mail, /in another way/);

  const owed = await paidTogether(1);
  const [code = ""] = owed.codes;
  await disputed(owed.intent, "needs_response");
  await db.transaction(async (tx) => {
    const order = await lockOrder(tx, code);
    const by = { actor: "system", at, log: silent, reason: "asked" } as const;
    if (order) await transition(tx, order, "refund_requested", by);
  });
  await disputed(owed.intent, "lost");
  await mails();
  await disputed(owed.intent, "won");
  assert.match((await mails())[0] ?? "", /An operator pays the money back in another way/);
});

test("a dispute is told once, whether it or its payment comes first, and if a refund of the payment came before both", async () => {
  for (const isRefunded of [true, false]) {
    const [code, intent] = [await orders.insert("QuoteReady", { payBy: "firm" }), `pi_${++count}`];
    if (isRefunded) await whole(intent, { order_code: code });
    await disputed(intent, "needs_response");
    const early = await mails();
    await paid(code, intent);
    const all = [...early, ...(await mails())].filter((mail) => mail.startsWith("A bank asks"));
    assert.equal(all.length, 1, String(isRefunded));
  }
});
