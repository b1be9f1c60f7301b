import type { Sql } from "../kernel/platform/database/database.ts";
import { sql } from "../kernel/platform/database/sql.ts";
import type { Metrics } from "../kernel/platform/metrics.ts";
import type { ProviderName } from "./names.ts";
import type { ProvidersDeps } from "./open.ts";

/** The unfinished work of a provider, across all nodes. */
export type ProviderBacklog = {
  provider: ProviderName;
  /** The number of acts that are queued, in progress, or in their first look-ups. */
  waitingActs: number;
  /** The number of acts whose outcome stayed unknown after the first look-ups, so that staff must find it out. */
  unknownActs: number;
  /**
   * The time since which the provider has been unavailable: the first failure of the act that has been delayed longest.
   * Null when no act is delayed.
   */
  awaySince: Date | null;
  unworkedEvents: number;
};

/** The backlogs of all providers with unfinished work. */
export const backlogs = (db: Sql): Promise<ProviderBacklog[]> =>
  db.query<ProviderBacklog>(sql`
    SELECT provider, sum(waiting)::int AS "waitingActs", sum(unclear)::int AS "unknownActs",
      min(away_since) AS "awaySince", sum(events)::int AS "unworkedEvents"
    FROM (
      SELECT provider, (state <> 'unknown')::int AS waiting, (state = 'unknown')::int AS unclear, away_since, 0 AS events
      FROM provider_calls WHERE ended_at IS NULL
      UNION ALL SELECT provider, 0, 0, NULL, 1 FROM provider_events WHERE worked_at IS NULL
    ) AS each GROUP BY provider ORDER BY provider`);

/**
 * Registers the gauges and counters of providers. Each scrape reads the backlog.
 * @returns the functions that count requests and events
 */
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

const batchSize = 500;

/**
 * Deletes, in batches, the payloads and responses of acts that ended before the given time. Also deletes the bytes of
 * processed events that were received before that time. Hashes and outcomes stay.
 */
export async function sweepProviderRecords(db: Sql, before: Date, stopping?: AbortSignal): Promise<void> {
  const batches = [
    sql`UPDATE provider_calls SET payload = NULL, result = NULL, why = NULL WHERE id IN (
      SELECT id FROM provider_calls WHERE payload IS NOT NULL AND ended_at < ${before} ORDER BY ended_at LIMIT ${batchSize}
    ) RETURNING 1`,
    sql`UPDATE provider_events SET content = NULL WHERE id IN (
      SELECT id FROM provider_events WHERE content IS NOT NULL AND worked_at IS NOT NULL AND received_at < ${before}
      ORDER BY received_at LIMIT ${batchSize}
    ) RETURNING 1`,
  ];
  for (const batch of batches) {
    let swept = batchSize;
    while (swept === batchSize && !stopping?.aborted) swept = (await db.query(batch)).length;
  }
}
