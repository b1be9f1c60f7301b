import type { FastifyInstance } from "fastify";
import { auditLine } from "../../../audit/audit.ts";
import type { Finding } from "../../../doctor/doctor.ts";
import type { ReadReadiness } from "../../../http/readiness.ts";
import { may } from "../../../operators/operators.ts";
import type { Clock } from "../../../platform/clock.ts";
import type { Database } from "../../../platform/database/database.ts";
import { ServiceError } from "../../../platform/errors.ts";
import { retryFailedJobs, selectQueues } from "../../../platform/jobs/jobs.ts";
import { isPlainText } from "../../../platform/text.ts";
import { backlogs, type Providers } from "../../../providers/providers.ts";
import { done } from "../../ui/flash-messages.ts";
import { type ConsoleDeps, consolePage, consoleRoute } from "../frame/console.ts";
import { checksBody, healthBody } from "./page.ts";
import { providerHealths } from "./providers.ts";

export type HealthPageDeps = ConsoleDeps & {
  db: Database;
  clock: Clock;
  readiness: ReadReadiness;
  providers: Pick<Providers, "accounts">;
  /** Looks at all that the service is made of, as `doctor` does. */
  examine: () => Promise<Finding[]>;
};

/** How the service itself is: what it depends on, and its queues. */
export function healthRoutes(scope: FastifyInstance, deps: HealthPageDeps): void {
  const { db, clock, readiness } = deps;

  consoleRoute(scope, deps, {
    url: "/operator/health",
    permission: "health.read",
    async handle({ request, operator }) {
      const [{ checks }, queues, waiting] = await Promise.all([readiness(), selectQueues(db), backlogs(db)]);
      const providers = providerHealths(deps.providers.accounts(), waiting);
      const body = healthBody({ checks, queues, providers, mayRetry: may(operator, "partners.manage") });
      return consolePage(deps, request, { title: "Health", section: "health", body });
    },
  });

  consoleRoute(scope, deps, {
    url: "/operator/health/checks",
    permission: "health.read",
    async handle({ request }) {
      const body = checksBody(await deps.examine());
      return consolePage(deps, request, { title: "Checks", section: "health", body });
    },
  });

  consoleRoute(scope, deps, {
    method: "POST",
    url: "/operator/health/queues/:queue/retry",
    permission: "partners.manage",
    async handle({ params: { queue }, operator }) {
      if (!isPlainText(queue)) throw new ServiceError("not_found", "No such queue.");
      await db.transaction(async (tx) => {
        const retried = await retryFailedJobs(tx, queue);
        const line = { at: clock(), action: "jobs.retried", actor: operator.actor, detail: { queue, retried } };
        if (retried > 0) await tx.query(auditLine(line));
      });
      return done("/operator/health", "jobs-retried");
    },
  });
}
