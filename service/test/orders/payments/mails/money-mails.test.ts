import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";
import { forTests } from "@signsealship/testing/for-tests";
import { asService, changeOrder, testRowMac } from "@signsealship/testing/row-mac";
import { isSealed, sql } from "../../../../src/kernel/platform/database/sql.ts";
import type { Handler, Jobs } from "../../../../src/kernel/platform/jobs/jobs.ts";
import type { Mail } from "../../../../src/kernel/platform/mail/mail.ts";
import type { MailDeps } from "../../../../src/kernel/platform/mail/mail-jobs.ts";
import { secretBytes } from "../../../../src/kernel/platform/secrets.ts";
import { readIssuer, registerIssuer } from "../../../../src/orders/billing/billing.ts";
import { type OrderMailDeps, orderMail } from "../../../../src/orders/fulfilment/fulfilment.ts";
import { lockOrder, mailClient, transition } from "../../../../src/orders/order/order.ts";
import { insertPayment } from "../../../../src/orders/payments/charges/charges.ts";
import { applyEvent } from "../../../../src/orders/payments/events/apply-event.ts";
import { moneyMail, waitingMail } from "../../../../src/orders/payments/payments.ts";
import { recordPayment } from "../../../../src/orders/payments/records/payments.ts";
import { openOrdersDatabase, silent } from "../../order/orders-database.ts";

const orders = await forTests(openOrdersDatabase());
const { db } = orders;
const at = new Date("2026-03-04T05:06:07.089Z");
const total = 9_900;
await registerIssuer(db, readIssuer(new URL("../../../../data/billing.yaml", import.meta.url).pathname), at);
const owner = randomUUID();
await asService(
  { db, rowMac: testRowMac },
  sql`INSERT INTO users (id, email, created_at) VALUES (${owner}, 'owner@acme.example', ${at})`,
  sql`INSERT INTO members (user_id, partner_id, role, live_access, linked_at)
    SELECT ${owner}, id, 'owner', true, ${at} FROM partners`,
);

let sent: Mail[] = [];
const handlers = new Map<string, Handler<object>>();
const jobs: Jobs = {
  work: (queue, work) => void handlers.set(queue, work as Handler<object>),
  start: async () => {},
  stop: async () => {},
};
const mailer = {
  send: async (mail: Mail) => void sent.push(mail),
  keep: async () => assert.fail("no test orders here"),
};
const deps = { db, clock: () => at, rowMac: testRowMac, mailer, baseUrl: "https://sss.example" };
for (const mail of [moneyMail, waitingMail]) mail.work(jobs, deps as unknown as MailDeps);
const clients = { acceptsPayment: () => true, closingsOf: async () => [], untilMorning: async () => 0 };
const clientDeps = { ...deps, secrets: secretBytes(Buffer.alloc(32)), titleOf: () => null, clients };
orderMail.work(jobs, clientDeps as unknown as OrderMailDeps);

/** Sends the waiting mails of a queue. @returns their subjects and texts */
async function mails(queue = "firm-money-mail"): Promise<string[]> {
  sent = [];
  const waiting = await db.query<{ payload: object }>(sql`DELETE FROM jobs WHERE queue = ${queue} RETURNING payload`);
  for (const { payload } of waiting)
    await handlers.get(queue)?.(payload, { attempt: 1, signal: new AbortController().signal });
  return sent.map(({ subject, text }) => `${subject}\n${text}`);
}

const clientMails = () => mails("order-mail");

let count = 0;
const take = (type: string, object: object) =>
  db.transaction((tx) =>
    applyEvent(
      tx,
      { id: `evt_${++count}`, type, created: 1_772_600_000 + count, data: { object } },
      { at: new Date(at.getTime() + count), log: silent, actor: "processor" },
    ),
  );
const paid = (code: string, intent: string) =>
  take("checkout.session.completed", {
    id: `cs_${intent}`,
    metadata: { order_code: code },
    payment_status: "paid",
    payment_intent: intent,
    amount_total: total,
    currency: "usd",
  });
const disputed = (intent: string, status: string, amount = total) =>
  take(`charge.dispute.${status === "needs_response" ? "created" : "closed"}`, {
    id: `dp_${intent}`,
    payment_intent: intent,
    amount,
    currency: "usd",
    status,
  });
const refunded = (intent: string, amount: number) =>
  take("refund.updated", {
    id: `re_${++count}`,
    payment_intent: intent,
    amount,
    currency: "usd",
    status: "succeeded",
    metadata: {},
  });
const whole = (intent: string, metadata = {}) =>
  take("charge.refunded", { payment_intent: intent, refunded: true, amount: total, currency: "usd", metadata });

/** Orders in this status, all paid by one payment. */
async function paidTogether(size: number, status = "EsignPending", payBy: "client" | "firm" = "firm") {
  const intent = `pi_${++count}`;
  const codes: string[] = [];
  for (let n = 0; n < size; n++) codes.push(await orders.insert(status, { payBy }));
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
    [total + 5_001, ["$74.50", "$74.51"], ["$74.50", "$74.51"]],
    [5_000, ["$25.00", "$25.00"], ["$25.00", "$25.00"]],
    [1, ["money", "$0.01"], ["$0.01"]],
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

test("a refund in part of a client’s payment is told once to the client, and to the firm, each with its amount", async () => {
  const { intent } = await paidTogether(1, "EsignPending", "client");
  await clientMails();
  await mails();
  await refunded(intent, 2_050);
  const [mail = "", ...more] = await clientMails();
  assert.deepEqual(more, []);
  assert.match(mail, /^\[Acme Title\] Part of your payment was refunded/);
  assert.match(mail, /Nothing else about the order changes[\s\S]*Amount: \$20\.50/);
  const [told = "", ...others] = await mails();
  assert.deepEqual(others, []);
  assert.match(told, /^A payment of the client was refunded in part/);
  assert.match(told, /\$20\.50 of what the client paid[\s\S]*The order continues/);
  assert.deepEqual([await clientMails(), await mails()], [[], []]);
});

test("a client gets no mail about a part of an order that is refunded as a whole, or that the firm pays", async () => {
  for (const [status, payBy] of [
    ["RefundPending", "client"],
    ["EsignPending", "firm"],
  ] as const) {
    const { intent } = await paidTogether(1, status, payBy);
    await clientMails();
    await refunded(intent, 500);
    assert.deepEqual(await clientMails(), [], status);
  }
});

test("a forged job about a refund that is not on record mails nothing", async () => {
  const { codes } = await paidTogether(1, "EsignPending", "client");
  const [row] = await db.query<{ id: number }>(
    sql`SELECT id FROM orders WHERE ${isSealed(sql`code`, "order", codes[0] ?? "")}`,
  );
  await clientMails();
  for (const moment of ["refunded_part", "payment_returned", "refund_failed"] as const)
    for (const refund of ["re_forged", undefined])
      await db.transaction((tx) => mailClient(tx, row?.id ?? 0, moment, at, refund === undefined ? {} : { refund }));
  assert.deepEqual(await clientMails(), []);
});

test("the firm is told how its client’s payment ended: disputed, lost, refunded, or a refund that failed", async () => {
  const subjects = async () => (await mails()).map((mail) => mail.split("\n")[0]);
  const held = await paidTogether(1, "EsignPending", "client");
  await mails();
  await disputed(held.intent, "needs_response");
  assert.deepEqual(await subjects(), ["A bank asks for a payment back"]);
  await disputed(held.intent, "lost");
  assert.deepEqual(await subjects(), ["A bank took a payment back"]);

  const { intent } = await paidTogether(1, "EsignPending", "client");
  await mails();
  await whole(intent);
  const [mail = ""] = await mails();
  assert.match(mail, /^An order of your firm was refunded/);
  assert.match(mail, /what the client paid/);

  const failing = await paidTogether(1, "EsignPending", "client");
  const refund = { id: "re_back", payment_intent: failing.intent, amount: 700, currency: "usd", metadata: {} };
  await take("refund.updated", { ...refund, status: "succeeded" });
  await mails();
  await clientMails();
  for (let n = 0; n < 2; n++) await take("refund.failed", { ...refund, status: "failed" });
  const [failed = ""] = await mails();
  assert.match(failed, /^A refund to the client failed/);
  assert.match(failed, /The refund of \$7\.00 for .* to the client failed/);
  const [toClient = "", ...more] = await clientMails();
  assert.deepEqual(more, []);
  assert.match(toClient, /^\[Acme Title\] Your refund came back/);
  assert.match(toClient, /We will pay it to you in another way[\s\S]*Amount: \$7\.00/);
});

test("a client is told of a failed refund of all that they paid, and not of one that never succeeded or that the firm paid", async () => {
  for (const [payBy, hasSucceeded] of [
    ["client", true],
    ["client", false],
    ["firm", true],
  ] as const) {
    const { intent } = await paidTogether(1, "RefundPending", payBy);
    const refund = { id: `re_${++count}`, payment_intent: intent, amount: total, currency: "usd", metadata: {} };
    if (hasSucceeded) {
      await take("refund.updated", { ...refund, status: "succeeded" });
      await whole(intent);
    }
    await clientMails();
    await take("refund.failed", { ...refund, status: "failed" });
    const told = await clientMails();
    assert.equal(told.length, payBy === "client" && hasSucceeded ? 1 : 0, `${payBy} ${hasSucceeded}`);
    for (const mail of told) assert.match(mail, /Amount: \$99\.00/);
  }
});

test("a client’s second payment of an order that went back is one mail with its amount, and none to the client of a firm that pays", async () => {
  for (const payBy of ["client", "firm"] as const) {
    const code = await orders.insert("QuoteReady", { payBy });
    await paid(code, `pi_${++count}`);
    const second = `pi_${++count}`;
    await paid(code, second);
    await clientMails();
    await whole(second);
    const [mail = "", ...more] = await clientMails();
    assert.deepEqual(more, []);
    if (payBy === "firm") assert.equal(mail, "");
    else assert.match(mail, /^\[Acme Title\] A payment was sent back[\s\S]*Amount: \$99\.00/);
  }
});

test("a bank that takes back a payment which paid for nothing leaves no debt, and the firm is told so", async () => {
  const code = await orders.insert("QuoteReady", { payBy: "client" });
  await paid(code, `pi_${++count}`);
  const second = `pi_${++count}`;
  await paid(code, second);
  await disputed(second, "needs_response");
  await mails();
  await disputed(second, "lost");
  const [mail = "", ...more] = await mails();
  assert.deepEqual(more, []);
  assert.match(
    mail,
    /^A bank took a payment back[\s\S]*The order is paid by another payment, so your firm owes nothing/,
  );
  assert.doesNotMatch(mail, /owes the price/);
});

test("a client’s second payment of an order is returned without a mail to the firm", async () => {
  const code = await orders.insert("QuoteReady", { payBy: "client" });
  await paid(code, `pi_${++count}`);
  await mails();
  await paid(code, `pi_${++count}`);
  assert.deepEqual(await mails(), []);
});

test("the mail about waiting orders has a new id once an older order waits, and the same id when it is sent again", async () => {
  const older = await orders.insert("Cancelled", { payBy: "firm" });
  const newer = await orders.insert("QuoteReady", { payBy: "firm" });
  const begin = (code: string, askedAt: Date) =>
    db.transaction(async (tx) => {
      const order = await lockOrder(tx, code);
      assert.ok(order);
      const part = { orderId: order.id, orderCode: code, amountCents: order.totalCents, supplementId: null };
      const asked = { methodId: null, askedBy: `member:${owner}`, at: askedAt, reason: "not_agreed" };
      await insertPayment(tx, [{ order, part }], asked);
    });
  const told = async () => {
    const [job] = await db.query<{ payload: object }>(
      sql`SELECT payload FROM jobs WHERE queue = 'firm-waiting-mail' ORDER BY id DESC LIMIT 1`,
    );
    sent = [];
    await handlers.get("firm-waiting-mail")?.(job?.payload ?? {}, { attempt: 1, signal: new AbortController().signal });
    return sent.map(({ id }) => id);
  };
  await begin(newer, at);
  const [first] = await told();
  assert.deepEqual(await told(), [first]);
  await changeOrder(db, older, sql`status = 'QuoteReady'`);
  await begin(older, new Date(at.getTime() + 1));
  const [second] = await told();
  assert.ok(first && second);
  assert.notEqual(second, first);
});
