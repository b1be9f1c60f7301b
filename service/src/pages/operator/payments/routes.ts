import type { FastifyInstance, FastifyRequest } from "fastify";
import { may, type Operator, requireDecidesNow } from "../../../firms/operators/operators.ts";
import type { Database } from "../../../kernel/platform/database/database.ts";
import { resolveUnapplied, type UnappliedPayment, unappliedPayments } from "../../../orders/payments/payments.ts";
import { card, emptyState, facts, pageHead } from "../../ui/components.ts";
import { done } from "../../ui/flash-messages.ts";
import { moneyIn, shortCode, time } from "../../ui/format.ts";
import { errorSummary, textArea } from "../../ui/forms/fields.ts";
import { type Html, html } from "../../ui/render.ts";
import { type ConsoleFrame, consolePage, consoleRoute, operatorOf } from "../frame/console.ts";

export type PaymentPagesDeps = { frame: ConsoleFrame; db: Database };

const path = "/operator/payments";

/** Payments that moved no order. Operators note what they did; no button moves an order or money. */
export function paymentRoutes(scope: FastifyInstance, deps: PaymentPagesDeps): void {
  const { db } = deps;
  const { clock } = deps.frame;
  consoleRoute(scope, deps.frame, {
    url: path,
    permission: ["money.decide", "records.read"],
    handle: ({ request }) => show(request),
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

  async function show(request: FastifyRequest, error?: string): Promise<string> {
    const operator = operatorOf(request);
    const payments = await unappliedPayments(deps, operator.environment);
    const body = paymentsBody({ payments, operator, error });
    return consolePage(deps.frame, request, { title: "Payments that fit no order", section: "payments", body });
  }
}

type PaymentsView = { payments: readonly UnappliedPayment[]; operator: Operator; error: string | undefined };

/** Open payments, then recently resolved ones. */
function paymentsBody({ payments, operator, error }: PaymentsView): Html {
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

const amountOf = ({ amount, currency, isAuthentic }: UnappliedPayment): string => {
  if (!isAuthentic) return "Altered outside the service";
  if (amount === null) return "An amount that is not on record";
  return moneyIn(amount, currency);
};

function paymentCard(payment: UnappliedPayment, id: string, mayResolve: boolean): Html {
  const { eventId, receivedAt, orderCode, orderStatus, firmName, paymentIntent, refundedAt, resolution, isAuthentic } =
    payment;
  const about = facts([
    ["Order", html`<a href="/operator/orders/${orderCode}">${shortCode(orderCode)}</a>, now in ${orderStatus}`],
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
  return card(id, amountOf(payment), html`${about}${mayResolve && resolveForm(eventId, id)}`);
}

const resolveForm = (eventId: string, form: string): Html =>
  html`<form class="form" method="post" action="/operator/payments/${encodeURIComponent(eventId)}/resolve">
${textArea({ name: "note", form, label: "What was done about it", required: true, maxLength: 500, rows: 2 })}
<div class="form-actions"><button type="submit">Resolved</button></div>
</form>`;
