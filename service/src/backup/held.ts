/** Work that was under way when a backup was made: after a restore nobody knows whether it was done, so it waits for a person. */

import { auditLine } from "../audit/audit.ts";
import type { Clock } from "../platform/clock.ts";
import type { Database, Sql, Tx } from "../platform/database/database.ts";
import { type Statement, sql } from "../platform/database/sql.ts";

/** Neither a queue nor the dispatcher takes what is due, or leased to somebody, until then. */
const never: Statement = sql`'9999-01-01T00:00:00Z'::timestamptz`;

/** Jobs that are due later were not begun; one that ran when the backup was made is due again within this. */
const longestLease: Statement = sql`interval '15 minutes'`;

export type Held = { jobs: { [queue: string]: number }; deliveries: number };

export async function hold(tx: Tx, backupEndedAt: Date): Promise<Held> {
  await tx.query(sql`
    UPDATE jobs SET due_at = ${never} WHERE failed_at IS NULL AND due_at <= greatest(now(), ${backupEndedAt}) + ${longestLease}`);
  await tx.query(sql`UPDATE webhook_deliveries SET leased_until = ${never} WHERE state = 'pending'`);
  return readHeld(tx);
}

export async function readHeld(db: Sql): Promise<Held> {
  const queues = await db.query<{ queue: string; jobs: number }>(sql`
    SELECT queue, count(*)::int AS jobs FROM jobs WHERE failed_at IS NULL AND due_at = ${never} GROUP BY queue ORDER BY queue`);
  const [row] = await db.query<{ deliveries: number }>(sql`
    SELECT count(*)::int AS deliveries FROM webhook_deliveries WHERE state = 'pending' AND leased_until = ${never}`);
  return {
    jobs: Object.fromEntries(queues.map(({ queue, jobs }) => [queue, jobs])),
    deliveries: row?.deliveries ?? 0,
  };
}

/** The last line of the audit log that a backup had. */
export type LastLine = { id: number; at: string };

/** The last line of the audit log. A restored database lacks all that was written after it, except lines of the restore itself. */
export async function readLastLine(db: Sql): Promise<LastLine | null> {
  const [line] = await db.query<LastLine>(sql`
    SELECT id, to_char(occurred_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS at
    FROM audit_log WHERE action NOT IN ('restored', 'restore.released', 'restore.discarded') ORDER BY id DESC LIMIT 1`);
  return line ?? null;
}

/** Releases or discards held jobs and deliveries. A discarded delivery counts as failed, so that its firm can replay it. */
export function release({ db, clock }: { db: Database; clock: Clock }, discard: boolean): Promise<Held> {
  return db.transaction(async (tx) => {
    const held = await readHeld(tx);
    const jobs = sql`failed_at IS NULL AND due_at = ${never}`;
    const deliveries = sql`state = 'pending' AND leased_until = ${never}`;
    const at = clock();
    if (discard) {
      await tx.query(sql`DELETE FROM jobs WHERE ${jobs}`);
      await tx.query(sql`
        UPDATE webhook_deliveries SET state = 'failed', reason = 'discarded after a restore', completed_at = ${at},
          leased_until = NULL WHERE ${deliveries}`);
    } else {
      await tx.query(sql`UPDATE jobs SET due_at = now() WHERE ${jobs}`);
      await tx.query(sql`UPDATE webhook_deliveries SET leased_until = NULL WHERE ${deliveries}`);
      for (const queue of Object.keys(held.jobs)) await tx.query(sql`SELECT pg_notify('jobs', ${queue})`);
    }
    const action = discard ? "restore.discarded" : "restore.released";
    await tx.query(auditLine({ at, action, actor: "operator", detail: held }));
    return held;
  });
}
