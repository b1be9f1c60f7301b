/**
 * The actions about money on an order's page: allowing a payment again, and booking money that moved outside the
 * processor.
 */
import type { FastifyInstance } from "fastify";
import { requireDecidesNow } from "../../../firms/operators/operators.ts";
import { rowIdIn } from "../../../kernel/platform/text.ts";
import type { MoveDeps } from "../../../orders/fulfilment/fulfilment.ts";
import { type AcceptsPayment, allowPayAgain } from "../../../orders/payments/payments.ts";
import { bookLossPaid, undoLossPaid, undoPaidBack } from "../../../orders/refunds/refunds.ts";
import { centsOf } from "../../ui/forms/cents.ts";
import { done } from "../flash-messages.ts";
import { type ConsoleCall, type ConsoleFrame, consoleRoute } from "../frame/console.ts";
import { lossForm, undoLossForm } from "./loss-forms.ts";
import type { Typed } from "./move-forms.ts";

type MoneyDeps = { frame: ConsoleFrame; moves: MoveDeps; acceptsPayment: AcceptsPayment };
type Show = (call: ConsoleCall<{ code: string }>, typed?: Typed, error?: string) => Promise<string>;

const idOf = (text: string): number => rowIdIn(text) ?? 0;

/** @param show renders the order's page again, with the error of a refused form */
export function moneyRoutes(scope: FastifyInstance, deps: MoneyDeps, show: Show): void {
  consoleRoute(scope, deps.frame, {
    method: "POST",
    url: "/operator/orders/:code/pay-again",
    permission: "money.decide",
    async handle({ params: { code }, operator }) {
      requireDecidesNow(operator, deps.frame.clock());
      const { environment, actor } = operator;
      const { acceptsPayment, moves } = deps;
      await allowPayAgain({ db: moves.db, clock: moves.clock, acceptsPayment }, { code, environment, actor });
      return done(`/operator/orders/${code}`, "pay-again-allowed");
    },
    refused: (call, error) => show(call, undefined, error),
  });

  consoleRoute(scope, deps.frame, {
    method: "POST",
    url: "/operator/orders/:code/paid-back/:document/undo",
    permission: "money.decide",
    async handle({ params: { code, document }, operator, form: { reason = "" } }) {
      await undoPaidBack(deps.moves, operator, { code, document: idOf(document), reason });
      return done(`/operator/orders/${code}`, "payback-undone");
    },
    refused: (call, error) => show(call, { move: `undo-${call.params.document}`, values: call.form, error }),
  });

  lossRoutes(scope, deps, show);
}

/** Adds the forms that enter a firm's checks and wires for a reversed payment in the books, and undo such an entry. */
function lossRoutes(scope: FastifyInstance, deps: MoneyDeps, show: Show): void {
  consoleRoute(scope, deps.frame, {
    method: "POST",
    url: "/operator/orders/:code/lost-payments/:payment",
    permission: "money.decide",
    async handle({ params: { code, payment }, operator, form }) {
      const { amount = "", how = "", reference = "", received = "" } = form;
      const typed = { way: how, reference, receivedOn: received, amountCents: centsOf(amount) ?? 0 };
      await bookLossPaid(deps.moves, operator, { code, payment: idOf(payment), ...typed });
      return done(`/operator/orders/${code}#money-title`, "loss-paid");
    },
    refused: (call, error) => show(call, { move: lossForm(call.params.payment), values: call.form, error }),
  });

  consoleRoute(scope, deps.frame, {
    method: "POST",
    url: "/operator/orders/:code/loss-payments/:booking/undo",
    permission: "money.decide",
    async handle({ params: { code, booking }, operator, form: { reason = "" } }) {
      await undoLossPaid(deps.moves, operator, { code, booking: idOf(booking), reason });
      return done(`/operator/orders/${code}#money-title`, "loss-payment-undone");
    },
    refused: (call, error) => show(call, { move: undoLossForm(call.params.booking), values: call.form, error }),
  });
}
