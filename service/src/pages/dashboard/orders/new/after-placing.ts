import type { Payer } from "../../../../orders/order/order.ts";
import { type LimitRefusal, methodName, type PaymentMethod } from "../../../../orders/payments/payments.ts";
import { money } from "../../../ui/format.ts";
import { type Html, html } from "../../../ui/render.ts";
import { noMethod } from "./shown-charge.ts";

type After = {
  subject: "order" | "closing";
  payBy: Payer;
  /** The firm's payment method that would be charged. Undefined if the firm has none, and if the client pays. */
  method?: PaymentMethod | undefined;
  /** The reason why the member's spending limits don't allow the charge; null if they do. */
  refusal?: LimitRefusal | null;
  isPriced: boolean;
  /**
   * The price that the page shows; null if it shows none. `isFinal` is true if placing the order can't change the
   * price.
   */
  sum: { amount: string; isFinal: boolean } | null;
  signs: boolean;
  hasCheckout: boolean;
};

const words = {
  order: {
    signing: "the document goes out for signature: each signer gets the link to sign by email",
    working: "the work on the document begins",
    page: "the order’s page",
    itsPrice: "the price",
    unpriced: (name: string) =>
      `We price it first, and charge nobody then. ${name} is charged when somebody of your firm has seen the price on the order’s page, and charges it there.`,
  },
  closing: {
    signing: "the documents go out for signature: each signer gets the link to sign by email",
    working: "the work on the documents begins",
    page: "the room’s page",
    itsPrice: "the price of a document",
    unpriced: (name: string) =>
      `We price some of the documents first, and charge nobody then. Somebody of your firm charges ${name} on the room’s page, at once for those that have a price, or later for all of them.`,
  },
} as const;

/**
 * Describes what happens after the form is sent.
 *
 * @returns `text`: the description. `button`: the button's label, which names the firm's charge or says that there is
 * none. `button` is null without `method`, and if only the final price decides whether a limit stops the charge.
 * `charged`: the id of the method that may be charged at once, or `noMethod`
 */
export function afterPlacing(after: After): { text: Html; button: string | null; charged: string } {
  const { subject, payBy, method, refusal = null, isPriced, sum: shown, signs, hasCheckout } = after;
  const sum = finalSum(after);
  const { signing, working, page } = words[subject];
  const next = signs ? signing : working;
  const say = (text: string, button: string | null = null, charged = noMethod) => ({
    text: html`<p><strong>After you place it:</strong> ${text}</p>`,
    button,
    charged,
  });
  if (!isPriced && !method) return say(`We tell you the price first. Once it is paid, ${next}.`);
  const price = sum ?? "the price";
  if (payBy === "client") {
    const asked = hasCheckout ? `The client gets an email with the link to pay ${price}. ` : "";
    return say(`${asked}Once the client has paid, ${next}.`);
  }
  if (!method) return say(`Nobody is charged yet. Once you have paid on ${page}, ${next}.`);
  const name = methodName(method);
  // If an operator sets the price later, no amount can be compared with a limit. Then only the refusal `no_limit` is
  // certain.
  if (refusal !== null && (isPriced || refusal.reason === "no_limit")) {
    const checkout = hasCheckout ? ", or anybody of your firm can open the checkout there" : "";
    const text = `${notCharged(refusal, after)} An owner can charge ${name} on ${page}${checkout}. Once it is paid, ${next}.`;
    return isCertain(refusal, sum) ? say(text, withoutCharge) : say(text, null, method.id);
  }
  if (!isPriced) return say(`${words[subject].unpriced(name)} Once the payment is confirmed, ${next}.`, withoutCharge);
  const whenCleared =
    method.kind === "bank"
      ? "Once the money has cleared, up to 4 business days later"
      : "Once the payment is confirmed";
  const confirmed = `within the limits that owners set. ${whenCleared}, ${next}.`;
  if (sum !== null)
    return say(`${name} is charged ${sum} at once, ${confirmed}`, `Place and charge ${sum} to ${name}`, method.id);
  // The final price is known only after the order is placed, so the member agrees to a maximum charge.
  const max = shown?.amount ?? money(0);
  const text = `${name} is charged the price at once if it is not above ${max}, ${confirmed} A higher price charges nobody: ${page} shows it, and charges it.`;
  return say(text, `Place and charge at most ${max} to ${name}`, method.id);
}

const finalSum = ({ sum }: Pick<After, "sum">): string | null => (sum?.isFinal ? sum.amount : null);

const withoutCharge = "Place without a charge";

/** True if the refusal does not depend on a price that can still change. */
const isCertain = ({ reason }: LimitRefusal, sum: string | null): boolean =>
  sum !== null || reason === "no_limit" || reason === "left";

/**
 * Says that nobody is charged because of the member's spending limits. If the price can still change, says when nobody
 * is charged. Names the limit, unless the member may not spend at all.
 */
function notCharged({ reason, leftCents }: LimitRefusal, after: After): string {
  const { subject } = after;
  const sum = finalSum(after);
  if (reason === "no_limit" || reason === "left")
    return "Nobody is charged: an owner has not allowed you to spend for your firm.";
  const isOfOrder = reason === "above_order_limit";
  const limit = isOfOrder
    ? `your limit for one order, ${money(leftCents)}`
    : `what is left of your limit for this month, ${money(leftCents)}`;
  return sum === null
    ? `Nobody is charged if ${isOfOrder ? words[subject].itsPrice : "the price"} stays above ${limit}.`
    : `Nobody is charged: ${isOfOrder && subject === "closing" ? words.closing.itsPrice : sum} is above ${limit}.`;
}

type AfterList = Pick<After, "method" | "refusal" | "signs" | "hasCheckout"> & {
  /** The sum, in cents, that the firm is charged for the orders that are placed next. */
  cents: number;
};

/**
 * Describes what happens after the orders of a list are placed. Clients pay their orders, except where a row of the
 * list sets the firm as the payer.
 */
export function afterPlacingList({ method, refusal = null, signs, hasCheckout, cents }: AfterList): Html {
  const next = signs
    ? "its document goes out for signature: each signer gets the link to sign by email"
    : "the work on its document begins";
  const asked = hasCheckout ? "Each client gets an email with the price and the link to pay. " : "";
  const cleared =
    method?.kind === "bank" ? "The work on each begins once its money has cleared, up to 4 business days later. " : "";
  const charge = !method
    ? "wait until somebody of your firm has paid on each order’s page"
    : refusal === null
      ? `are charged to ${methodName(method)} at once, each by itself, within the limits that owners set: ${money(cents)} for all that are placed next. ${cleared}An order whose price turns out higher waits for your firm`
      : "are not charged: an owner has not allowed you to spend for your firm. An owner can charge each on its page";
  return html`<p><strong>After you place them:</strong> ${asked}Once an order is paid, ${next}.</p>
<p>Orders of rows whose <code>pay_by</code> is <code>firm</code> ${charge}. One that we have to price first charges nobody.</p>`;
}
