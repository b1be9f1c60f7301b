import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import {
  eventsToFollow,
  followUpOf,
  parcelOutcome,
  type TrackingStatus,
  trackingStatuses,
} from "../../../src/delivery/shipping/labels/progress.ts";
import { chooseRate } from "../../../src/delivery/shipping/labels/quote.ts";
import type { OrderStatus } from "../../../src/orders/order/transitions/statuses.ts";
import { targetOf } from "../../../src/orders/order/transitions/table.ts";

const services = { sign: false, notarize: false, ship: true, fax: false };

/** The final status of an order by the transition table, after its parcel had these statuses one after the other. */
function follow(said: readonly TrackingStatus[]): OrderStatus {
  let status: OrderStatus = "ShippingPending";
  const seen = new Set<TrackingStatus>();
  for (const each of said) {
    seen.add(each);
    for (const on of eventsToFollow(status, seen)) {
      const to = targetOf({ ...services, status, statusBeforeHold: null }, on);
      assert.ok(to, `${on} from ${status}`);
      status = to;
    }
  }
  return status;
}

const runs = Number(process.env["EVENT_ORDERS"] ?? 2_000);
const statuses = fc.array(fc.constantFrom(...trackingStatuses), { minLength: 1, maxLength: 12 });

test("the parcel's outcome does not depend on the order and repetition of events", () => {
  fc.assert(
    fc.property(statuses, fc.infiniteStream(fc.nat()), (said, random) => {
      const shuffled = [...said, ...said]
        .map((status) => ({ status, at: random.next().value as number }))
        .sort((one, other) => one.at - other.at)
        .map(({ status }) => status);
      assert.equal(parcelOutcome(new Set(shuffled)), parcelOutcome(new Set(said)));
      // Skips sequences in which the parcel is both delivered and returned. The order then keeps the status that came
      // first, and a task informs a person.
      if (said.includes("delivered") && said.includes("return_to_sender")) return;
      assert.equal(follow(shuffled), follow(said));
    }),
    { numRuns: runs },
  );
});

test("an order follows its parcel", () => {
  for (const [said, status] of [
    [["unknown", "pre_transit"], "ShippingPending"],
    [["in_transit"], "Shipped"],
    [["out_for_delivery", "in_transit", "pre_transit"], "Shipped"],
    [["available_for_pickup"], "Shipped"],
    [["delivered"], "Delivered"],
    [["delivered", "in_transit", "unknown"], "Delivered"],
    [["failure"], "ShippingFailed"],
    [["in_transit", "failure", "delivered"], "Delivered"],
    [["return_to_sender", "in_transit"], "ShippingFailed"],
    // A delivery after a return: the parcel was delivered to the sender.
    [["in_transit", "return_to_sender", "delivered"], "ShippingFailed"],
    [["error", "cancelled"], "ShippingPending"],
  ] as [TrackingStatus[], string][])
    assert.equal(follow(said), status, said.join(", "));
});

test("an order with another status is left unchanged", () => {
  for (const status of ["OnHold", "RefundPending", "Completed", "EsignPending"] as const)
    assert.deepEqual(eventsToFollow(status, new Set(["delivered"])), []);
  assert.deepEqual(eventsToFollow("Delivered", new Set(["delivered", "return_to_sender"])), []);
});

test("a person is told about reports that the order's status does not show", () => {
  const followUp = (
    said: TrackingStatus,
    orderStatus: OrderStatus,
    isGivenBack = false,
    before: TrackingStatus[] = [],
  ) => followUpOf(new Set([said]), new Set([...before, said]), orderStatus, isGivenBack);
  assert.match(
    followUp("return_to_sender", "Delivered", false, ["delivered"]) ?? "",
    /came back after it was delivered/,
  );
  assert.match(followUp("return_to_sender", "OnHold", false, ["in_transit"]) ?? "", /carrier returns the parcel/);
  assert.equal(followUp("return_to_sender", "ShippingFailed"), null);
  assert.match(followUp("cancelled", "ShippingPending") ?? "", /cancelled/);
  assert.equal(followUp("cancelled", "ShippingPending", true), null);
  assert.equal(followUp("delivered", "Delivered"), null);
});

const offer = (carrier: string, service: string, amountCents: number) => ({
  rateId: service,
  carrier,
  service,
  amountCents,
});

test("the quoted service is bought within the price limit, else the cheapest that accepts documents", () => {
  const rates = [
    offer("USPS", "Priority", 845),
    offer("USPS", "Media Mail", 300),
    offer("USPS", "Ground Advantage", 593),
  ];
  const quoted = { carrier: "USPS", service: "Priority" };
  assert.equal(chooseRate(rates)?.service, "Ground Advantage");
  assert.equal(chooseRate(rates, quoted, 900)?.service, "Priority");
  assert.equal(chooseRate(rates, quoted, 800)?.service, "Ground Advantage");
  assert.equal(chooseRate(rates, { carrier: "UPS", service: "Priority" }, 900)?.service, "Ground Advantage");
  assert.equal(chooseRate([offer("USPS", "Library Mail", 300)]), null);
});
