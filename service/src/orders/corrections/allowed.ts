import { eventsTo, type OrderState, type PeopleEvent, targetOf } from "../order/order.ts";

/** The actions with which a firm corrects an order. `again`: restart the failed service. */
export type Act = "document" | "email" | "address" | "fax" | "again" | "refund";

/** The facts that decide what the firm can do about an order. */
export type Trouble = OrderState & {
  /** True if a signed or notarized file is stored, so that the document can't be replaced any more. */
  isSealed: boolean;
  /**
   * The state of the order's latest fax: `Sent`, `Delivered` or `Failed`; null when no fax was sent. The order's status
   * doesn't show this, because a fax may be sent while the order is still being shipped.
   */
  lastFax: string | null;
  /** True while the order is shipped, if a fax that was sent early failed and nobody requested another attempt. */
  hasFaxFailedEarly: boolean;
  /**
   * The reason why the fax number is fixed: a provider or a person may be sending the fax. Null while the number can
   * change.
   */
  faxIsFixed: string | null;
  /**
   * How often the fax number was changed in the last 24 hours. `emailChanges`: how often email addresses were corrected
   * in that time.
   */
  faxChanges: number;
  emailChanges: number;
  /** The number of times that the firm has restarted shipping. `faxedAgain` is the same count for the fax. */
  shippedAgain: number;
  faxedAgain: number;
  /** True if a refund that the firm asked for, or one that an operator requested, waits for a decision. */
  refundIsAsked: boolean;
  /**
   * The reason why the parcel's address can't change any more. Null when it can, and always outside ShippingPending.
   */
  parcelIsFixed: string | null;
};

const maxFaxChanges = 3;
// The limit per order in 24 hours. Without it, a firm could have links mailed to any number of addresses.
const maxEmailChanges = 10;

/** The reason why no email address of the order can be corrected again today; null when one can. */
export const whyNotAgainToday = (emailChanges: number): string | null =>
  emailChanges >= maxEmailChanges
    ? `The email addresses of an order change at most ${maxEmailChanges} times in 24 hours.`
    : null;

const beforeSealing = ["EsignPending", "EsignDeclined", "EsignExpired", "NotarizationFailed", "IdentityLocked"];
const withNotary = ["NotarizationPending", "IdentityLocked"];
const isEnding = ({ status }: OrderState): boolean => ["RefundPending", "Refunded", "Cancelled"].includes(status);
const isUnpaid = (order: OrderState): boolean => targetOf(order, "cancelled") !== null;

/**
 * A reason that excludes all actions except the refund and the correction of an email address; null when there is none.
 */
function whyNothing(order: OrderState): string | null {
  if (order.status === "OnHold") return "The order is on hold. Write a note to the people who look at it.";
  if (order.status === "Completed") return "The order is complete.";
  return isEnding(order) ? "The order has ended." : null;
}

function whyNotDocument(order: Trouble): string | null {
  // A price depends on the document. So an unpaid order must be canceled and placed again instead of being corrected.
  if (isUnpaid(order)) return "Nothing is paid yet: cancel the order, and place it again.";
  if (order.isSealed) return "The document is signed or notarized: another document needs an order of its own.";
  if (beforeSealing.includes(order.status)) return null;
  if (order.status === "NotarizationPending")
    return "A notary has the document. It can be replaced once that has failed.";
  return "The document is on its way: another document needs an order of its own.";
}

/** The reason why the email address of people who have not signed can't be corrected now; null when it can. */
export function whyNotMoved({ status, statusBeforeHold }: OrderState): string | null {
  const before = status === "OnHold" ? statusBeforeHold : status;
  return before !== null && withNotary.includes(before)
    ? "A notary identifies this client now. Ask the operator of this service."
    : null;
}

function whyNotAddress({ ship, status, parcelIsFixed }: Trouble): string | null {
  if (!ship) return "Shipping was not bought.";
  if (status === "ShippingPending") return parcelIsFixed;
  if (status === "Shipped") return "The parcel is on its way.";
  return ["Delivered", "FaxPending", "FaxSent", "FaxDelivered", "FaxFailed"].includes(status)
    ? "The parcel has arrived."
    : null;
}

function whyNotFax({ fax, status, lastFax, faxIsFixed, faxChanges }: Trouble): string | null {
  if (!fax) return "A fax was not bought.";
  if (status === "FaxSent" || lastFax === "Sent") return "The fax is on its way.";
  if (status === "FaxDelivered" || lastFax === "Delivered") return "The fax is recorded as delivered.";
  if (faxIsFixed !== null) return faxIsFixed;
  return faxChanges >= maxFaxChanges ? `A fax number changes at most ${maxFaxChanges} times in 24 hours.` : null;
}

const again: readonly PeopleEvent[] = ["sign_reissued", "notarization_reopened", "shipping_retried", "fax_retried"];

/**
 * The event that restarts the failed service; null when none failed. Also null in the status IdentityLocked, because
 * only an operator can unlock an identity.
 */
export function againOn(order: OrderState & Pick<Trouble, "hasFaxFailedEarly">): PeopleEvent | null {
  if (order.status === "IdentityLocked") return null;
  return again.find((on) => targetOf(order, on) !== null) ?? (order.hasFaxFailedEarly ? "fax_retried" : null);
}

function whyNotAgain(order: Trouble): string | null {
  const on = againOn(order);
  if (order.status === "IdentityLocked") return "The identity check failed for good. An operator decides.";
  if (on === null) return "Nothing has failed: the order goes on by itself.";
  const times = on === "shipping_retried" ? order.shippedAgain : on === "fax_retried" ? order.faxedAgain : 0;
  return times > 0 ? "It was sent again once. An operator decides about a further time." : null;
}

function whyNotRefund(order: Trouble): string | null {
  if (order.refundIsAsked) return "A refund was asked for already.";
  if (eventsTo(order, "RefundPending").length > 0) return null;
  return isUnpaid(order) ? "Nothing is paid yet: cancel the order." : "The order has ended.";
}

const specific: Readonly<Record<Exclude<Act, "refund" | "email">, (order: Trouble) => string | null>> = {
  document: whyNotDocument,
  address: whyNotAddress,
  fax: whyNotFax,
  again: whyNotAgain,
};

/**
 * True if the order was canceled. Only an unpaid order can be canceled, so nobody could sign, and no link opens a
 * document.
 */
export const hasNoLinks = ({ status }: Pick<OrderState, "status">): boolean => status === "Cancelled";

// An email address can be corrected even on hold, and after completion or a refund. Links that were mailed to the
// earlier address still open documents then. After a cancellation, it can't be corrected.
const whyNotEmail = (order: Trouble): string | null =>
  hasNoLinks(order) ? "The order has ended." : (whyNotMoved(order) ?? whyNotAgainToday(order.emailChanges));

/** Why the firm can't perform the action now; null when it can. */
export function whyNot(order: Trouble, act: Act): string | null {
  if (act === "refund") return whyNotRefund(order);
  if (act === "email") return whyNotEmail(order);
  return whyNothing(order) ?? specific[act](order);
}

export const acts = ["document", "email", "address", "fax", "again", "refund"] as const satisfies readonly Act[];
