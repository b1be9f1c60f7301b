/** The part of a room's page about the payment of its orders. */
import { type Payer, payers } from "../../../orders/order/order.ts";
import { type ChargeOfOrder, methodName, sumOfCharges } from "../../../orders/payments/payments.ts";
import { money } from "../../ui/format.ts";
import { buttonForm } from "../../ui/forms/button-form.ts";
import { type Html, html } from "../../ui/render.ts";
import { chargeText } from "../billing/payments-part.ts";
import { clientPaysQuestion, isAboveLimit } from "../orders/firm-pays.ts";
import { orderTitle } from "./orders.ts";
import { formPath, problemOf, type RoomDetailView } from "./view.ts";

/**
 * For each payer: the orders of the firm that this payer can pay together now, and the ways to pay them. The firm's
 * part also shows payments in progress and earlier ones.
 */
export const paymentPart = (view: RoomDetailView): Html =>
  html`${problemOf(view, "payment")}${payers.map((payer) => paymentOf(view, payer))}`;

function paymentOf(view: RoomDetailView, payer: Payer): Html {
  const sums = view.payable[payer];
  const total = sums.reduce((sum, cents) => sum + cents, 0);
  const count = sums.length === 1 ? "1 order" : `${sums.length} orders`;
  const isFirms = payer === "firm";
  const stored = view.environment === "test" ? "In test that email is kept in the outbox." : "";
  const words = isFirms ? "that your firm pays can be paid now" : "can be paid now";
  const moving =
    isFirms && html`${paidPart(view)}${sendingPart(view.firmPays)}${view.firmPays.moving.map(paymentLine)}`;
  if (sums.length === 0) return html`${moving}`;
  const charge = isFirms && chargePart(view);
  return html`${moving}<p>${count} of this room ${words}: ${money(total)} together. One payment pays them all; each order starts when the payment clears. Orders of other firms are never part of it.</p>
${!isFirms && html`<p>The client gets the link to pay by email. ${stored} Open the checkout yourself only to pay for the client: the receipts are then your firm’s.</p>`}
${isFirms && failedPart(view.firmPays)}${charge}
${
  view.hasCheckout
    ? html`${buttonForm(formPath(view, "checkout"), `Open the checkout for ${money(total)}${isFirms ? ", which your firm pays" : ""}`, { fields: { pay_by: payer }, ...((charge || !isFirms) && { kind: "quiet-button" as const }) })}
<p class="form-note">Opening it charges nobody. A checkout of a single order that is still open is closed first.</p>`
    : html`<p class="form-note">Anybody of your firm can also pay them in the sandbox.</p>`
}
${isFirms && clientsPayPart(view)}`;
}

/** The form that makes the clients pay instead of the firm. It contains the orders and prices that the page shows. */
function clientsPayPart(view: RoomDetailView): Html | false {
  const { prices } = view.firmPays;
  const payable = prices.filter(({ refusal }) => refusal === null);
  if (payable.length === 0) return false;
  const cards = new Map(view.room.orders.map((order) => [order.orderCode, order]));
  const lines = prices.flatMap(({ code, totalCents, refusal }) => {
    const order = cards.get(code);
    return order
      ? [html`<li>${orderTitle(view, order)}: ${refusal === null ? money(totalCents) : `not changed. ${refusal}`}</li>`]
      : [];
  });
  return clientPaysQuestion(formPath(view, "client-pays"), "Each client", {
    details: html`<ul>${lines}</ul>`,
    fields: { orders: payable.map(({ code, totalCents }) => `${code}:${totalCents}`).join(" ") },
  });
}

/**
 * The reason why the latest payment failed. A problem with one order stops the payment of all, because a person agreed
 * only to the total.
 */
const failedPart = ({ failed }: RoomDetailView["firmPays"]): Html =>
  html`${paymentLine(failed)}${failed.length > 1 && failed[0]?.reason !== "not_agreed" && noneCharged}${isAboveLimit(failed[0]) && ownerCharges}`;

const noneCharged = html`<p>One order is enough to stop the whole payment: none of them was charged. Charge them again once you have looked.</p>`;

const ownerCharges = html`<p>An owner of your firm can charge here. After a limit was raised under Billing, charge again here: nothing is tried again by itself.</p>`;

const countOf = ({ length }: readonly unknown[]): string => (length === 1 ? "one order" : `${length} orders`);

/** A line about the payment that a queued job is about to make. */
const sendingPart = ({ sending }: RoomDetailView["firmPays"]): Html =>
  html`${sending.length > 0 && html`<p>Your firm’s payment for ${countOf(sending)} of this room, ${money(sending.reduce((sum, cents) => sum + cents, 0))}: Being sent</p>`}`;

function paidPart({ room, firmPays }: RoomDetailView): Html {
  const statuses = new Map([...room.ownOrders.values()].map(({ id, status }) => [id, status]));
  return html`${firmPays.paid.map((charges) => {
    const ids = [...new Set(charges.map(({ orderId }) => orderId))];
    const [refunded, pending] = ["Refunded", "RefundPending"].map((ended) =>
      ids.filter((id) => statuses.get(id) === ended),
    );
    return html`<p>Your firm paid ${countOf(charges)} of this room: ${money(sumOfCharges(charges))}. ${refundText(refunded, pending)}The receipt of each order is on its page; the card or bank account and the time are <a href="/dashboard/billing#charges">under Billing</a>.</p>`;
  })}`;
}

/** Says how many of a payment's orders were refunded since, or are being refunded. Empty for none. */
const refundText = (refunded: readonly unknown[] = [], pending: readonly unknown[] = []): string =>
  [
    ...(refunded.length > 0 ? [`Refunded since: ${countOf(refunded)}. `] : []),
    ...(pending.length > 0 ? [`Being refunded: ${countOf(pending)}. `] : []),
  ].join("");

/**
 * The state of one of the firm's payments; empty for none. It counts only the charges of orders in the room; the
 * payment may include others.
 */
function paymentLine(charges: readonly ChargeOfOrder[]): Html {
  const [first] = charges;
  return html`${first && html`<p>Your firm’s payment for ${countOf(charges)} of this room, ${money(sumOfCharges(charges))}: ${chargeText(first)}</p>`}`;
}

/**
 * The button that charges the firm, or a sentence that a person must confirm the payment. False without a payment
 * method, and when there is nothing to charge.
 */
function chargePart(view: RoomDetailView): Html | false {
  const { method, failed, chargeableCents } = view.firmPays;
  if (!method || chargeableCents === 0) return false;
  const [latest] = failed;
  // The bank requires that the card holder confirms the payment, so another charge without a person would be declined
  // as well.
  if (latest?.reason === "authentication_required" && latest.methodId === method.id)
    return html`<p>Your bank wants a person to confirm: ${view.hasCheckout ? "open the checkout" : "pay them in the sandbox"}.</p>`;
  return buttonForm(formPath(view, "charge"), `Charge the firm: ${money(chargeableCents)} to ${methodName(method)}`, {
    fields: { total_cents: String(chargeableCents), charged_method: method.id },
  });
}
