import type { FastifyInstance, FastifyRequest } from "fastify";
import { mayNow, type Operator, requireDecidesNow } from "../../../firms/operators/operators.ts";
import type { Database } from "../../../kernel/platform/database/database.ts";
import { nullIfAltered } from "../../../kernel/platform/database/state-mac.ts";
import { isPlainLines, isUuid } from "../../../kernel/platform/text.ts";
import {
  debtsOfFirms,
  endCharge,
  endPendingPayment,
  type OpenLoss,
  type PendingPayment,
  type Processor,
  pendingPayments,
  resolveUnapplied,
  type StuckCharges,
  stuckCharges,
  type UnappliedPayment,
  unappliedPayments,
} from "../../../orders/payments/payments.ts";
import {
  namesNeeded,
  type RefundDeps,
  requestUnappliedRefund,
  type WaitingRefund,
  waitingRefunds,
} from "../../../orders/refunds/refunds.ts";
import { card, emptyState, facts, pageHead } from "../../ui/components.ts";
import { moneyIn, time } from "../../ui/format.ts";
import { buttonForm } from "../../ui/forms/button-form.ts";
import { errorSummary, textArea } from "../../ui/forms/fields.ts";
import type { FormValues } from "../../ui/forms/form-body.ts";
import { type Html, html } from "../../ui/render.ts";
import { done } from "../flash-messages.ts";
import { type ConsoleFrame, consolePage, consoleRoute, operatorOf } from "../frame/console.ts";
import { mayByName, missingForMoney } from "../frame/passkey-first.ts";
import { assignmentRoutes, byHandCard, mayAsk, orderLink, paymentsPath as path } from "./by-hand.ts";

export type PaymentPagesDeps = { frame: ConsoleFrame; db: Database; refunds: RefundDeps; processor: Processor | null };

/**
 * Adds the page about payments that fit no order, have had no answer, or were taken back by banks. One operator
 * requests to return money, and another one approves. With REFUND_APPROVAL=solo, the same person may do both.
 *
 * Only one button here can change an order's status: it approves for which orders somebody made a refund at the
 * processor. An order whose money was all returned then becomes Refunded.
 */
export function paymentRoutes(scope: FastifyInstance, deps: PaymentPagesDeps): void {
  const { db } = deps;
  const { clock } = deps.frame;
  consoleRoute(scope, deps.frame, {
    url: path,
    permission: [...mayAsk, "records.read"],
    handle: ({ request }) => show(request),
  });

  consoleRoute(scope, deps.frame, {
    method: "POST",
    url: `${path}/:eventId/refund`,
    permission: mayAsk,
    async handle({ operator, params: { eventId }, form: { reason = "" } }) {
      const id = await requestUnappliedRefund(deps.refunds, operator, { eventId, reason });
      return done(`/operator/refunds/${id}`, "refund-requested");
    },
    refused: ({ request }, error) => show(request, error),
  });

  consoleRoute(scope, deps.frame, {
    method: "POST",
    url: `${path}/:eventId/resolve`,
    permission: "money.decide",
    async handle({ operator, params: { eventId }, form: { note = "" } }) {
      requireDecidesNow(operator, clock());
      await resolveUnapplied({ db, clock }, operator, { eventId, environment: operator.environment, note });
      return done(path, "payment-resolved");
    },
    refused: ({ request }, error) => show(request, error),
  });

  consoleRoute(scope, deps.frame, {
    method: "POST",
    url: `${path}/pending/:id/ask`,
    permission: "money.decide",
    async handle({ operator, params: { id } }) {
      requireDecidesNow(operator, clock());
      const { environment, actor } = operator;
      await endPendingPayment({ db, clock, processor: deps.processor }, { id, environment, actor });
      return done(path, "bank-payment-ended");
    },
    refused: ({ request }, error) => show(request, error),
  });

  consoleRoute(scope, deps.frame, {
    method: "POST",
    url: `${path}/charges/:id/end`,
    permission: "money.decide",
    async handle({ operator, params: { id } }) {
      requireDecidesNow(operator, clock());
      const { environment, actor } = operator;
      await endCharge({ db, clock, processor: deps.processor }, { id, environment, actor }, true);
      return done(path, "charge-ended");
    },
    refused: ({ request }, error) => show(request, error),
  });

  assignmentRoutes(scope, deps, show);

  async function show(request: FastifyRequest, error?: string, typed?: FormValues): Promise<string> {
    const operator = operatorOf(request);
    const [payments, pending, charges, byHand, debts] = await Promise.all([
      unappliedPayments(deps, operator.environment),
      pendingPayments({ db, clock }, operator.environment),
      stuckCharges({ db, clock }, operator.environment, afterChargeOf(request)),
      waitingRefunds({ db }, operator, afterOf(request)),
      debtsOfFirms(db, operator.environment).catch(nullIfAltered),
    ]);
    const body = paymentsBody({ payments, pending, charges, byHand, debts, operator, error, typed });
    return consolePage(deps.frame, request, { title: "Payments that fit no order", section: "payments", body });
  }
}

/** The refund after which the list continues, from the URL; null for its first page. */
function afterOf({ query }: FastifyRequest): string | null {
  const { after } = query as { after?: unknown };
  return typeof after === "string" && isPlainLines(after) && after.length <= 255 ? after : null;
}

/** The charge after which the list continues, from the URL; null for its first page. */
function afterChargeOf({ query }: FastifyRequest): string | null {
  const { charge } = query as { charge?: unknown };
  return typeof charge === "string" && isUuid(charge) ? charge : null;
}

type Debt = OpenLoss & { firmName: string };

type PaymentsView = {
  payments: readonly UnappliedPayment[];
  pending: readonly PendingPayment[];
  charges: StuckCharges;
  byHand: readonly WaitingRefund[];
  /** The payments that banks reversed and that firms still owe; null if a row about one was altered. */
  debts: readonly Debt[] | null;
  operator: Operator;
  error: string | undefined;
  typed: FormValues | undefined;
};

/** Open payments that fit no order, other payments that need an operator, then recently resolved ones. */
function paymentsBody(view: PaymentsView): Html {
  const { payments, pending, charges, byHand, debts, operator, error, typed } = view;
  const [open, ended] = [false, true].map((hasEnded) =>
    payments.filter(({ resolution, refundedAt }) => (resolution !== null || refundedAt !== null) === hasEnded),
  );
  const lead =
    "Payments that arrived too late, a second time, or after their refund, and so paid for no order. Ask for a refund: another person approves it, and the processor refunds only this amount. If you handled a payment in another way, note it here.";
  return html`${pageHead("Payments that fit no order", lead)}
${errorSummary(error)}
${(operator.id === null ? [open ?? [], byHand] : [open ?? [], byHand, pending, charges.charges]).some(({ length }) => length > 0) && missingForMoney(operator, namesNeeded)}
<div class="panels">
${open?.length ? open.map((each, index) => paymentCard(each, `payment-${index}`, operator)) : emptyState("Nothing waits", "Every payment has moved its order.")}
${byHand.length > 0 && byHandCard(byHand, operator, typed)}
${pending.length > 0 && card("pending", "Waiting for a bank", pendingList(pending, operator))}
${(charges.charges.length > 0 || charges.next !== null) && card("charges", "Charges of firms without an answer", chargeList(charges, operator))}
${debts?.length !== 0 && card("debts", "Owed by firms for payments that banks took back", debtList(debts))}
${ended?.map((each, index) => paymentCard(each, `resolved-${index}`, null))}
</div>`;
}

/**
 * The payments that banks reversed and that firms still owe. A check or a wire for one is booked on its order's page.
 */
const debtList = (debts: readonly Debt[] | null): Html =>
  debts === null
    ? html`<p>A record of these debts was altered in the database, so they can’t be listed.</p>`
    : html`<p>When a firm pays by check or wire, book it on the order’s page.</p>
<ul class="plain-list">${debts.map(
        ({ firmName, orderCode, openCents, paidAt }) =>
          html`<li>${firmName}: ${moneyIn(openCents, "usd")} for ${orderLink(orderCode)}, payment of ${time(paidAt)}</li>`,
      )}</ul>`;

/**
 * Bank payments in process. No other payment is possible for their orders until the bank has answered, or an operator
 * has ended the wait.
 */
const pendingList = (pending: readonly PendingPayment[], operator: Operator): Html =>
  html`<p>Their payers have finished, and the money is on its way. Ask the payment processor when one takes too long: where the payment failed, the orders can be paid again.</p>
${pending.map(({ id, amountCents, createdAt, isOverdue, isElsewhere, orderCodes }) => {
  const orders = orderCodes.map((code, index) => html`${index > 0 && ", "}${orderLink(code)}`);
  const late = isOverdue && html` <strong>The bank is late.</strong>`;
  return html`<div class="room-part"><p>${moneyIn(amountCents, "usd")} for ${orders}, paid for since ${time(createdAt)}${late}${isElsewhere && inEarlierAccount}</p>
${mayNow(operator, "money.decide") && buttonForm(`${path}/pending/${id}/ask`, isElsewhere ? "It failed: end the wait" : "Ask the payment processor", { kind: "quiet-button", about: `about ${moneyIn(amountCents, "usd")}` })}</div>`;
})}`;

const inEarlierAccount =
  " It is in an earlier account of the payment processor: look there. If it failed there, end the wait here. If it was paid there, its event has to come from there.";

/** Charges of firms' own cards and bank accounts for which the processor's event is overdue. */
const chargeList = ({ charges, next }: StuckCharges, operator: Operator): Html =>
  html`<p>Nothing else can be paid for their orders until the payment processor has answered. To end a charge cancels it there first; money that has arrived stays, and its order waits for the event.</p>
${charges.map(
  ({ id, amountCents, askedAt, orderCode, orderIds, text }) =>
    html`<div class="room-part"><p>${moneyIn(amountCents, "usd")} for ${orderLink(orderCode)}${orderIds.length > 1 && ` and ${orderIds.length - 1} more`}, since ${time(askedAt)}. ${text}</p>
${mayNow(operator, "money.decide") && buttonForm(`${path}/charges/${id}/end`, "End the charge", { kind: "quiet-button", about: `of ${moneyIn(amountCents, "usd")}` })}</div>`,
)}
${next !== null && html`<p><a href="${path}?charge=${next}">Later charges</a></p>`}`;

const amountOf = ({ amount, currency, isAuthentic }: UnappliedPayment): string => {
  if (!isAuthentic) return "Altered outside the service";
  if (amount === null) return "An amount that is not on record";
  return moneyIn(amount, currency);
};

/**
 * @param operator the operator who sees the card, whose permissions decide which forms it shows; null for a card
 * without forms
 */
function paymentCard(payment: UnappliedPayment, id: string, operator: Operator | null): Html {
  const { eventId, receivedAt, orderCode, orderStatus, firmName, paymentIntent, refundedAt, resolution, isAuthentic } =
    payment;
  const about = facts([
    ["Order", html`${orderLink(orderCode)}, now in ${orderStatus}`],
    [
      "Share",
      payment.isShared
        ? "One order’s share of a payment for several orders. Never send the whole payment back: the other orders go on."
        : null,
    ],
    ["Firm", html`<span class="breakable">${firmName}</span>`],
    ["Received", time(receivedAt)],
    ["Payment intent", isAuthentic ? paymentIntent && html`<code class="breakable">${paymentIntent}</code>` : null],
    ["Event", html`<code class="breakable">${eventId}</code>`],
    [
      "Held",
      !isAuthentic ? "Look at the payment processor" : refundedAt ? html`No: refunded ${time(refundedAt)}` : "Yes",
    ],
    ["Resolved", resolution && html`<span class="breakable">${resolution.by}</span>, ${time(new Date(resolution.at))}`],
    ["Note", resolution && html`<span class="breakable">${resolution.note}</span>`],
  ]);
  return card(id, amountOf(payment), html`${about}${operator && forms(payment, id, operator)}`);
}

const forms = ({ eventId, amount, isAuthentic }: UnappliedPayment, id: string, operator: Operator): Html =>
  html`${isAuthentic && amount !== null && mayAsk.some((each) => mayByName(operator, each)) && refundForm(eventId, id)}
${mayNow(operator, "money.decide") && resolveForm(eventId, id)}`;

const refundForm = (eventId: string, form: string): Html =>
  html`<form class="form" method="post" action="${path}/${encodeURIComponent(eventId)}/refund">
${textArea({ name: "reason", form: `${form}-refund`, label: "Why it goes back", required: true, maxLength: 500, rows: 2 })}
<div class="form-actions"><button type="submit">Ask that it goes back</button></div>
</form>`;

const resolveForm = (eventId: string, form: string): Html =>
  html`<form class="form" method="post" action="/operator/payments/${encodeURIComponent(eventId)}/resolve">
${textArea({ name: "note", form, label: "What was done about it", required: true, maxLength: 500, rows: 2 })}
<div class="form-actions"><button type="submit" class="quiet-button">Resolved another way</button></div>
</form>`;
