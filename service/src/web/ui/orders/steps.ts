import type { OrderStatus, PublicOrderRow } from "../../../orders/orders.ts";
import type { Step, StepState } from "../components.ts";
import { maskPhone } from "../format.ts";

type StepName = "placed" | "payment" | "sign" | "notarize" | "ship" | "fax" | "finished";

type Place = { at: StepName; state: "current" | "done" | "attention"; note?: string };

// The step that each status belongs to. Statuses that are missing belong to none: they do not say what was done before.
const places: Readonly<Partial<Record<OrderStatus, Place>>> = {
  Created: { at: "placed", state: "done" },
  QuoteReady: { at: "payment", state: "current", note: "Ready to pay" },
  AwaitingPayment: { at: "payment", state: "current", note: "Not yet cleared" },
  Paid: { at: "payment", state: "done" },
  EsignPending: { at: "sign", state: "current", note: "Out for signature" },
  EsignComplete: { at: "sign", state: "done" },
  NotarizationPending: { at: "notarize", state: "current", note: "With the notary" },
  NotarizationComplete: { at: "notarize", state: "done" },
  ShippingPending: { at: "ship", state: "current", note: "Being prepared" },
  Shipped: { at: "ship", state: "current", note: "On its way" },
  Delivered: { at: "ship", state: "done", note: "Delivered" },
  FaxPending: { at: "fax", state: "current", note: "Being sent" },
  FaxSent: { at: "fax", state: "current", note: "Sent, not yet confirmed" },
  FaxDelivered: { at: "fax", state: "done", note: "Delivered" },
  Completed: { at: "finished", state: "done" },
  PaymentFailed: { at: "payment", state: "attention", note: "Did not go through" },
  EsignDeclined: { at: "sign", state: "attention", note: "Declined" },
  EsignExpired: { at: "sign", state: "attention", note: "Expired" },
  NotarizationFailed: { at: "notarize", state: "attention", note: "Not completed" },
  IdentityLocked: { at: "notarize", state: "attention", note: "Identity not confirmed" },
  ManualQuoteRequired: { at: "payment", state: "current", note: "Being priced" },
  ShippingFailed: { at: "ship", state: "attention", note: "Did not arrive" },
  FaxFailed: { at: "fax", state: "attention", note: "Did not go through" },
};

const halted: Readonly<Record<string, string>> = {
  OnHold: "Paused",
  RefundPending: "Stopped",
  Refunded: "Stopped",
  Cancelled: "Stopped",
};

type Bought = Pick<PublicOrderRow, "status" | "sign" | "notarize" | "ship" | "fax" | "faxTo" | "statusBeforeHold">;

function stepsOf({ sign, notarize, ship, fax, faxTo }: Bought): { name: StepName; label: string }[] {
  return [
    { name: "placed", label: "Order placed" },
    { name: "payment", label: "Payment" },
    ...(sign ? [{ name: "sign" as const, label: "Signing" }] : []),
    ...(notarize ? [{ name: "notarize" as const, label: "Online notarization" }] : []),
    ...(ship ? [{ name: "ship" as const, label: "Shipping" }] : []),
    ...(fax ? [{ name: "fax" as const, label: faxTo ? `Fax to ${maskPhone(faxTo)}` : "Fax" }] : []),
    { name: "finished", label: "Finished" },
  ];
}

/** The services that were bought, in their order, between placing and finishing, each with where it stands. */
export function orderSteps(order: Bought): Step[] {
  const steps = stepsOf(order);
  const held = order.status === "OnHold";
  const place = places[(held ? order.statusBeforeHold : order.status) as OrderStatus];
  const index = place ? steps.findIndex(({ name }) => name === place.at) : -1;
  if (!place || index < 0) {
    const note = halted[order.status];
    return steps.map(({ label }, i): Step => {
      if (i === 0) return { label, state: "done" };
      return note ? { label, state: "stopped", note } : { label, state: "upcoming" };
    });
  }
  const current = place.state === "done" ? index + 1 : index;
  const atCurrent = held || place.state === "attention" ? "attention" : "current";
  return steps.map(({ label }, i): Step => {
    const state: StepState = i < current ? "done" : i > current ? "upcoming" : atCurrent;
    const note = held && i === current ? "Paused" : i === index ? place.note : undefined;
    return note ? { label, state, note } : { label, state };
  });
}
