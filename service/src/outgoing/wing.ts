import type { TransparencyLog } from "../evidence/transparency-log/transparency-log.ts";
import { hostLimitsOf, type TierLimits, unlimitedHosts } from "../firms/partners/partners.ts";
import { hourMs } from "../kernel/platform/clock.ts";
import { withLongStatements } from "../kernel/platform/database/database.ts";
import type { Metrics } from "../kernel/platform/metrics.ts";
import type { PeriodicTask } from "../kernel/platform/work/periodic.ts";
import type { Resources } from "../kernel/resources.ts";
import { dueBefore, type RetentionPlan } from "../kernel/retention/retention.ts";
import type { Wing } from "../kernel/wing.ts";
import {
  deleteExpiredSecrets,
  dropOldExchanges,
  failingMail,
  openWebhooks,
  sweepDeliveries,
  webhookRoutes,
} from "./webhooks/webhooks.ts";

type Parts = {
  metrics: Metrics;
  rules: { tierLimits: TierLimits; retention: RetentionPlan };
  newestCheckpoint: TransparencyLog["newestSeen"];
};

const mails = [failingMail];

/** Opens webhooks and the dispatcher, which delivers them. */
export function openOutgoingWing(resources: Resources, { metrics, rules, newestCheckpoint }: Parts) {
  const hostLimits = resources.config.rateLimits ? hostLimitsOf(rules.tierLimits) : unlimitedHosts;
  const { dispatcher, webhooks } = openWebhooks(resources, metrics, { hostLimitsOf: hostLimits, newestCheckpoint });
  const wing: Wing = {
    routes: (app, { frame }) => webhookRoutes(app, { frame, webhooks }),
    jobs(jobs, mailDeps) {
      for (const mail of mails) mail.work(jobs, mailDeps);
    },
    tasks: tasksOf(resources, rules.retention),
  };
  return { dispatcher, webhooks, wing };
}

export type Outgoing = ReturnType<typeof openOutgoingWing>;

const tasksOf = ({ db, clock }: Resources, retention: RetentionPlan): PeriodicTask[] => {
  const sweeper = withLongStatements(db);
  return [
    { name: "expired webhook secrets", everyMs: hourMs, work: () => deleteExpiredSecrets(sweeper, clock()) },
    {
      name: "records of old webhook deliveries",
      everyMs: hourMs,
      async work(stopping) {
        const before = dueBefore(retention.webhookDeliveries, clock());
        if (before) await sweepDeliveries(sweeper, before, stopping);
      },
    },
    {
      name: "what was sent and answered in earlier webhook deliveries",
      everyMs: hourMs,
      work: (stopping) => dropOldExchanges(sweeper, stopping),
    },
  ];
};
