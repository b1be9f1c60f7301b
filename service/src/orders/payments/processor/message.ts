import { type Members, membersIn, textIn } from "../../../kernel/platform/json.ts";
import { isUuid } from "../../../kernel/platform/text.ts";
import { isShareRequest, type SignedEvent } from "./processor.ts";

/** A change in the payment of a checkout session, or of a charge of a firm's method. */
export type SessionMessage = {
  kind: "cleared" | "pending" | "failed" | "expired";
  /** The processor's id of the session; null for an event that names only a payment. */
  sessionId: string | null;
  /**
   * The order's code, from the metadata. Only the account's own keys can write the metadata. A payer, in contrast, can
   * choose the `client_reference_id` of a payment link.
   */
  orderCode: string | null;
  /** Our id of the session, from the metadata. It finds a session whose creation was interrupted. */
  checkoutId: string | null;
  /** Our id of a payment by the firm's method, from the metadata. */
  chargeId: string | null;
  paymentIntent: string | null;
  /** The amount, in the smallest unit of the currency; null when the event states none. */
  amount: number | null;
  currency: string | null;
  /** The processor's code for why the charge failed. */
  reason: string | null;
};

/** A firm's card or bank account was saved, is being verified, or was refused. */
export type SetupMessage = { kind: "setup"; setupId: string; setupIntent: string | null };

/** The permission to debit a bank account has ended. `method`: the processor's id of the bank account. */
export type MandateMessage = { kind: "mandate"; method: string };

/** A bank has renewed a card. `method`: the processor's id of the card. `expires`: as MM/YYYY. */
export type CardMessage = { kind: "card"; method: string; brand: string | null; last4: string | null; expires: string };

/**
 * A payer's bank demands money back, or has decided about such a demand. A bank debit that is returned after it was
 * accepted is treated as a dispute, too.
 */
export type DisputeMessage = {
  kind: "disputed";
  disputeId: string;
  paymentIntent: string;
  state: "opened" | "won" | "lost";
  amount: number | null;
  currency: string | null;
};

export type RefundMessage = {
  kind: "refunded";
  /** The processor's id of the refund; null for an event about the charge. */
  refundId: string | null;
  state: "pending" | "succeeded" | "failed";
  /** Our name for the refund that we requested, from the refund's metadata; null for any other refund. */
  request: string | null;
  paymentIntent: string | null;
  orderCode: string | null;
  checkoutId: string | null;
  /**
   * Our id of a payment by the firm's method, from metadata copied to the charge. Null for the refund's own events.
   */
  chargeId: string | null;
  /** Our id of the payment, from the metadata of a refund that we requested; null for any other refund. */
  share: string | null;
  /**
   * The name of a partial refund: the id of its request, or else the processor's id of the refund. Null for a whole
   * share or a charge's event.
   */
  refund: string | null;
  amount: number | null;
  currency: string | null;
  whole: boolean;
};

/** A readable message of the processor; null for an event about anything else, or with unreadable content. */
export type ProcessorMessage =
  | SessionMessage
  | RefundMessage
  | SetupMessage
  | MandateMessage
  | CardMessage
  | DisputeMessage
  | null;

const failedRefunds: ReadonlySet<unknown> = new Set(["failed", "canceled"]);

/** Reads a refund: a whole share, as `refund` or `refundShare` requested it, or another part of a payment. */
function refundMessage(object: Members): ProcessorMessage {
  const { status } = object;
  const state = status === "succeeded" ? status : failedRefunds.has(status) ? "failed" : "pending";
  const { payment, refund_request: asked } = membersIn(object["metadata"]);
  const [share, request] = [textIn(payment), textIn(asked)];
  const isShare = share !== null && isShareRequest(request, share);
  return {
    kind: "refunded",
    paymentIntent: idOf(object["payment_intent"]),
    orderCode: null,
    checkoutId: null,
    chargeId: null,
    share,
    refund: isShare ? null : (request ?? textIn(object["id"])),
    refundId: keyOf(object["id"]),
    state,
    request,
    amount: sumOf(object["amount"]),
    currency: textIn(object["currency"]),
    whole: isShare,
  };
}

const whole = (value: unknown): number | null => (Number.isSafeInteger(value) ? (value as number) : null);
/** The amount of a refund or a dispute; null unless it is a whole number that is not negative. */
const sumOf = (value: unknown): number | null => (Number(value) >= 0 ? whole(value) : null);
/** Reads a text that will be stored as a database key; null when it is missing, or longer than 255 characters. */
const keyOf = (value: unknown): string | null => textIn(value, 255);
/** Reads the id of a referenced object. The account may be set up to send the whole object instead of the id. */
const idOf = (value: unknown): string | null => textIn(value) ?? textIn(membersIn(value)["id"]);
const codeOf = (object: Members): string | null => textIn(membersIn(object["metadata"])["order_code"]);
const ownId = (object: Members, name: "checkout" | "charge" | "setup"): string | null => {
  const id = textIn(membersIn(object["metadata"])[name]);
  return id !== null && isUuid(id) ? id : null;
};
const checkoutOf = (object: Members): string | null => ownId(object, "checkout");

const sessionKinds: Readonly<Record<string, SessionMessage["kind"]>> = {
  "checkout.session.async_payment_succeeded": "cleared",
  "checkout.session.async_payment_failed": "failed",
  "checkout.session.expired": "expired",
};

const chargeKinds: Readonly<Record<string, SessionMessage["kind"]>> = {
  "payment_intent.succeeded": "cleared",
  "payment_intent.processing": "pending",
  "payment_intent.payment_failed": "failed",
  "payment_intent.canceled": "failed",
};

const setupTypes: ReadonlySet<string> = new Set(["setup_intent.succeeded", "setup_intent.setup_failed"]);

const mandateType = "mandate.updated";

const cardType = "payment_method.automatically_updated";

const disputeTypes: ReadonlySet<string> = new Set(
  ["created", "updated", "closed", "funds_withdrawn", "funds_reinstated"].map((each) => `charge.dispute.${each}`),
);

const refundTypes: ReadonlySet<string> = new Set([
  "refund.created",
  "refund.updated",
  "refund.failed",
  "charge.refund.updated",
]);

/** The event types that `readMessage` may read. Metrics count all other types as `other`. */
export const readableTypes: ReadonlySet<string> = new Set([
  ...Object.keys(sessionKinds),
  "checkout.session.completed",
  ...Object.keys(chargeKinds),
  ...setupTypes,
  ...disputeTypes,
  mandateType,
  cardType,
  "charge.refunded",
  ...refundTypes,
]);

/** Reads an event's content. Doesn't assume that the content has the documented form. */
export function readMessage({ type, data }: SignedEvent): ProcessorMessage {
  const object = membersIn(data.object);
  if (disputeTypes.has(type)) return disputeMessage(object);
  if (type === mandateType) return mandateMessage(object);
  if (type === cardType) return cardMessage(object);
  if (setupTypes.has(type)) return setupMessage(object, idOf(object["id"]));
  if (object["mode"] === "setup")
    return type === "checkout.session.completed" ? setupMessage(object, idOf(object["setup_intent"])) : null;
  const chargeId = ownId(object, "charge");
  const chargeKind = chargeKinds[type];
  if (chargeKind && chargeId !== null) return chargeMessage(chargeKind, chargeId, object);
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
      chargeId: null,
      paymentIntent: idOf(object["id"]),
      amount: null,
      currency: null,
      reason: null,
    };
  if (refundTypes.has(type)) return refundMessage(object);
  if (type !== "charge.refunded") return null;
  return {
    kind: "refunded",
    paymentIntent: idOf(object["payment_intent"]),
    orderCode,
    checkoutId: checkoutOf(object),
    chargeId,
    share: null,
    refund: null,
    refundId: null,
    state: "succeeded",
    request: null,
    amount: whole(object["amount"]),
    currency: textIn(object["currency"]),
    whole: object["refunded"] === true,
  };
}

function sessionMessage(kind: SessionMessage["kind"], object: Members): SessionMessage {
  return {
    kind,
    sessionId: textIn(object["id"]),
    orderCode: codeOf(object),
    checkoutId: checkoutOf(object),
    chargeId: null,
    paymentIntent: idOf(object["payment_intent"]),
    amount: whole(object["amount_total"]),
    currency: textIn(object["currency"]),
    reason: null,
  };
}

/** Makes the message about a payment by the firm's own method. Such a payment belongs to no session. */
function chargeMessage(kind: SessionMessage["kind"], chargeId: string, object: Members): SessionMessage {
  const fault = membersIn(object["last_payment_error"]);
  const reason = textIn(fault["decline_code"]) ?? textIn(fault["code"]);
  return {
    kind,
    sessionId: null,
    orderCode: codeOf(object),
    checkoutId: null,
    chargeId,
    paymentIntent: idOf(object["id"]),
    amount: whole(object["amount_received"]),
    currency: textIn(object["currency"]),
    reason: reason?.slice(0, 200) ?? null,
  };
}

/**
 * The decision that each final status of a dispute means. An inquiry that ends without a dispute is treated as won.
 * Other statuses are not decisions.
 */
const decisions: Readonly<Record<string, "won" | "lost">> = {
  won: "won",
  warning_closed: "won",
  prevented: "won",
  lost: "lost",
};

function disputeMessage(object: Members): DisputeMessage | null {
  const [disputeId, paymentIntent] = [keyOf(object["id"]), idOf(object["payment_intent"])];
  if (disputeId === null || paymentIntent === null) return null;
  const state = decisions[String(object["status"])] ?? "opened";
  return {
    kind: "disputed",
    disputeId,
    paymentIntent,
    state,
    amount: sumOf(object["amount"]),
    currency: textIn(object["currency"]),
  };
}

/**
 * Reads a mandate; null for one that can still be used for debits. The processor never makes an inactive mandate active
 * again.
 */
function mandateMessage(object: Members): MandateMessage | null {
  const method = idOf(object["payment_method"]);
  return object["status"] === "inactive" && method !== null ? { kind: "mandate", method } : null;
}

function cardMessage(object: Members): CardMessage | null {
  const card = membersIn(object["card"]);
  const [method, month, year] = [keyOf(object["id"]), whole(card["exp_month"]), whole(card["exp_year"])];
  if (method === null || month === null || year === null) return null;
  if (month < 1 || month > 12 || year < 2000 || year > 9999) return null;
  const last4 = textIn(card["last4"]);
  return {
    kind: "card",
    method,
    brand: textIn(card["brand"])?.slice(0, 100) ?? null,
    last4: last4 !== null && /^\d{4}$/.test(last4) ? last4 : null,
    expires: `${String(month).padStart(2, "0")}/${year}`,
  };
}

function setupMessage(object: Members, setupIntent: string | null): SetupMessage | null {
  const setupId = ownId(object, "setup");
  return setupId === null ? null : { kind: "setup", setupId, setupIntent };
}

/** The time when the processor created the event, or else `at`. Events may arrive in another sequence. */
export function timeOf({ created }: SignedEvent, at: Date): Date {
  const time = new Date(Number.isSafeInteger(created) ? Number(created) * 1000 : Number.NaN);
  return Number.isNaN(time.getTime()) ? at : time;
}
