import type { Sql } from "../platform/database/database.ts";
import { sql } from "../platform/database/sql.ts";
import { notDeleted } from "./deleted.ts";
import type { RetentionPlan } from "./plan.ts";
import { sourcesOf } from "./rules.ts";

/** What the plan deletes next: how many documents are due, and when those are that come first after them. */
export type Upcoming = { due: number; next: Date | null; nextRule: string | null };

export async function upcomingDeletions(db: Sql, plan: RetentionPlan, now: Date): Promise<Upcoming> {
  const found: Upcoming[] = [];
  for (const { rows, blobKey, keptUntil, rule } of sourcesOf(plan))
    found.push(
      ...(await db.query<Upcoming>(sql`
WITH kept AS (
  SELECT ${keptUntil} AS until, ${rule} AS rule FROM ${rows} WHERE ${blobKey} IS NOT NULL AND ${notDeleted(blobKey)}
), next AS (
  SELECT until, rule FROM kept WHERE until > ${now} AND until < 'infinity' ORDER BY until LIMIT 1
)
SELECT (SELECT count(*) FROM kept WHERE until <= ${now}) AS due, (SELECT until FROM next) AS next,
  (SELECT rule FROM next) AS "nextRule"`)),
    );
  const first = found.filter(({ next }) => next !== null).sort((a, b) => Number(a.next) - Number(b.next))[0];
  const due = found.reduce((sum, each) => sum + each.due, 0);
  return { due, next: first?.next ?? null, nextRule: first?.nextRule ?? null };
}
