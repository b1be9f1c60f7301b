import assert from "node:assert/strict";
import { test } from "node:test";
import { forTests } from "@signsealship/testing/for-tests";
import { isSealed, sql } from "../../../../src/kernel/platform/database/sql.ts";
import type { ServiceError } from "../../../../src/kernel/platform/errors.ts";
import { perform } from "../../../../src/orders/fulfilment/perform.ts";
import { applyTransition, lockOrder } from "../../../../src/orders/order/transitions/apply.ts";
import { orderStatuses } from "../../../../src/orders/order/transitions/statuses.ts";
import { type OrderEvent, targetOf, transitionTable } from "../../../../src/orders/order/transitions/table.ts";
import { type OrderFacts, openOrdersDatabase, silent } from "../orders-database.ts";

const at = new Date("2026-03-04T05:06:07.089Z");

const orders = await forTests(openOrdersDatabase());

const moveBy = (code: string, on: OrderEvent, when = at) =>
  orders.db.transaction(async (tx) => {
    const order = await lockOrder(tx, code);
    assert.ok(order);
    return applyTransition(tx, order, on, { actor: "operator", at: when, log: silent, reason: "because" });
  });

const mailsAbout = async (code: string): Promise<string[]> =>
  (
    await orders.db.query<{ moment: string }>(sql`
      SELECT payload ->> 'moment' AS moment FROM jobs WHERE queue = 'order-mail'
        AND payload ->> 'orderId' = (SELECT id::text FROM orders WHERE ${isSealed(sql`code`, "order", code)}) ORDER BY id`)
  ).map(({ moment }) => moment);

const events = transitionTable.map(({ on }) => on);

test("every status and event: an allowed move writes its audit line, any other changes nothing", async () => {
  for (const status of orderStatuses) {
    const statusBeforeHold = status === "OnHold" ? "ShippingPending" : null;
    for (const on of events) {
      const code = await orders.insert(status, { statusBeforeHold });
      const before = await orders.look(code);
      const services = { sign: true, notarize: true, ship: true, fax: true };
      const target = targetOf({ ...services, status, statusBeforeHold }, on);
      if (target === null) {
        await assert.rejects(moveBy(code, on), { name: "ServiceError", code: "conflict" });
        assert.deepEqual(await orders.look(code), before, `${status} on ${on}`);
      } else {
        assert.equal((await moveBy(code, on)).order.status, target);
        const after = await orders.look(code);
        assert.equal(after.status, target);
        assert.deepEqual(after.moves, [`${status} -> ${target}`]);
        assert.deepEqual(after.updatedAt, at);
      }
    }
  }
});

test("a refusal names the status and the attempted event", async () => {
  const code = await orders.insert("QuoteReady");
  await assert.rejects(moveBy(code, "signed"), {
    message: "An order in QuoteReady cannot move by 'all signed and sealed'.",
  });
});

test("services that were not bought are skipped, and after the last comes Completed", async () => {
  const none: Partial<OrderFacts> = { sign: false, notarize: false, ship: false, fax: false };
  const ways: [Partial<OrderFacts>, string, string][] = [
    [none, "Paid", "Completed"],
    [{ ...none, sign: true }, "Paid", "EsignPending"],
    [{ ...none, notarize: true }, "Paid", "NotarizationPending"],
    [{ ...none, ship: true }, "Paid", "ShippingPending"],
    [{ ...none, fax: true }, "Paid", "FaxPending"],
    [{ ...none, sign: true, fax: true }, "EsignComplete", "FaxPending"],
    [{ ...none, sign: true, ship: true }, "EsignComplete", "ShippingPending"],
    [{ ...none, sign: true }, "EsignComplete", "Completed"],
    [{ ...none, ship: true }, "Delivered", "Completed"],
    [{ ...none, ship: true, fax: true }, "Delivered", "FaxPending"],
    [{ ...none, fax: true }, "FaxDelivered", "Completed"],
  ];
  for (const [services, from, to] of ways) {
    const code = await orders.insert(from, services);
    assert.equal((await moveBy(code, "next_segment")).order.status, to);
  }
});

test("a milestone is written as workflow event, partner event, mail and the envelope's job in one transaction", async () => {
  const signed = await orders.insert("EsignPending");
  await moveBy(signed, "signed");
  const look = await orders.look(signed);
  assert.equal(look.envelopeStatus, "Completed");
  assert.deepEqual(look.milestones, ["signature.completed"]);
  assert.deepEqual(look.events, [`signature.completed:${signed}`]);
  assert.deepEqual(look.jobs, ["next-segment", "order-mail", "envelope"]);
  const delivered = await orders.insert("Shipped");
  await moveBy(delivered, "delivered");
  assert.deepEqual((await orders.look(delivered)).events, [`shipment.delivered:${delivered}`]);
});

test("a person prices an order at nothing, or at no less than the smallest payment", async () => {
  const price = (code: string, amountCents?: number) =>
    orders.db.transaction(async (tx) => {
      const order = await lockOrder(tx, code);
      assert.ok(order);
      const adjustment = amountCents === undefined ? undefined : { amountCents, label: "Adjusted" };
      const moved = await perform(tx, order, "priced", { adjustment }, { actor: "operator", at, log: silent });
      return moved.order.status;
    });
  const small = await orders.insert("ManualQuoteRequired", { totalCents: 49 });
  await assert.rejects(price(small), /The price is \$0\.49, and a payment must be at least \$0\.50: adjust the price/);
  assert.equal(await price(small, 1), "QuoteReady");
  const code = await orders.insert("ManualQuoteRequired");
  for (const amount of [-9_851, -9_899, -9_901])
    await assert.rejects(price(code, amount), /The adjusted total must be \$0\.00, or at least \$0\.50/);
  assert.equal(await price(code, -9_850), "QuoteReady");
  assert.equal(await price(await orders.insert("ManualQuoteRequired"), -9_900), "QuoteReady");
});

test("an order that a person priced is not in the queue whose orders a node of an earlier release charges", async () => {
  const code = await orders.insert("ManualQuoteRequired");
  await moveBy(code, "priced");
  const { jobs } = await orders.look(code);
  assert.deepEqual([jobs.includes("firm-wait"), jobs.includes("firm-charge")], [true, false]);
});

test("each status about which the client is mailed has one mail, in the move's transaction, and no other has any", async () => {
  const heard: [string, OrderEvent, string][] = [
    ["ManualQuoteRequired", "priced", "quote_ready"],
    ["QuoteReady", "payment_failed", "payment_failed"],
    ["AwaitingPayment", "payment_cleared", "payment_received"],
    ["EsignPending", "signed", "signed"],
    ["ShippingPending", "shipped", "shipped"],
    ["Shipped", "delivered", "delivered"],
    ["FaxSent", "fax_delivered", "fax_delivered"],
    ["FaxSent", "fax_failed", "fax_failed"],
    ["Paid", "held", "on_hold"],
    ["FaxDelivered", "next_segment", "completed"],
    ["QuoteReady", "cancelled", "cancelled"],
    ["RefundPending", "refunded", "refunded"],
  ];
  for (const [from, on, moment] of heard) {
    const code = await orders.insert(from);
    await moveBy(code, on);
    assert.deepEqual(await mailsAbout(code), [moment], `${from} on ${on}`);
    await assert.rejects(moveBy(code, on));
    assert.deepEqual(await mailsAbout(code), [moment], "a refused move mails nothing");
  }
  const unheard: [string, OrderEvent][] = [
    ["QuoteReady", "payment_pending"],
    ["Paid", "next_segment"],
    ["EsignPending", "sign_declined"],
    ["NotarizationPending", "notarized"],
    ["Completed", "refund_requested"],
    ["ShippingFailed", "shipping_retried"],
  ];
  for (const [from, on] of unheard) {
    const code = await orders.insert(from);
    await moveBy(code, on);
    assert.deepEqual(await mailsAbout(code), [], `${from} on ${on}`);
  }
});

test("signing is not complete before the sealed document exists", async () => {
  const code = await orders.insert("EsignPending");
  await orders.db.query(sql`
    DELETE FROM documents WHERE kind = 'sealed' AND order_id = (SELECT id FROM orders WHERE ${isSealed(sql`code`, "order", code)})`);
  const before = await orders.look(code);
  await assert.rejects(moveBy(code, "signed"), { message: "EsignComplete needs the sealed document on record." });
  assert.deepEqual(await orders.look(code), before);
});

test("a hold ends in the status before, and nothing is notified twice", async () => {
  const code = await orders.insert("EsignComplete");
  await moveBy(code, "held");
  assert.equal((await orders.look(code)).statusBeforeHold, "EsignComplete");
  await moveBy(code, "released");
  const look = await orders.look(code);
  assert.equal(look.status, "EsignComplete");
  assert.equal(look.statusBeforeHold, null);
  assert.deepEqual([look.events, look.milestones, look.jobs], [[], [], ["order-mail", "next-segment"]]);
  assert.deepEqual(await mailsAbout(code), ["on_hold"]);
  const signing = await orders.insert("EsignPending");
  await moveBy(signing, "held");
  await moveBy(signing, "released");
  const jobs = ["order-mail", "envelope"];
  assert.deepEqual((await orders.look(signing)).jobs, jobs, "what was due during the hold is done now");
});

test("the envelope follows the signing, and is voided with an order that ends before it", async () => {
  const ends: [OrderEvent, string][] = [
    ["sign_declined", "Declined"],
    ["sign_expired", "Expired"],
    ["refund_requested", "Voided"],
  ];
  for (const [on, envelope] of ends) {
    const code = await orders.insert("EsignPending");
    await moveBy(code, on);
    assert.equal((await orders.look(code)).envelopeStatus, envelope);
  }
  const reissued = await orders.insert("EsignDeclined");
  await moveBy(reissued, "sign_reissued");
  assert.equal((await orders.look(reissued)).envelopeStatus, "Sent");
});

test("of twenty concurrent moves of one order, one succeeds and the others are refused", async () => {
  const code = await orders.insert("ShippingPending");
  const moves = await Promise.allSettled(Array.from({ length: 20 }, () => moveBy(code, "shipped")));
  assert.equal(moves.filter(({ status }) => status === "fulfilled").length, 1);
  for (const each of moves)
    if (each.status === "rejected") assert.equal((each.reason as ServiceError).code, "conflict");
  assert.deepEqual((await orders.look(code)).moves, ["ShippingPending -> Shipped"]);
});

test("a move is rolled back when its transaction fails later", async () => {
  const code = await orders.insert("EsignPending");
  const before = await orders.look(code);
  const failing = orders.db.transaction(async (tx) => {
    const order = await lockOrder(tx, code);
    assert.ok(order);
    await applyTransition(tx, order, "signed", { actor: "operator", at, log: silent });
    throw new Error("the power is gone");
  });
  await assert.rejects(failing, /power/);
  assert.deepEqual(await orders.look(code), before);
});
