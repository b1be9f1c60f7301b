import type { BoughtServices } from "../../pricing/pricing.ts";
import type { OrderStatus } from "./statuses.ts";

export type OrderEvent =
  | "priced"
  | "not_priceable"
  | "payment_pending"
  | "payment_failed"
  | "payment_cleared"
  | "payment_mismatched"
  | "next_segment"
  | "signed"
  | "sign_declined"
  | "sign_expired"
  | "sign_reissued"
  | "notarized"
  | "notarization_failed"
  | "identity_locked"
  | "notarization_reopened"
  | "shipped"
  | "delivered"
  | "shipping_failed"
  | "shipping_retried"
  | "fax_sent"
  | "fax_delivered"
  | "fax_failed"
  | "fax_retried"
  | "cancelled"
  | "held"
  | "released"
  | "refund_requested"
  | "refunded";

/**
 * Events of the processor or the sandbox. `refunded` also follows a person's assignment, or when no money is left.
 */
export type ProcessorEvent =
  | "payment_pending"
  | "payment_failed"
  | "payment_cleared"
  | "payment_mismatched"
  | "refunded";

export const processorEvents: ReadonlySet<string> = new Set<ProcessorEvent>([
  "payment_pending",
  "payment_failed",
  "payment_cleared",
  "payment_mismatched",
  "refunded",
]);

export type PeopleEvent = Exclude<OrderEvent, ProcessorEvent>;

/**
 * The status to which an event leads. `next segment`: the pending status of the next bought service, or Completed.
 * `before`: the status before the hold.
 */
type Target = OrderStatus | "next segment" | "before";

/** One row of the transition table. `words` name the event in the diagram and in refusals. */
export type Transition = { on: OrderEvent; from: readonly OrderStatus[]; to: Target; words: string };

const payable = ["QuoteReady", "AwaitingPayment", "PaymentFailed"] as const;
/** True if the processor can move an order from this status to Paid. The contract calls such a status payable. */
export const isPayable = (status: string): boolean => payable.some((each) => each === status);

const unpaid = ["Created", "ManualQuoteRequired", ...payable] as const;
const paidUnfinished = [
  "Paid",
  "EsignPending",
  "EsignComplete",
  "EsignDeclined",
  "EsignExpired",
  "NotarizationPending",
  "NotarizationComplete",
  "NotarizationFailed",
  "IdentityLocked",
  "ShippingPending",
  "Shipped",
  "Delivered",
  "ShippingFailed",
  "FaxPending",
  "FaxSent",
  "FaxDelivered",
  "FaxFailed",
] as const;

/** All transitions of an order; anything else is refused. */
export const transitionTable: readonly Transition[] = [
  { on: "priced", from: ["Created", "ManualQuoteRequired"], to: "QuoteReady", words: "priced" },
  { on: "not_priceable", from: ["Created"], to: "ManualQuoteRequired", words: "cannot be priced" },
  {
    on: "payment_pending",
    from: ["QuoteReady", "PaymentFailed"],
    to: "AwaitingPayment",
    words: "payment not cleared yet, expired or cancelled",
  },
  { on: "payment_failed", from: ["QuoteReady", "AwaitingPayment"], to: "PaymentFailed", words: "payment failed" },
  { on: "payment_cleared", from: payable, to: "Paid", words: "paid in full" },
  { on: "payment_mismatched", from: payable, to: "OnHold", words: "paid, wrong amount or currency" },
  {
    on: "next_segment",
    from: ["Paid", "EsignComplete", "NotarizationComplete", "Delivered", "FaxDelivered"],
    to: "next segment",
    words: "next service begins, or all done",
  },
  { on: "signed", from: ["EsignPending"], to: "EsignComplete", words: "all signed and sealed" },
  { on: "sign_declined", from: ["EsignPending"], to: "EsignDeclined", words: "signing declined" },
  { on: "sign_expired", from: ["EsignPending"], to: "EsignExpired", words: "signing expired" },
  { on: "sign_reissued", from: ["EsignDeclined", "EsignExpired"], to: "EsignPending", words: "reissued" },
  { on: "notarized", from: ["NotarizationPending"], to: "NotarizationComplete", words: "notarized document stored" },
  { on: "notarization_failed", from: ["NotarizationPending"], to: "NotarizationFailed", words: "notarization failed" },
  {
    on: "identity_locked",
    from: ["NotarizationPending"],
    to: "IdentityLocked",
    words: "identity check failed for good",
  },
  {
    on: "notarization_reopened",
    from: ["NotarizationFailed", "IdentityLocked"],
    to: "NotarizationPending",
    words: "reopened",
  },
  { on: "shipped", from: ["ShippingPending"], to: "Shipped", words: "handed to the carrier or mailed" },
  { on: "delivered", from: ["Shipped"], to: "Delivered", words: "delivered by the carrier" },
  { on: "shipping_failed", from: ["ShippingPending", "Shipped"], to: "ShippingFailed", words: "shipping failed" },
  { on: "shipping_retried", from: ["ShippingFailed"], to: "ShippingPending", words: "retried" },
  { on: "fax_sent", from: ["FaxPending"], to: "FaxSent", words: "fax sent" },
  { on: "fax_delivered", from: ["FaxPending", "FaxSent"], to: "FaxDelivered", words: "fax delivered" },
  { on: "fax_failed", from: ["FaxPending", "FaxSent"], to: "FaxFailed", words: "fax failed" },
  { on: "fax_retried", from: ["FaxFailed"], to: "FaxPending", words: "retried" },
  { on: "cancelled", from: unpaid, to: "Cancelled", words: "cancelled" },
  { on: "held", from: paidUnfinished, to: "OnHold", words: "held" },
  { on: "released", from: ["OnHold"], to: "before", words: "released" },
  {
    on: "refund_requested",
    from: [...paidUnfinished, "Completed", "OnHold"],
    to: "RefundPending",
    words: "refund asked for",
  },
  { on: "refunded", from: ["RefundPending"], to: "Refunded", words: "refund confirmed by the processor" },
];

const rows: ReadonlyMap<string, Transition> = new Map(
  transitionTable.flatMap((row) => row.from.map((from) => [`${from} ${row.on}` as string, row] as const)),
);
const words = new Map(transitionTable.map((row) => [row.on, row.words]));

/** The facts about an order that decide to which status an event leads. */
export type OrderState = BoughtServices & { status: OrderStatus; statusBeforeHold: OrderStatus | null };

const segments = [
  { service: "sign", pending: "EsignPending", ends: ["EsignComplete"] },
  { service: "notarize", pending: "NotarizationPending", ends: ["NotarizationComplete"] },
  { service: "ship", pending: "ShippingPending", ends: ["Delivered"] },
  { service: "fax", pending: "FaxPending", ends: ["FaxDelivered"] },
] as const satisfies readonly { service: keyof BoughtServices; pending: OrderStatus; ends: readonly OrderStatus[] }[];

const shipping: ReadonlySet<string> = new Set<OrderStatus>([
  "ShippingPending",
  "Shipped",
  "ShippingFailed",
  "Delivered",
]);

/** True if the order's fax may be sent early, while the order is still being shipped. The document is final by then. */
export const faxesAhead = ({ fax, status }: { fax: boolean; status: string }): boolean => fax && shipping.has(status);

/**
 * The pending status of the next bought service, after the service that ended with `status`. After the last bought
 * service, it is Completed. After `Paid`, it is the pending status of the first bought service.
 */
export function nextSegment(status: string, services: BoughtServices): OrderStatus {
  const ended = segments.findIndex(({ ends }) => ends.some((end) => end === status));
  return segments.slice(ended + 1).find(({ service }) => services[service])?.pending ?? "Completed";
}

/**
 * The status to which the event leads from the order's status; null when the transition table does not allow the event.
 */
export function targetOf(order: OrderState, on: OrderEvent): OrderStatus | null {
  const row = rows.get(`${order.status} ${on}`);
  if (!row) return null;
  if (row.to === "next segment") return nextSegment(order.status, order);
  if (row.to === "before") return order.statusBeforeHold;
  return row.to;
}

export const wordsOf = (on: OrderEvent): string => words.get(on) ?? on;

/** The events that move the order to the named status in one step, except the end of a hold. */
export const eventsTo = (order: OrderState, to: string): OrderEvent[] =>
  transitionTable.filter((row) => targetOf(order, row.on) === to && row.on !== "released").map((row) => row.on);
