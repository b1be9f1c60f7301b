import type { FastifyInstance, FastifyRequest } from "fastify";
import { requireDecidesNow } from "../../../operators/operators.ts";
import { resolveUnapplied, unappliedPayments } from "../../../payments/payments.ts";
import type { Clock } from "../../../platform/clock.ts";
import type { Database } from "../../../platform/database/database.ts";
import { done } from "../../ui/flash-messages.ts";
import { type ConsoleDeps, consolePage, consoleRoute, operatorOf } from "../frame/console.ts";
import { paymentsBody } from "./page.ts";

export type PaymentPagesDeps = ConsoleDeps & { db: Database; clock: Clock };

const path = "/operator/payments";

/** Money that moved no order. What was done about it is noted; no button moves an order or money. */
export function paymentRoutes(scope: FastifyInstance, deps: PaymentPagesDeps): void {
  consoleRoute(scope, deps, {
    url: path,
    permission: ["money.decide", "records.read"],
    handle: ({ request }) => show(request),
  });

  consoleRoute(scope, deps, {
    method: "POST",
    url: `${path}/:eventId/resolve`,
    permission: "money.decide",
    async handle({ operator, params: { eventId }, form: { note = "" } }) {
      requireDecidesNow(operator, deps.clock());
      await resolveUnapplied(deps, operator, { eventId, environment: operator.environment, note });
      return done(path, "payment-resolved");
    },
    refused: ({ request }, error) => show(request, error),
  });

  async function show(request: FastifyRequest, error?: string): Promise<string> {
    const operator = operatorOf(request);
    const payments = await unappliedPayments(deps, operator.environment);
    const body = paymentsBody({ payments, operator, error });
    return consolePage(deps, request, { title: "Payments that fit no order", section: "payments", body });
  }
}
