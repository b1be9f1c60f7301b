/**
 * Work that was in progress when a backup was made. After a restore, its outcome is unknown, so a person must decide
 * whether to repeat it.
 */

import { auditLine, lastLine } from "../../kernel/audit/audit.ts";
import type { Clock } from "../../kernel/platform/clock.ts";
import type { Database, Sql, Tx } from "../../kernel/platform/database/database.ts";
import { countHeldJobs, discardHeldJobs, holdJobs, releaseHeldJobs } from "../../kernel/platform/jobs/jobs.ts";
import {
  countHeldDeliveries,
  discardHeldDeliveries,
  holdDeliveries,
  releaseHeldDeliveries,
} from "../../outgoing/webhooks/webhooks.ts";

export type Held = { jobs: { [queue: string]: number }; deliveries: number };

export async function hold(tx: Tx, backupEndedAt: Date): Promise<Held> {
  await holdJobs(tx, backupEndedAt);
  await holdDeliveries(tx);
  return readHeld(tx);
}

export const readHeld = async (db: Sql): Promise<Held> => ({
  jobs: await countHeldJobs(db),
  deliveries: await countHeldDeliveries(db),
});

/**
 * The last line of the audit log, except for lines of the restore itself. It shows how old the restored database is.
 */
export const readLastLine = (db: Sql) => lastLine(db, ["restored", "restore.released", "restore.discarded"]);

/** Releases or discards held jobs and deliveries. A discarded delivery counts as failed, so the firm can replay it. */
export function release({ db, clock }: { db: Database; clock: Clock }, discard: boolean): Promise<Held> {
  return db.transaction(async (tx) => {
    const held = await readHeld(tx);
    const at = clock();
    if (discard) {
      await discardHeldJobs(tx);
      await discardHeldDeliveries(tx, at);
    } else {
      await releaseHeldJobs(tx, Object.keys(held.jobs));
      await releaseHeldDeliveries(tx);
    }
    const action = discard ? "restore.discarded" : "restore.released";
    await tx.query(auditLine({ at, action, actor: "operator", detail: held }));
    return held;
  });
}
