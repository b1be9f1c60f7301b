import assert from "node:assert/strict";
import { test } from "node:test";
import { jobsOf } from "../../../../src/orders/order/transitions/jobs.ts";
import { type OrderEvent, type OrderState, targetOf } from "../../../../src/orders/order/transitions/table.ts";

type Order = Parameters<typeof jobsOf>[0];

const at = new Date("2026-03-04T05:06:07.089Z");
const services = { sign: true, notarize: true, ship: true, fax: true };

/** The jobs that an event queues for an order with all services. */
function jobsIn(status: OrderState["status"], on: OrderEvent, more: Partial<Order> = {}) {
  const order: Order = { id: 7, environment: "live", status, statusBeforeHold: null, ...services, ...more };
  const to = targetOf(order, on);
  assert.ok(to);
  return jobsOf(order, { ...order, status: to, statusBeforeHold: null }, on, at);
}

/** The same jobs, each as its queue or as the moment of its mail. */
const queuesIn = (...move: Parameters<typeof jobsIn>): string[] =>
  jobsIn(...move).map((job) => ("mail" in job ? `mail ${job.mail}` : job.queue));

const onHold = (statusBeforeHold: OrderState["statusBeforeHold"], more: Partial<Order> = {}) =>
  queuesIn("OnHold", "released", { statusBeforeHold, ...more });

test("the end of a service queues the next one", () => {
  assert.deepEqual(queuesIn("EsignPending", "signed"), ["next-segment", "mail signed", "envelope"]);
  assert.deepEqual(queuesIn("NotarizationPending", "notarized"), ["next-segment", "notarized"]);
  assert.deepEqual(queuesIn("FaxPending", "fax_delivered"), ["next-segment", "mail fax_delivered"]);
});

test("a hold or a refund stops what providers do", () => {
  assert.deepEqual(queuesIn("Shipped", "held"), ["recall", "fax", "mail on_hold"]);
  assert.deepEqual(queuesIn("Shipped", "held", { fax: false }), ["recall", "mail on_hold"]);
  assert.deepEqual(queuesIn("FaxSent", "held"), ["fax", "mail on_hold"]);
  assert.deepEqual(queuesIn("EsignPending", "held"), ["mail on_hold"]);
  assert.deepEqual(queuesIn("Shipped", "refund_requested"), ["recall", "parcel", "fax", "refund", "envelope"]);
  assert.deepEqual(queuesIn("EsignPending", "refund_requested"), ["parcel", "refund", "envelope"]);
});

test("the end of a hold resumes work, and repeats no effect that the hold did not undo", () => {
  assert.deepEqual(onHold("ShippingPending"), ["dispatch", "parcel", "fax"]);
  assert.deepEqual(onHold("ShippingPending", { fax: false }), ["dispatch", "parcel"]);
  assert.deepEqual(onHold("Shipped"), ["dispatch", "parcel", "fax"]);
  assert.deepEqual(onHold("EsignPending"), ["envelope"]);
  assert.deepEqual(onHold("EsignDeclined"), []);
});

test("an order that waits for a notary again has its unsent links mailed", () => {
  const again = [{ queue: "notary-again", payload: { orderId: 7, at: at.toISOString() } }];
  assert.deepEqual(jobsIn("OnHold", "released", { statusBeforeHold: "NotarizationPending" }), again);
  assert.deepEqual(jobsIn("NotarizationFailed", "notarization_reopened"), again);
  assert.deepEqual(jobsIn("EsignComplete", "next_segment"), []);
});

test("an order without a service has no job for it", () => {
  assert.deepEqual(queuesIn("FaxPending", "refund_requested", { sign: false, ship: false }), ["fax", "refund"]);
});

test("a test order has no jobs that the sandbox stands in for", () => {
  const test = { environment: "test" } as const;
  assert.deepEqual(queuesIn("EsignPending", "signed", test), ["mail signed", "envelope"]);
  assert.deepEqual(queuesIn("Shipped", "held", test), ["mail on_hold"]);
  assert.deepEqual(queuesIn("Shipped", "refund_requested", test), ["refund", "envelope"]);
  assert.deepEqual(onHold("ShippingPending", test), []);
});
