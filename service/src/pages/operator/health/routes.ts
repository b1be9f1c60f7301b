import type { FastifyInstance } from "fastify";
import { may } from "../../../firms/operators/operators.ts";
import type { ReadReadiness } from "../../../kernel/http/readiness.ts";
import type { Database } from "../../../kernel/platform/database/database.ts";
import { ServiceError } from "../../../kernel/platform/errors.ts";
import { selectQueues } from "../../../kernel/platform/jobs/jobs.ts";
import { isPlainText } from "../../../kernel/platform/text.ts";
import { lastReconciliation, openDifferences } from "../../../orders/payments/payments.ts";
import { backlogs, type Providers } from "../../../providers/providers.ts";
import type { SupplyState } from "../../../signing/notaries/notaries.ts";
import { retryQueue } from "../../../upkeep/console/console.ts";
import type { Finding } from "../../../upkeep/doctor/doctor.ts";
import { done } from "../flash-messages.ts";
import { type ConsoleFrame, consolePage, consoleRoute } from "../frame/console.ts";
import { checksBody, healthBody, type Money } from "./page.ts";
import { providerHealths } from "./providers.ts";

export type HealthPageDeps = {
  frame: ConsoleFrame;
  db: Database;
  readiness: ReadReadiness;
  notaryState: () => Promise<SupplyState>;
  providers: Pick<Providers, "accounts">;
  /** True if payments are configured. */
  acceptsPayments: boolean;
  /** Checks all parts of the running service, as the command `doctor` does, or returns results of the last minute. */
  examine: () => Promise<Finding[]>;
};

/** Adds the health of the service: its dependencies and its queues. */
export function healthRoutes(scope: FastifyInstance, deps: HealthPageDeps): void {
  const { frame, db, readiness } = deps;

  consoleRoute(scope, deps.frame, {
    url: "/operator/health",
    permission: "health.read",
    async handle({ request, operator }) {
      const [{ checks }, queues, waiting, notaries, money] = await Promise.all([
        readiness(),
        selectQueues(db),
        backlogs(db),
        deps.notaryState(),
        deps.acceptsPayments ? readMoney(db) : null,
      ]);
      const providers = providerHealths(deps.providers.accounts(), waiting);
      const mayRetry = may(operator, "partners.manage");
      const body = healthBody({ notaries, checks, queues, providers, mayRetry, money });
      return consolePage(deps.frame, request, { title: "Health", section: "health", body });
    },
  });

  consoleRoute(scope, deps.frame, {
    url: "/operator/health/checks",
    permission: "health.read",
    async handle({ request }) {
      const body = checksBody(await deps.examine());
      return consolePage(deps.frame, request, { title: "Checks", section: "health", body });
    },
  });

  consoleRoute(scope, deps.frame, {
    method: "POST",
    url: "/operator/health/queues/:queue/retry",
    permission: "partners.manage",
    async handle({ params: { queue }, operator }) {
      if (!isPlainText(queue)) throw new ServiceError("not_found", "No such queue.");
      await retryQueue({ db, clock: frame.clock }, { queue, actor: operator.actor });
      return done("/operator/health", "jobs-retried");
    },
  });
}

/** The last comparison of our books with the processor's, and the differences that a person must resolve. */
async function readMoney(db: Database): Promise<Money> {
  const [last, differences] = await Promise.all([lastReconciliation(db), openDifferences(db)]);
  return { last, differences };
}
