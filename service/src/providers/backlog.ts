import type { Sql } from "../platform/database/database.ts";
import { sql } from "../platform/database/sql.ts";
import type { ProviderName } from "./names.ts";

/** What waits at a provider, of all nodes. */
export type ProviderBacklog = {
  provider: ProviderName;
  /** Acts that are wanted or under way. */
  waitingActs: number;
  /** Acts of which nobody knows whether they were done. */
  unknownActs: number;
  /** Since when the provider has taken none, of the act that waits longest; null when none waits for it. */
  awaySince: Date | null;
  unworkedEvents: number;
};

/** Of providers without anything there is no row. */
export const backlogs = (db: Sql): Promise<ProviderBacklog[]> =>
  db.query<ProviderBacklog>(sql`
    SELECT provider, sum(waiting)::int AS "waitingActs", sum(unclear)::int AS "unknownActs",
      min(away_since) AS "awaySince", sum(events)::int AS "unworkedEvents"
    FROM (
      SELECT provider, (state <> 'unknown')::int AS waiting, (state = 'unknown')::int AS unclear, away_since, 0 AS events
      FROM provider_calls WHERE ended_at IS NULL
      UNION ALL SELECT provider, 0, 0, NULL, 1 FROM provider_events WHERE worked_at IS NULL
    ) AS each GROUP BY provider ORDER BY provider`);
