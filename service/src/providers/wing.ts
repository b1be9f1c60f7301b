import type { Fetch } from "../kernel/platform/bounds/bounded-request.ts";
import { minuteMs } from "../kernel/platform/clock.ts";
import type { Metrics } from "../kernel/platform/metrics.ts";
import type { Resources } from "../kernel/resources.ts";
import type { Wing } from "../kernel/wing.ts";
import { accountsOf, openProviders, providerMetrics, providerWebhook, resumeStranded } from "./providers.ts";

/** Opens the accounts at providers. */
export function openProvidersWing(resources: Resources, metrics: Metrics, fetch: Fetch) {
  const { config, db, clock, log, secrets } = resources;
  const counters = providerMetrics(metrics, db);
  const providers = openProviders({ db, clock, log, secrets, fetch, ...counters }, accountsOf(config));
  const wing: Wing = {
    routes: (app) => providerWebhook(app, { log, metrics, providers }),
    jobs: (jobs) => providers.work(jobs),
    tasks: [
      {
        name: "acts of providers without a job",
        everyMs: 10 * minuteMs,
        atStart: true,
        work: () => resumeStranded({ db, clock }),
      },
    ],
  };
  return { providers, wing };
}

export type ProvidersWing = ReturnType<typeof openProvidersWing>;
