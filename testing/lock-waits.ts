import type { Database, Tx } from "../service/src/kernel/platform/database/database.ts";
import { type Statement, sql } from "../service/src/kernel/platform/database/sql.ts";
import { until } from "./until.ts";

/**
 * True if a statement waits for a lock that the transaction holds. Waits for other locks are ignored: a service that
 * starts, for example, also waits for locks of its own.
 */
export async function isWaitedFor(tx: Tx): Promise<boolean> {
  const waiting = await tx.query(sql`
    SELECT FROM pg_locks WHERE NOT granted AND pg_backend_pid() = ANY(pg_blocking_pids(pid))`);
  return waiting.length > 0;
}

/**
 * Locks a table and runs `begin`. Once a write of `begin` waits for the lock, runs `work`, and then releases the lock.
 */
export async function whileWritesWait(
  db: Database,
  table: Statement,
  begin: () => Promise<unknown>,
  work: () => Promise<void>,
): Promise<void> {
  let begun: Promise<unknown> = Promise.resolve();
  await db.transaction(async (tx) => {
    await tx.query(sql`LOCK TABLE ${table} IN SHARE ROW EXCLUSIVE MODE`);
    begun = begin().catch(() => null);
    await until(() => isWaitedFor(tx));
    await work();
  });
  await begun;
}
