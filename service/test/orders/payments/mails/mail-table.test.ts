import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { forTests } from "@signsealship/testing/for-tests";
import { asService, authenticate, authenticateOrders, testRowMac } from "@signsealship/testing/row-mac";
import { isSealed, sql } from "../../../../src/kernel/platform/database/sql.ts";
import { enqueue, type Handler, type Jobs } from "../../../../src/kernel/platform/jobs/jobs.ts";
import type { Mail } from "../../../../src/kernel/platform/mail/mail.ts";
import { type MailDeps, mailOf } from "../../../../src/kernel/platform/mail/mail-jobs.ts";
import { letterOf, letterTogether } from "../../../../src/orders/fulfilment/client-letters.ts";
import { aboutMoney } from "../../../../src/orders/fulfilment/client-mails.ts";
import { mailWords } from "../../../../src/orders/fulfilment/mail-words.ts";
import type { MailMoment } from "../../../../src/orders/order/order.ts";
import type { ChargeMoment } from "../../../../src/orders/payments/mails/charge-mail.ts";
import type { MoneyMoment } from "../../../../src/orders/payments/mails/money-words.ts";
import { chargeMail, moneyMail } from "../../../../src/orders/payments/payments.ts";
import { creditPart, reverseCredit } from "../../../../src/orders/payments/records/documents.ts";
import { recordPart, recordPayment } from "../../../../src/orders/payments/records/payments.ts";
import { links, order } from "../../fulfilment/mail-samples.ts";
import { openMoneyWorld } from "../money-world.ts";

const world = await forTests(openMoneyWorld());
const { db } = world;
const firm = await world.newFirm();
const owner = randomUUID();
const at = new Date("2026-03-04T05:06:07Z");
await asService(
  { db, rowMac: testRowMac },
  sql`INSERT INTO users (id, email, created_at) VALUES (${owner}, 'owner@elm.example', ${at})`,
  sql`INSERT INTO members (user_id, partner_id, role, live_access, linked_at)
    VALUES (${owner}, ${firm.owner.partnerId}, 'owner', true, ${at})`,
);

const sent: Mail[] = [];
const handlers = new Map<string, Handler<object>>();
const jobs: Jobs = {
  work: (queue, work) => void handlers.set(queue, work as Handler<object>),
  start: async () => {},
  stop: async () => {},
};
const mailer = { send: async (mail: Mail) => void sent.push(mail), keep: async () => assert.fail("no test orders") };
const deps = { db, clock: () => at, rowMac: testRowMac, mailer, baseUrl: "https://sss.example" };
moneyMail.work(jobs, deps as unknown as MailDeps);
chargeMail.work(jobs, deps as unknown as MailDeps);

async function mailsOf(queue: string): Promise<Mail[]> {
  sent.length = 0;
  const waiting = await db.query<{ payload: object }>(sql`DELETE FROM jobs WHERE queue = ${queue} RETURNING payload`);
  for (const { payload } of waiting)
    await handlers.get(queue)?.(payload, { attempt: 1, signal: new AbortController().signal });
  return [...sent];
}

async function newOrder(reference: string | null): Promise<{ code: string; id: number }> {
  const code = await world.orders.insert("QuoteReady", { partnerId: firm.owner.partnerId, payBy: "firm" });
  await db.query(sql`UPDATE orders SET external_reference = ${reference} WHERE ${isSealed(sql`code`, "order", code)}`);
  await authenticateOrders(db, isSealed(sql`code`, "order", code));
  return { code, id: await world.orderIdOf(code) };
}

/** The service's mails by their names; true for those about an order's money. */
const table: Readonly<Record<string, boolean>> = {
  orderMail: true,
  orderUpdateMail: true,
  chargeMail: true,
  moneyMail: true,
  // These mails are about the firm's card, its monthly statement or all of its waiting orders, and not about one order.
  methodMail: false,
  statementMail: false,
  waitingMail: false,
  signingMail: false,
  roomMail: false,
  closingsMail: false,
  deliveryMail: false,
  deliveryCodeMail: false,
  downloadMail: false,
  noticeMail: false,
  accessMail: false,
  liveAccessMail: false,
  signInMail: false,
  confirmationMail: false,
  factorMail: false,
  memberMail: false,
  keyMail: false,
  invitationMail: false,
  expiryMail: false,
  appointmentMail: false,
  recordingMail: false,
  recordsMail: false,
  inPersonMail: false,
  identityMail: false,
  liveMail: false,
  queueMail: false,
  fillMail: false,
  bookingMail: false,
  guestMail: false,
  appointmentInvitationMail: false,
  operatorMail: false,
  failingMail: false,
};

test("the wings' lists of mails have no mail of which this test does not say whether it is about an order's money", () => {
  const source = fileURLToPath(new URL("../../../../src", import.meta.url));
  const wings = globSync("*/wing.ts", { cwd: source }).map((file) => readFileSync(join(source, file), "utf8"));
  const lists = wings.flatMap((wing) => /const mails = \[([^\]]*)\]/.exec(wing)?.[1] ?? []);
  const names = lists.flatMap((list) => list.match(/\w+/g) ?? []);
  assert.ok(names.length > 20);
  assert.deepEqual([...names].sort(), Object.keys(table).sort());
});

test("each mail to a client about money names the file number, and no other mail does", () => {
  for (const moment of Object.keys(mailWords) as MailMoment[]) {
    const of = (reference: string | null) => mailOf(letterOf(moment, at.toISOString(), { ...order, reference }, links));
    assert.equal(of("FILE-2207").text.includes("File: FILE-2207"), aboutMoney.has(moment), moment);
    assert.equal(of("FILE-2207").html.includes("FILE-2207"), aboutMoney.has(moment), moment);
    for (const none of [null, "evil.example", "12\r\nBcc: eve"])
      assert.doesNotMatch(of(none).text, /File:|evil|Bcc/, moment);
  }
});

test("a mail about several documents names their file number once, or each one's own", () => {
  const of = (...references: (string | null)[]) =>
    mailOf(
      letterTogether(
        "quote_ready",
        { id: "x", closing: null, firm: order.firm },
        references.map((reference) => ({ ...order, reference, links })),
      ),
    ).text;
  assert.equal(of("FILE-1", "FILE-1").match(/FILE-1/g)?.length, 1);
  assert.match(of("FILE-1", "FILE-2"), /Deed of trust \(file FILE-1\): .*\nhttps:.*\nDeed of trust \(file FILE-2\)/);
  assert.match(of("FILE-1", null), /\(file FILE-1\)/);
  assert.doesNotMatch(of(null, null), /file/i);
});

test("each mail to the firm about an order's money names its file number, where it has one", async () => {
  // The mail about dearer postage needs an order with a parcel, so firm-charges.test.ts tests it.
  const moments: Record<Exclude<MoneyMoment, "postage">, true> = {
    disputed: true,
    lost: true,
    pay_again: true,
    paid_again: true,
    won: true,
    settled: true,
    refunded: true,
    refund_failed: true,
    paid_back: true,
    paid_back_undone: true,
    unneeded: true,
    priced: true,
    debit_failed: true,
    loss_paid: true,
    loss_payment_reversed: true,
  };
  for (const reference of ["FILE-2207", null])
    for (const moment of Object.keys(moments) as MoneyMoment[]) {
      const { id: orderId } = await newOrder(reference);
      await db.transaction((tx) => moneyMail.enqueue(tx, { orderId, to: owner, moment, cents: 500, about: "x" }));
      const [mail, ...more] = await mailsOf("firm-money-mail");
      assert.deepEqual(more, []);
      assert.equal(mail?.text.includes("File: FILE-2207"), reference !== null, moment);
    }
});

test("offers the firm only the checkout for its lost payment of a client's order", async () => {
  for (const [payBy, words] of [
    ["client", /client is not asked for it\. On the order’s page open the checkout/],
    ["firm", /charge your card or bank account, or open the checkout/],
  ] as const) {
    const orderId = await world.orderIdOf(
      await world.orders.insert("OnHold", { partnerId: firm.owner.partnerId, payBy }),
    );
    const [chargeId, paymentIntent] = [randomUUID(), `pi_${payBy}`];
    await db.query(sql`
      INSERT INTO firm_charges (id, order_id, partner_id, environment, method_id, amount_cents, asked_by, asked_at, state, changed_at, payment_intent)
      SELECT ${chargeId}, ${orderId}, partner_id, 'live', id, 9900, 'member:x', ${at}, 'succeeded', ${at}, ${paymentIntent} FROM payment_methods`);
    const payment = { paymentIntent, sessionId: `intent:${paymentIntent}`, amount: 9_900, currency: "usd" };
    await db.transaction(async (tx) => {
      await recordPayment(tx, { orderId, ...payment, simulated: false, at });
      await moneyMail.enqueue(tx, { orderId, to: owner, moment: "pay_again", cents: 9_900, about: "12" });
    });
    const [mail] = await mailsOf("firm-money-mail");
    assert.match(mail?.text.replaceAll(/\s+/g, " ") ?? "", words);
  }
});

test("the mail about a failed refund names the one whose payment it was, also for a refund that the service requested", async () => {
  const orderId = await world.orderIdOf(
    await world.orders.insert("EsignPending", { partnerId: firm.owner.partnerId, payBy: "client" }),
  );
  const paymentIntent = "pi_firm_part";
  await db.query(sql`
    INSERT INTO firm_charges (id, order_id, partner_id, environment, method_id, amount_cents, asked_by, asked_at, state, changed_at, payment_intent)
    SELECT ${randomUUID()}, ${orderId}, partner_id, 'live', id, 900, 'member:x', ${at}, 'succeeded', ${at}, ${paymentIntent} FROM payment_methods`);
  const common = { orderId, currency: "usd", simulated: false, at };
  await db.transaction(async (tx) => {
    await recordPayment(tx, { ...common, paymentIntent: "pi_client", sessionId: "cs_client", amount: 9_900 });
    const paid = { ...common, paymentIntent, sessionId: `intent:${paymentIntent}`, amount: 900 };
    const paymentId = (await recordPayment(tx, paid)) ?? 0;
    await recordPart(tx, orderId, { paymentIntent, share: null, refund: "request", amountCents: 500 }, at);
    await reverseCredit(tx, paymentId, { id: "re_failed", name: "request", cents: 500, hadSucceeded: true }, at);
    await moneyMail.enqueue(tx, { orderId, to: owner, moment: "refund_failed", cents: 500, about: "re_failed" });
    const booking = { about: "outside:check:reversed:re_failed", how: "by check" };
    await creditPart(tx, paymentId, { refund: booking.about, partCents: 500 }, at);
    await moneyMail.enqueue(tx, { orderId, to: owner, moment: "paid_back_undone", cents: 500, ...booking });
  });
  const mails = await mailsOf("firm-money-mail");
  assert.deepEqual(mails.map(({ subject }) => subject).sort(), [
    "A refund to your firm failed",
    "A refund to your firm was booked wrongly",
  ]);
  assert.match(
    mails
      .map(({ text }) => text)
      .join(" ")
      .replaceAll(/\s+/g, " "),
    /\$5\.00 of what your firm paid for .* was paid back by check\. That was booked wrongly/,
  );
});

test("a mail about a charge of several orders links to their closing, and one about a single order to the order", async () => {
  const [one, two] = [await newOrder(null), await newOrder(null)];
  const [groupId, alone] = [randomUUID(), randomUUID()];
  for (const [id, group, { id: orderId }] of [
    [randomUUID(), groupId, one],
    [randomUUID(), groupId, two],
    [alone, null, one],
  ] as const)
    await db.query(sql`
      INSERT INTO firm_charges (id, group_id, order_id, partner_id, environment, method_id, amount_cents, asked_by, asked_at, state, changed_at)
      SELECT ${id}, ${group}::uuid, ${orderId}, partner_id, 'live', id, 9900, 'member:x', ${at}, 'failed', ${at} FROM payment_methods`);
  await authenticate({ db, rowMac: testRowMac }, "firm_charges");
  for (const [id, path] of [
    [groupId, `/dashboard/orders/${one.code}/closing`],
    [alone, `/dashboard/orders/${one.code}`],
  ] as const) {
    await db.transaction((tx) => enqueue(tx, "firm-charge-mail", { id, moment: "failed", userId: owner }));
    const [mail] = await mailsOf("firm-charge-mail");
    assert.match(mail?.text ?? "", new RegExp(`https://sss\\.example${path}$`, "m"));
  }
});

test("each mail to the firm about a charge names the file number, where the order has one", async () => {
  const states: Record<ChargeMoment, string> = {
    refused: "refused",
    failed: "failed",
    pending: "pending",
    overdue: "pending",
  };
  for (const reference of ["FILE-2207", null])
    for (const [moment, state] of Object.entries(states)) {
      const { id: orderId } = await newOrder(reference);
      const id = randomUUID();
      await db.query(sql`
        INSERT INTO firm_charges (id, order_id, partner_id, environment, method_id, amount_cents, asked_by, asked_at, state, changed_at)
        SELECT ${id}, ${orderId}, partner_id, 'live', id, 9900, 'member:x', ${at}, ${state}, ${at} FROM payment_methods`);
      await authenticate({ db, rowMac: testRowMac }, "firm_charges");
      await db.transaction((tx) => enqueue(tx, "firm-charge-mail", { id, moment, userId: owner }));
      const [mail] = await mailsOf("firm-charge-mail");
      assert.ok(mail, moment);
      assert.equal(mail.text.includes("File: FILE-2207"), reference !== null, moment);
    }
});
