import type { ShownLabel } from "../../../delivery/shipping/shipping.ts";
import { money } from "../../ui/format.ts";
import { type Html, html } from "../../ui/render.ts";
import type { Typed } from "./move-forms.ts";

const states: Readonly<Record<ShownLabel["state"], string>> = {
  preparing: "EasyPost is asked for rates",
  buying: "it is being bought",
  bought: "bought",
  not_bought: "not bought",
  withdrawn: "withdrawn",
};

const refunds: Readonly<Record<NonNullable<ShownLabel["refundState"]>, string>> = {
  intended: "it is being given back",
  submitted: "given back, and not refunded yet",
  refunded: "given back and refunded",
  rejected: "the carrier refused to refund it",
  not_applicable: "there is nothing to refund",
};

/**
 * The shipping labels of an order.
 * @param path the URL of the page that prints them
 */
export const labelList = (labels: readonly ShownLabel[], path: string): Html =>
  html`<ul class="plain-list">${labels.map((label) => labelItem(label, path))}</ul>`;

function labelItem(
  { number, state, carrier, service, cents, trackingNumber, ...label }: ShownLabel,
  path: string,
): Html {
  const { why, refundState, hasFile, isForNow, lastSeen } = label;
  const bought = carrier !== null && `${carrier} ${service}, ${money(cents ?? 0)}: `;
  const tracking = trackingNumber !== null && html`, <span class="breakable">${trackingNumber}</span>`;
  const refund = refundState !== null && `, ${refunds[refundState]}`;
  const seen = lastSeen !== null && `; the carrier says ${lastSeen.replaceAll("_", " ")}`;
  const printLink = hasFile && isForNow && html`<br><a href="${path}/labels/${number}" download>Print this label</a>`;
  return html`<li>${bought}${states[state]}${tracking}${refund}${seen}${why !== null && html`<br>${why}`}${printLink}</li>`;
}

/** EasyPost's warning about the shipping address, recorded when the order was quoted. */
export const addressDoubt = (problem: string): Html =>
  html`<p>EasyPost doubted the address when it was quoted: ${problem}</p>`;

/**
 * The form that buys a label that was not bought automatically; null if no price is offered.
 * @param mayExceed true if the operator may also accept a price far above the quoted one
 */
export function buyForm([label]: readonly ShownLabel[], path: string, mayExceed: boolean): Html | null {
  if (!label || label.offerCents === null) return null;
  const { carrier, service, offerCents, isFarDearer } = label;
  if (isFarDearer && !mayExceed)
    return html`<p>It costs far more than quoted: only a person who works on orders can buy it. Or ship the parcel in another way, and record the hand-over below.</p>`;
  return html`<form class="form" method="post" action="${path}/buy"><input type="hidden" name="most" value="${offerCents}">
<p>Or ship the parcel in another way, and record the hand-over below.</p>
<div class="form-actions"><button type="submit" class="quiet-button">Buy it for ${money(offerCents)} (${carrier} ${service})</button></div></form>`;
}

/** True if a label can be printed for the next parcel to ship. */
export const hasLabelForNow = (labels: readonly ShownLabel[]): boolean =>
  labels.some(({ hasFile, isForNow }) => hasFile && isForNow);

/** The initial values of the form that records the shipment, from the purchased label. */
export function handOverOf(labels: readonly ShownLabel[]): Typed | undefined {
  const label = labels.find(({ isForNow }) => isForNow);
  if (!label?.carrier || !label.trackingNumber) return undefined;
  return { move: "shipped", values: { carrier: label.carrier, tracking: label.trackingNumber }, error: undefined };
}
