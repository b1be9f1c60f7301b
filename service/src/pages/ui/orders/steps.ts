import type { OrderStatus, PublicOrderRow } from "../../../orders/order/order.ts";
import type { Step, StepState } from "../components.ts";
import { maskPhone, money } from "../format.ts";
import { en, type Words } from "../words/en/en.ts";

type StepName = keyof Words["orders"]["steps"]["labels"];

type Place = { at: StepName; state: "current" | "done" | "attention" };

// For each status: the step that its orders have reached. Some statuses are missing, because they don't tell which
// services were done before.
const places: Readonly<Partial<Record<OrderStatus, Place>>> = {
  Created: { at: "placed", state: "done" },
  QuoteReady: { at: "payment", state: "current" },
  AwaitingPayment: { at: "payment", state: "current" },
  Paid: { at: "payment", state: "done" },
  EsignPending: { at: "sign", state: "current" },
  EsignComplete: { at: "sign", state: "done" },
  NotarizationPending: { at: "notarize", state: "current" },
  NotarizationComplete: { at: "notarize", state: "done" },
  ShippingPending: { at: "ship", state: "current" },
  Shipped: { at: "ship", state: "current" },
  Delivered: { at: "ship", state: "done" },
  FaxPending: { at: "fax", state: "current" },
  FaxSent: { at: "fax", state: "current" },
  FaxDelivered: { at: "fax", state: "done" },
  Completed: { at: "finished", state: "done" },
  PaymentFailed: { at: "payment", state: "attention" },
  EsignDeclined: { at: "sign", state: "attention" },
  EsignExpired: { at: "sign", state: "attention" },
  NotarizationFailed: { at: "notarize", state: "attention" },
  IdentityLocked: { at: "notarize", state: "attention" },
  ManualQuoteRequired: { at: "payment", state: "current" },
  ShippingFailed: { at: "ship", state: "attention" },
  FaxFailed: { at: "fax", state: "attention" },
};

const halts: ReadonlySet<OrderStatus> = new Set(["OnHold", "RefundPending", "Refunded", "Cancelled"]);

type Bought = Pick<PublicOrderRow, "status" | "sign" | "notarize" | "ship" | "fax" | "faxTo" | "statusBeforeHold">;

function stepsOf(
  { sign, notarize, ship, fax, faxTo }: Bought,
  { labels, faxTo: faxLabel }: Words["orders"]["steps"],
): { name: StepName; label: string }[] {
  const bought: Readonly<Record<StepName, boolean>> = {
    placed: true,
    payment: true,
    sign,
    notarize,
    ship,
    fax,
    finished: true,
  };
  const names = (Object.keys(bought) as StepName[]).filter((name) => bought[name]);
  return names.map((name) => ({
    name,
    label: name === "fax" && faxTo ? faxLabel(maskPhone(faxTo)) : labels[name],
  }));
}

/**
 * The steps of an order with their states: placing the order, its payment, each of its services, and finishing.
 * @param unpaid the state of the payment step, if the order owes money although its status says that it was paid
 */
export function orderSteps(
  order: Bought,
  { orders }: Pick<Words, "orders"> = en,
  unpaid?: Omit<Step, "label">,
): Step[] {
  const steps = stepsOf(order, orders.steps);
  const noteOf = (status: string | null): string | undefined =>
    Object.entries(orders.steps.notes).find(([noted]) => noted === status)?.[1];
  const held = order.status === "OnHold";
  const status = held ? order.statusBeforeHold : order.status;
  const place = status === null ? undefined : places[status];
  const index = place ? steps.findIndex(({ name }) => name === place.at) : -1;
  if (!place || index < 0) {
    const note = halts.has(order.status) ? noteOf(order.status) : undefined;
    const returned = order.status === "Refunded" || order.status === "RefundPending";
    return steps.map(({ name, label }, i): Step => {
      if (i === 0) return { label, state: "done" };
      // The order was paid and then ended. Its payment step shows that the money is, or will be, returned.
      if (returned && name === "payment")
        return { label, state: "stopped", note: orders.statusLabels[order.status as "Refunded"] };
      return note ? { label, state: "stopped", note } : { label, state: "upcoming" };
    });
  }
  const current = place.state === "done" ? index + 1 : index;
  const atCurrent = held || place.state === "attention" ? "attention" : "current";
  return steps.map(({ name, label }, i): Step => {
    const state: StepState = i < current ? "done" : i > current ? "upcoming" : atCurrent;
    if (unpaid && name === "payment" && state === "done") return { label, ...unpaid };
    const note = held && i === current ? noteOf("OnHold") : i === index ? noteOf(status) : undefined;
    return note ? { label, state, note } : { label, state };
  });
}

/** The state of the payment step after a bank took this amount back. */
export const lostStep = (cents: number): Omit<Step, "label"> => ({
  state: "stopped",
  note: `The bank took ${money(cents)} back`,
});
