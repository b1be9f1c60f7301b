import { isUuid } from "../../../kernel/platform/text.ts";
import { type SignedEvent, shareRequest } from "./processor.ts";

/** The outcome of a checkout session. */
export type SessionMessage = {
  kind: "cleared" | "pending" | "failed" | "expired";
  /** Null when the event is about a payment and names no session. */
  sessionId: string | null;
  /**
   * Read from the metadata, which only the account's own keys can write. Payers can choose the `client_reference_id` of
   * a payment link.
   */
  orderCode: string | null;
  /** Our id of the session, also from the metadata. It identifies a session whose creation was interrupted. */
  checkoutId: string | null;
  paymentIntent: string | null;
  /** In the smallest unit of the currency; null when absent. */
  amount: number | null;
  currency: string | null;
};

export type RefundMessage = {
  kind: "refunded";
  paymentIntent: string | null;
  orderCode: string | null;
  checkoutId: string | null;
  /** The id of our payment, when one order's share of a payment for several was refunded. */
  share: string | null;
  amount: number | null;
  currency: string | null;
  whole: boolean;
};

/** Null when the event doesn't concern an order. */
export type ProcessorMessage = SessionMessage | RefundMessage | null;

type Fields = Readonly<Record<string, unknown>>;

const fieldsOf = (value: unknown): Fields => (typeof value === "object" && value !== null ? (value as Fields) : {});
/** A successful refund of one order's share, which `refundShare` requested. */
function shareMessage(object: Fields): ProcessorMessage {
  const { payment, refund_request: request } = fieldsOf(object["metadata"]);
  const share = text(payment);
  if (object["status"] !== "succeeded" || share === null || request !== shareRequest(share)) return null;
  const paymentIntent = idOf(object["payment_intent"]);
  return {
    ...{ kind: "refunded", paymentIntent, orderCode: null, checkoutId: null, share },
    ...{ amount: whole(object["amount"]), currency: text(object["currency"]), whole: true },
  };
}

const text = (value: unknown): string | null => (typeof value === "string" && value !== "" ? value : null);
const whole = (value: unknown): number | null => (Number.isSafeInteger(value) ? (value as number) : null);
/** A reference is an id, or the object itself when the account expands it. */
const idOf = (value: unknown): string | null => text(value) ?? text(fieldsOf(value)["id"]);
const codeOf = (object: Fields): string | null => text(fieldsOf(object["metadata"])["order_code"]);
const checkoutOf = (object: Fields): string | null => {
  const id = text(fieldsOf(object["metadata"])["checkout"]);
  return id !== null && isUuid(id) ? id : null;
};

const sessionKinds: Readonly<Record<string, SessionMessage["kind"]>> = {
  "checkout.session.async_payment_succeeded": "cleared",
  "checkout.session.async_payment_failed": "failed",
  "checkout.session.expired": "expired",
};

const refundTypes: ReadonlySet<string> = new Set(["refund.created", "refund.updated", "charge.refund.updated"]);

/** Event types that concern an order; metrics count any other as `other`. */
export const knownTypes: ReadonlySet<string> = new Set([
  ...Object.keys(sessionKinds),
  "checkout.session.completed",
  "payment_intent.payment_failed",
  "charge.refunded",
  ...refundTypes,
]);

/** Reads an event's content without trusting its shape. */
export function readMessage({ type, data }: SignedEvent): ProcessorMessage {
  const object = fieldsOf(data.object);
  if (type === "checkout.session.completed")
    return sessionMessage(object["payment_status"] === "unpaid" ? "pending" : "cleared", object);
  const kind = sessionKinds[type];
  if (kind) return sessionMessage(kind, object);
  const orderCode = codeOf(object);
  if (type === "payment_intent.payment_failed")
    return {
      kind: "failed",
      sessionId: null,
      orderCode,
      checkoutId: checkoutOf(object),
      paymentIntent: idOf(object["id"]),
      amount: null,
      currency: null,
    };
  if (refundTypes.has(type)) return shareMessage(object);
  if (type !== "charge.refunded") return null;
  return {
    kind: "refunded",
    paymentIntent: idOf(object["payment_intent"]),
    orderCode,
    checkoutId: checkoutOf(object),
    share: null,
    amount: whole(object["amount"]),
    currency: text(object["currency"]),
    whole: object["refunded"] === true,
  };
}

function sessionMessage(kind: SessionMessage["kind"], object: Fields): SessionMessage {
  return {
    kind,
    sessionId: text(object["id"]),
    orderCode: codeOf(object),
    checkoutId: checkoutOf(object),
    paymentIntent: idOf(object["payment_intent"]),
    amount: whole(object["amount_total"]),
    currency: text(object["currency"]),
  };
}
