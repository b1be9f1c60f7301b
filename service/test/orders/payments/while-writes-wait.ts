import { until } from "@signsealship/testing/until";
import type { Database } from "../../../src/kernel/platform/database/database.ts";
import { type Statement, sql } from "../../../src/kernel/platform/database/sql.ts";

/** Locks a table until `work` has ended. `work` runs once a write of `begin` waits for the lock. */
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
    await until(async () => (await db.query(sql`SELECT FROM pg_locks WHERE NOT granted`)).length > 0);
    await work();
  });
  await begun;
}
