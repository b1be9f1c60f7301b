import { may, type Operator, soloWaitMinutes } from "../../../operators/operators.ts";
import type { RefundDeps, RefundPreview, RefundRequest } from "../../../refunds/refunds.ts";
import { card, facts, notice, pageHead } from "../../ui/components.ts";
import { shortCode, time } from "../../ui/format.ts";
import { askFirst } from "../../ui/forms/ask-first.ts";
import { buttonForm } from "../../ui/forms/button-form.ts";
import { errorSummary, textArea } from "../../ui/forms/fields.ts";
import { type Html, html } from "../../ui/render.ts";
import { previewCard } from "./new.ts";
import { soloBanner, stateBadge, sums, type Typed } from "./words.ts";

export type RefundView = Pick<RefundDeps, "refundApproval"> & {
  refund: RefundRequest;
  /** How the order stands; null once the request has ended. */
  preview: RefundPreview | null;
  operator: Operator;
  typed: Typed | undefined;
};

/** A request, and what the reader may do about it. */
export function refundBody(view: RefundView): Html {
  const { refund, preview, typed } = view;
  const { orderCode, payments, reason, requestedByName, requestedAt, state, decidedByName, decidedAt } = refund;
  return html`${pageHead(`Refund of order ${shortCode(orderCode)}`, stateBadge(state))}
${errorSummary(typed?.error)}
${soloBanner(view)}
<div class="panels">
${card(
  "request",
  "The request",
  facts([
    ["Amount", sums(payments)],
    ["Reason", html`<span class="breakable">${reason}</span>`],
    ["Firm", html`<span class="breakable">${refund.firmName}</span>`],
    ["Asked for by", html`<span class="breakable">${requestedByName}</span>, ${time(requestedAt)}`],
    [
      "Ended by",
      decidedByName && decidedAt && html`<span class="breakable">${decidedByName}</span>, ${time(decidedAt)}`,
    ],
    ["Note", refund.note && html`<span class="breakable">${refund.note}</span>`],
  ]),
)}
${preview && previewCard(preview)}
${preview && card("decision", "Decision", decisionOf(view))}
</div>`;
}

function decisionOf({ refund, refundApproval, operator, typed }: RefundView): Html {
  const isOwn = refund.requestedBy === operator.id;
  const path = `/operator/refunds/${refund.id}`;
  const withdraw =
    isOwn &&
    may(operator, "refunds.request") &&
    buttonForm(`${path}/withdraw`, "Withdraw the request", { kind: "quiet-button" });
  if (!may(operator, "money.decide")) return html`<p>An approver decides on it.</p>${withdraw}`;
  if (isOwn && refundApproval !== "solo")
    return html`<p>You asked for it yourself. Another operator decides.</p>${withdraw}`;
  const approve = askFirst({
    label: "Approve",
    text: `${sums(refund.payments)} goes back to the payer, and the order ends. There is no undoing it.`,
    confirm: "Approve the refund",
    action: `${path}/approve`,
  });
  if (isOwn)
    return html`${notice("info", "Your own request", `You may approve it after a new sign-in, ${soloWaitMinutes} minutes after you asked.`)}${approve}${withdraw}`;
  return html`${approve}
<form class="form" method="post" action="${path}/refuse">
${textArea({ name: "note", label: "Why not", value: typed?.text, required: true, maxLength: 500, rows: 2 })}
<div class="form-actions"><button type="submit" class="quiet-button">Refuse</button></div>
</form>`;
}
