import type { Database } from "../service/src/kernel/platform/database/database.ts";
import { type Statement, sql } from "../service/src/kernel/platform/database/sql.ts";

/**
 * Makes the waiting jobs of a queue, or of all queues, due now, and wakes the workers. Use this function and not an
 * UPDATE: it retries its transaction after a deadlock with a worker.
 */
export function makeJobsDue(db: Database, queue?: string): Promise<unknown> {
  const which: Statement = queue === undefined ? sql`true` : sql`queue = ${queue}`;
  return db.transaction((tx) =>
    tx.query(sql`
      WITH due AS (UPDATE jobs SET due_at = now() WHERE failed_at IS NULL AND ${which} RETURNING queue)
      SELECT pg_notify('jobs', queue) FROM due GROUP BY queue`),
  );
}
