import type { FastifyInstance, FastifyRequest } from "fastify";
import type { Operator, Permission } from "../../../firms/operators/operators.ts";
import { invalid } from "../../../kernel/platform/errors.ts";
import { refundsOnPage } from "../../../orders/payments/payments.ts";
import {
  approveAssignment,
  askAssignment,
  dropAssignment,
  type RefundDeps,
  type WaitingRefund,
} from "../../../orders/refunds/refunds.ts";
import { card } from "../../ui/components.ts";
import { moneyIn, shortCode, time } from "../../ui/format.ts";
import { askFirst } from "../../ui/forms/ask-first.ts";
import { buttonForm } from "../../ui/forms/button-form.ts";
import { centsOf } from "../../ui/forms/cents.ts";
import { field, textArea } from "../../ui/forms/fields.ts";
import type { FormValues } from "../../ui/forms/form-body.ts";
import { type Html, html } from "../../ui/render.ts";
import { done } from "../flash-messages.ts";
import { type ConsoleFrame, consoleRoute } from "../frame/console.ts";
import { mayByName } from "../frame/passkey-first.ts";

export const paymentsPath = "/operator/payments";
const path = `${paymentsPath}/assignments`;
export const mayAsk: Permission[] = ["refunds.request", "money.decide"];

type Deps = { frame: ConsoleFrame; refunds: RefundDeps };

/**
 * Adds the routes that assign a refund to its orders: one requests an assignment, one approves it, and one drops it.
 */
export function assignmentRoutes(
  scope: FastifyInstance,
  { frame, refunds }: Deps,
  show: (request: FastifyRequest, error?: string, typed?: FormValues) => Promise<string>,
): void {
  consoleRoute(scope, frame, {
    method: "POST",
    url: path,
    permission: mayAsk,
    async handle({ operator, form }) {
      const { refund = "", reason = "" } = form;
      await askAssignment(refunds, operator, { refund, reason, parts: partsOf(form) });
      return done(paymentsPath, "assignment-requested");
    },
    refused: ({ request, form }, error) => show(request, error, form),
  });

  consoleRoute(scope, frame, {
    method: "POST",
    url: `${path}/:id/approve`,
    permission: "money.decide",
    async handle({ operator, params: { id } }) {
      await approveAssignment(refunds, operator, id);
      return done(paymentsPath, "assignment-approved");
    },
    refused: ({ request }, error) => show(request, error),
  });

  consoleRoute(scope, frame, {
    method: "POST",
    url: `${path}/:id/drop`,
    permission: mayAsk,
    async handle({ operator, params: { id } }) {
      await dropAssignment(refunds, operator, id);
      return done(paymentsPath, "assignment-dropped");
    },
    refused: ({ request }, error) => show(request, error),
  });
}

/** Refunds that somebody made at the payment processor. An operator must name the orders that were refunded. */
export const byHandCard = (refunds: readonly WaitingRefund[], operator: Operator, typed: FormValues = {}): Html =>
  card(
    "by-hand",
    "Refunds made at the payment processor",
    html`<p>Each was a part of a payment for several orders, and the payment processor doesn’t know the orders. One person says which orders it was for, another approves. Then the firm’s statement has it. No money moves.</p>
${refunds.map((each, index) => refundPart(each, `by-hand-${index}`, operator, typed))}
${nextPage(refunds)}`,
  );

/** The link to the next page of refunds. It is shown if this page is full, even if no refund follows. */
const nextPage = (refunds: readonly WaitingRefund[]): Html | false => {
  const page = refunds.filter(({ state }) => state !== "ended");
  const last = page.at(-1);
  return (
    last !== undefined &&
    page.length >= refundsOnPage &&
    html`<p><a href="${paymentsPath}?after=${encodeURIComponent(last.id)}">Later refunds</a></p>`
  );
};

function refundPart(refund: WaitingRefund, id: string, operator: Operator, typed: FormValues): Html {
  const { amountCents, currency, seenAt, state, assignment } = refund;
  return html`<div class="room-part"><h3>${moneyIn(amountCents, currency)}</h3>
<p>${time(seenAt)}, <code class="breakable">${refund.id}</code></p>
${state === "pending" && html`<p>It is on its way. Wait for the bank; then say which orders it was for.</p>`}
${assignment ? decision(refund, assignment, operator) : state === "waiting" && mayAsk.some((each) => mayByName(operator, each)) && assignForm(refund, id, typed["refund"] === refund.id ? typed : {})}</div>`;
}

export const orderLink = (code: string): Html => html`<a href="/operator/orders/${code}">${shortCode(code)}</a>`;

function decision(
  { shares, currency, id, state }: WaitingRefund,
  {
    id: assignment,
    parts,
    reason,
    requestedBy,
    requestedByName,
    requestedAt,
  }: NonNullable<WaitingRefund["assignment"]>,
  operator: Operator,
): Html {
  const isOwn = requestedBy === operator.id;
  const listed = parts.map(({ payment, cents }, index) => {
    const code = shares.find(({ paymentId }) => paymentId === payment)?.orderCode ?? "";
    return html`${index > 0 && ", "}${moneyIn(cents, currency)} for ${orderLink(code)}`;
  });
  const approve = askFirst({
    label: "Approve",
    text: "Each order gets a credit note of its amount. An order of which nothing is left ends as refunded. There is no undoing it.",
    confirm: "Approve these orders",
    action: `${path}/${assignment}/approve`,
  });
  return html`<p><span class="breakable">${requestedByName}</span> said on ${time(requestedAt)}: ${listed}. <span class="breakable">${reason}</span></p>
${state === "ended" && html`<p>Nothing of this refund is left to assign: it failed, or the orders’ money went back in another way.</p>`}
${state === "waiting" && mayByName(operator, "money.decide") && approve}
${(isOwn || mayByName(operator, "money.decide")) && buttonForm(`${path}/${assignment}/drop`, isOwn ? "Withdraw" : "Refuse", { kind: "quiet-button", about: `the orders of ${id}` })}`;
}

function assignForm({ id, shares, amountCents, currency }: WaitingRefund, form: string, typed: FormValues): Html {
  const left = shares.reduce((sum, { restCents }) => sum + restCents, 0);
  return html`<form class="form" method="post" action="${path}">
<input type="hidden" name="refund" value="${id}">
${left < amountCents && html`<p>Only ${moneyIn(left, currency)} is left of these orders. Give all of it; what the refund has above that belongs to none of them.</p>`}
${shares.map(({ paymentId, orderCode, orderStatus, restCents }) =>
  field({
    name: `part-${paymentId}`,
    form,
    label: `Dollars for order ${shortCode(orderCode)}, in ${orderStatus}`,
    hint: `At most ${moneyIn(restCents, currency)}. Leave it empty for none.`,
    maxLength: 12,
    inputMode: "decimal",
    value: typed[`part-${paymentId}`],
  }),
)}
${textArea({ name: "reason", form, label: "Why it went back", required: true, maxLength: 500, rows: 2, value: typed["reason"] })}
<div class="form-actions"><button type="submit">Say which orders it was for</button></div>
</form>`;
}

/** Reads the typed amounts of the form. @throws ServiceError naming the field */
function partsOf(form: Readonly<Record<string, string>>): { payment: number; cents: number }[] {
  return Object.entries(form).flatMap(([name, typed]) => {
    const payment = /^part-(\d{1,15})$/.exec(name)?.[1];
    if (payment === undefined) return [];
    const cents = centsOf(typed);
    if (cents === 0) throw invalid("Amount must be above zero, or empty for none.");
    return cents === null ? [] : [{ payment: Number(payment), cents }];
  });
}
