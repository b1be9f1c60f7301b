import { may, type Operator } from "../../../operators/operators.ts";
import type { UnappliedPayment } from "../../../payments/payments.ts";
import { card, emptyState, facts, pageHead } from "../../ui/components.ts";
import { moneyIn, shortCode, time } from "../../ui/format.ts";
import { errorSummary, textArea } from "../../ui/forms/fields.ts";
import { type Html, html } from "../../ui/render.ts";

export type PaymentsView = { payments: readonly UnappliedPayment[]; operator: Operator; error: string | undefined };

/** What waits, then what was resolved lately. */
export function paymentsBody({ payments, operator, error }: PaymentsView): Html {
  const [open, ended] = [false, true].map((isResolved) =>
    payments.filter(({ resolution }) => (resolution !== null) === isResolved),
  );
  const lead =
    "Money that came too late, twice, or in a wrong way, and so moved no order. Send it back at the payment processor, then note here what was done.";
  return html`${pageHead("Payments that fit no order", lead)}
${errorSummary(error)}
<div class="panels">
${open?.length ? open.map((each, index) => paymentCard(each, `payment-${index}`, may(operator, "money.decide"))) : emptyState("Nothing waits", "Every payment has moved its order.")}
${ended?.map((each, index) => paymentCard(each, `resolved-${index}`, false))}
</div>`;
}

const amountOf = ({ amount, currency }: UnappliedPayment): string => {
  if (amount === null) return "An amount that is not on record";
  return moneyIn(amount, currency);
};

function paymentCard(payment: UnappliedPayment, id: string, mayResolve: boolean): Html {
  const { eventId, receivedAt, orderCode, orderStatus, firmName, paymentIntent, refundedAt, resolution } = payment;
  const about = facts([
    ["Order", html`<a href="/operator/orders/${orderCode}">${shortCode(orderCode)}</a>, now in ${orderStatus}`],
    ["Firm", html`<span class="breakable">${firmName}</span>`],
    ["Received", time(receivedAt)],
    ["Payment intent", paymentIntent && html`<code class="breakable">${paymentIntent}</code>`],
    ["Event", html`<code class="breakable">${eventId}</code>`],
    ["Held", refundedAt ? html`No: refunded ${time(refundedAt)}` : "Yes"],
    ["Resolved", resolution && html`<span class="breakable">${resolution.by}</span>, ${time(new Date(resolution.at))}`],
    ["Note", resolution && html`<span class="breakable">${resolution.note}</span>`],
  ]);
  return card(id, amountOf(payment), html`${about}${mayResolve && resolveForm(eventId, id)}`);
}

const resolveForm = (eventId: string, form: string): Html =>
  html`<form class="form" method="post" action="/operator/payments/${encodeURIComponent(eventId)}/resolve">
${textArea({ name: "note", form, label: "What was done about it", required: true, maxLength: 500, rows: 2 })}
<div class="form-actions"><button type="submit">Resolved</button></div>
</form>`;
