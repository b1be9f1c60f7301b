import type { Sql } from "../platform/database/database.ts";
import type { Metrics } from "../platform/metrics.ts";
import { backlogs, type ProviderBacklog } from "./backlog.ts";
import type { ProvidersDeps } from "./open.ts";

/** The figures of providers: what waits is read for each scrape, requests and events are counted by what is returned. */
export function providerMetrics(metrics: Metrics, db: Sql): Required<Pick<ProvidersDeps, "countCall" | "countEvent">> {
  const waiting = (figure: (each: ProviderBacklog) => number) => async () =>
    new Map((await backlogs(db)).map((each) => [each.provider, figure(each)]));
  metrics.gauge(
    "provider_acts_unknown",
    "Acts at providers of which nobody knows whether they were done.",
    "provider",
    waiting(({ unknownActs }) => unknownActs),
  );
  metrics.gauge(
    "provider_events_unworked",
    "Events of providers that wait to be worked on.",
    "provider",
    waiting(({ unworkedEvents }) => unworkedEvents),
  );
  const byOutcome = ["provider", "outcome"] as const;
  const calls = metrics.counter("provider_calls_total", "Requests to providers.", byOutcome);
  const worked = metrics.counter("provider_events_worked_total", "Events of providers that were worked on.", byOutcome);
  return {
    countCall: (provider, outcome) => calls.inc({ provider, outcome }),
    countEvent: (provider, outcome) => worked.inc({ provider, outcome }),
  };
}
