import { kindsShownTo, may, type Operator, soloWaitMinutes } from "../../../firms/operators/operators.ts";
import { statusLabel } from "../../../orders/order/order.ts";
import {
  namesNeeded,
  type RefundDeps,
  type RefundPreview,
  type RefundRequest,
} from "../../../orders/refunds/refunds.ts";
import { card, emptyState, facts, notice, pageHead } from "../../ui/components.ts";
import { money, shortCode, shortTime, time } from "../../ui/format.ts";
import { askFirst } from "../../ui/forms/ask-first.ts";
import { buttonForm } from "../../ui/forms/button-form.ts";
import { errorSummary, field, textArea } from "../../ui/forms/fields.ts";
import { records } from "../../ui/records.ts";
import { type Html, html } from "../../ui/render.ts";
import { waitsElsewhere } from "../frame/elsewhere.ts";
import { passkeyForMoney } from "../frame/passkey-first.ts";
import { soloBanner, stateBadge, sums, type Typed } from "./words.ts";

type Lists = {
  open: readonly RefundRequest[];
  ended: readonly RefundRequest[];
  operator: Operator;
  /** The number of orders whose firms ask for a refund that no operator has requested yet. */
  asked: number;
  /** The number of open tasks about refunds in the other environment. */
  elsewhere: number;
};

/** Open requests for refunds, and recently decided ones. */
export const listBody = ({
  open,
  ended,
  operator,
  asked,
  elsewhere,
  ...deps
}: Lists & Pick<RefundDeps, "refundApproval">): Html =>
  html`${pageHead("Refunds", "One person asks, another approves. The money goes back through the payment processor.")}
${waitsElsewhere(operator, elsewhere)}
${soloBanner(deps)}
<div class="panels">
${asked > 0 && card("asked", "Asked for by firms", askedPart(operator, asked))}
${card("waiting", "Waiting for a decision", open.length === 0 ? emptyState("Nothing waits", "Refunds are asked for on the page of an order.") : openTable(open))}
${card("ended", "Decided lately", ended.length === 0 ? emptyState("None yet", "What was decided is shown here.") : endedTable(ended))}
</div>`;

const askedPart = (operator: Operator, asked: number): Html =>
  html`<p>${asked === 1 ? "A firm asks" : `Firms ask ${asked.toLocaleString("en-US")} times`} for a refund that nobody has requested here yet. ${
    kindsShownTo(operator).includes("refund_asked")
      ? html`<a href="/operator/tasks/refund_asked">Look at ${asked === 1 ? "it" : "them"}</a>`
      : "Operators who request refunds see it under Today."
  }</p>`;

const orderLink = ({ id, orderCode, payments }: RefundRequest): Html =>
  html`<a href="/operator/refunds/${id}">${sums(payments)} of order ${shortCode(orderCode)}</a>`;

const openTable = (open: readonly RefundRequest[]): Html =>
  records(
    "Refunds that wait, the oldest first",
    [
      { label: "Refund" },
      { label: "Firm" },
      { label: "Reason" },
      { label: "Asked for by" },
      { label: "On", utc: true },
    ],
    open.map((each) => [
      orderLink(each),
      html`<span class="breakable">${each.firmName}</span>`,
      html`<span class="breakable">${each.reason}</span>`,
      html`<span class="breakable">${each.requestedByName}</span>`,
      shortTime(each.requestedAt),
    ]),
  );

const endedTable = (ended: readonly RefundRequest[]): Html =>
  records(
    "Refunds that were decided, the latest first",
    [{ label: "Refund" }, { label: "Result" }, { label: "By" }, { label: "On", utc: true }],
    ended.map((each) => [
      orderLink(each),
      stateBadge(each.state),
      html`<span class="breakable">${each.decidedByName ?? "Nobody"}</span>`,
      each.decidedAt ? shortTime(each.decidedAt) : "",
    ]),
  );

type RefundView = Pick<RefundDeps, "refundApproval"> & {
  refund: RefundRequest;
  /** The order's current status and payments, with warnings about the refund; null once the request has ended. */
  preview: RefundPreview | null;
  operator: Operator;
  typed: Typed | undefined;
};

/** A request for a refund, with the actions that the operator may take on it. */
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
    ["Amount", refund.part ? html`${sums(payments)}, ${effectOf(refund)}` : sums(payments)],
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
${preview && previewCard(refund.part ? { ...preview, warnings: [] } : preview)}
${preview && card("decision", "Decision", decisionOf(view))}
</div>`;
}

/** The effect on the order if only a part is refunded, or if the refunded payment changed no order. */
const effectOf = ({ payments }: RefundRequest): string =>
  payments.every(({ unapplied }) => unapplied)
    ? "a payment that changed no order: the order stays as before"
    : "a part of what is held: the order goes on";

function decisionOf({ refund, refundApproval, operator, typed }: RefundView): Html {
  const isOwn = refund.requestedBy === operator.id;
  const path = `/operator/refunds/${refund.id}`;
  const withdraw = isOwn && buttonForm(`${path}/withdraw`, "Withdraw the request", { kind: "quiet-button" });
  if (!may(operator, "money.decide")) return html`<p>An approver decides on it.</p>${withdraw}`;
  if (isOwn && refundApproval !== "solo")
    return html`<p>You asked for it yourself. Another operator decides.</p>${withdraw}`;
  if (operator.id === null) return html`<p>${namesNeeded}</p>`;
  const first = passkeyForMoney(operator);
  if (first) return html`${first}${withdraw}`;
  const approve = askFirst({
    label: "Approve",
    text: `${sums(refund.payments)} goes back to the payer. ${refund.part ? `This is ${effectOf(refund)}.` : "The order ends."} There is no undoing it.`,
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

/**
 * The page that requests a refund: the order's current state, with warnings about what was done already, and the form.
 */
export const newRefundBody = (preview: RefundPreview, operator: Operator, typed?: Typed): Html =>
  html`${pageHead(`Refund order ${shortCode(preview.orderCode)}`, "You ask, and another person approves. You can refund all money that is held for the order, or a part of it.")}
${errorSummary(typed?.error)}
<div class="panels">
${previewCard(preview)}
${card("ask", "Ask for the refund", formOf(preview, operator, typed))}
</div>`;

/** The current state of the order. */
const previewCard = ({ orderCode, status, payments, warnings }: RefundPreview): Html =>
  card(
    "order",
    "The order",
    html`${facts([
      ["Order", html`<code class="breakable">${orderCode}</code>`],
      ["Status", statusLabel(status)],
      ["Held for it", sums(payments)],
    ])}${warnings.length > 0 && notice("attention", "What was done already", html`${warnings.map((each, index) => html`${index > 0 && html`<br>`}${each}`)}`)}`,
  );

const askedLine = ({ amountCents, reason }: NonNullable<RefundPreview["asked"]>): Html =>
  html`<p>The firm asks for ${amountCents === null ? "the whole payment" : money(amountCents)}: <span class="breakable">${reason}</span></p>`;

function formOf(
  { orderCode, refusal, openRequest, asked, payments }: RefundPreview,
  { id }: Operator,
  typed?: Typed,
): Html {
  if (openRequest !== null)
    return html`<p>A refund of this order was asked for already.</p><p><a href="/operator/refunds/${openRequest}">See the request</a></p>`;
  if (refusal !== null) return html`<p>${refusal}</p>`;
  if (id === null) return html`<p>${namesNeeded}</p>`;
  // The service rejects an amount that equals the held sum. An empty amount requests all of it, and ends the order.
  const heldCents = payments.reduce((sum, { amountCents }) => sum + amountCents, 0);
  const askedCents = asked?.amountCents ?? null;
  const wanted = askedCents === null || askedCents === heldCents ? "" : (askedCents / 100).toFixed(2);
  return html`${asked && askedLine(asked)}<form class="form" method="post" action="/operator/refunds">
<input type="hidden" name="order" value="${orderCode}">
${textArea({ name: "reason", label: "Reason", hint: "The approver sees it, and it stays in the order’s history.", value: typed ? typed.text : (asked?.reason ?? ""), required: true, maxLength: 500, rows: 3 })}
${field({
  name: "amount",
  label: "Amount in dollars",
  value: typed ? typed.amount : wanted,
  maxLength: 12,
  inputMode: "decimal",
  hint: "Leave it empty to refund all money that is held, which ends the order. After a partial refund, the order continues.",
})}
<div class="form-actions"><button type="submit">Ask for the refund</button></div>
</form>`;
}
