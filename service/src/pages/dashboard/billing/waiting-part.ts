/** The orders that wait for the firm's payment, as Billing lists them, and the button that charges them. */
import { maxAtOnce, methodName, sumOfWaiting, type Waiting } from "../../../orders/payments/payments.ts";
import { money, shortCode } from "../../ui/format.ts";
import { buttonForm } from "../../ui/forms/button-form.ts";
import { records } from "../../ui/records.ts";
import { type Html, html } from "../../ui/render.ts";
import { type BillingView, billingPath, isOwner } from "./view.ts";

const counted = ({ count }: Waiting): string =>
  count === 1 ? "1 order waits" : `${count.toLocaleString("en-US")} orders wait`;

/** A sentence with the number and the sum of the orders that wait for the firm's payment. */
export const waitingText = (waiting: Waiting, hasMethod: boolean): string =>
  `${counted(waiting)} ${hasMethod ? "to be charged" : "for your firm’s payment"}: ${money(waiting.totalCents)}`;

/**
 * True if the member has permission to spend. The amounts are compared with the limits only when the orders are
 * charged.
 */
function maySpend(view: BillingView): boolean {
  const { member } = view.principal;
  const own = view.spenders.find(({ spender }) => spender === `member:${member?.userId}`);
  return isOwner(view) || (own !== undefined && own.orderCents > 0 && own.monthCents > 0);
}

const noMethod = "Add a card or bank account below to charge them, or pay each one on its page.";

const alteredMethods =
  "They can’t be charged until the operator of this service has restored the record of your firm’s card or bank account. Each one can be paid on its page.";

/**
 * The oldest orders that wait, at most `maxAtOnce`. One click charges all that are shown, each by a separate payment.
 */
export function waitingPart(view: BillingView): Html {
  const method = view.methods?.find(({ state }) => state === "active");
  const shown = view.waiting.orders.slice(0, maxAtOnce);
  const rest = view.waiting.count - shown.length;
  const total = sumOfWaiting(shown);
  const name = method ? methodName(method) : "";
  const all =
    rest > 0 ? `Charge the first ${shown.length}` : shown.length === 1 ? "Charge it" : `Charge all ${shown.length}`;
  return html`<p>${waitingText(view.waiting, method !== undefined)}. Nothing is charged until somebody of your firm asks for it here or on the order’s page.</p>
${
  method === undefined
    ? html`<p>${view.methods === null ? alteredMethods : noMethod}</p>`
    : maySpend(view)
      ? html`${buttonForm(`${billingPath}/charge-waiting`, `${all}: ${money(total)} to ${name}`, {
          fields: {
            orders: shown.map(({ code, totalCents }) => `${code}:${totalCents}`).join(" "),
            method: method.id,
          },
        })}<p class="form-note">Each order has a payment of its own. One that can’t be charged at its price here is left out, and named.${method.kind === "bank" && " Work starts when the money has cleared, up to 4 business days."}</p>`
      : html`<p>An owner of your firm can charge them here.</p>`
}
${records(
  "Orders that wait for your firm’s payment",
  [{ label: "Order" }, { label: "File number" }, { label: "Price", number: true }, { label: "Action" }],
  shown.map(({ code, reference, totalCents, isPostage }) => [
    html`<a class="keep" href="/dashboard/orders/${code}">${shortCode(code)}</a>${isPostage && ", more postage"}`,
    reference ?? "None",
    money(totalCents),
    method !== undefined && maySpend(view)
      ? buttonForm(`/dashboard/orders/${code}/charge`, `Charge ${money(totalCents)}`, {
          about: `to ${name} for order ${shortCode(code)}`,
          fields: { total_cents: String(totalCents), charged_method: method.id },
          kind: "quiet-button",
        })
      : html`<a href="/dashboard/orders/${code}">Pay it<span class="visually-hidden"> for order ${shortCode(code)}</span></a>`,
  ]),
)}${rest > 0 && html`<p class="quiet">${rest === 1 ? "1 more waits, and is" : `${rest.toLocaleString("en-US")} more wait, and are`} listed here once these are paid.</p>`}`;
}
