/**
 * Deletes recordings when their retention has ended. The rules of the notary's state at the start of a recording define
 * how long it is stored.
 */

import { auditLine } from "../../../kernel/audit/audit.ts";
import type { Blobs } from "../../../kernel/platform/blobs/blobs.ts";
import type { Clock } from "../../../kernel/platform/clock.ts";
import type { Database, Sql } from "../../../kernel/platform/database/database.ts";
import { sql } from "../../../kernel/platform/database/sql.ts";
import type { Log } from "../../../kernel/platform/logs.ts";
import { movedSince } from "../../../kernel/test-clock/test-clock.ts";
import { leftJoinOrder } from "../../../orders/order/order.ts";
import { findNotary } from "../commissions/store.ts";
import type { ReadEligibility } from "../eligibility/changes/in-force.ts";
import { tellOfRecording } from "./events.ts";
import { deleteMessages } from "./messages.ts";
import { changeRecording, forgetBlobs, lockRecording } from "./store.ts";

/**
 * How many years a notary's recordings are stored. Null if the rules of the notary's state name no number: the
 * recordings are then stored permanently.
 */
export async function yearsOf(db: Sql, readEligibility: ReadEligibility, notaryId: string): Promise<number | null> {
  const notary = await findNotary(db, notaryId);
  if (!notary) return null;
  const { rules } = await readEligibility(db);
  return rules.of(notary.state).online.recordingYears?.value ?? null;
}

export function yearsAfter(start: Date, years: number): string {
  const end = new Date(start);
  end.setUTCFullYear(end.getUTCFullYear() + years);
  return end.toISOString().slice(0, 10);
}

type SweepDeps = { db: Database; clock: Clock; blobs: Blobs; log: Log };

/**
 * The SQL condition for recordings that are due for deletion. A recording of a test order becomes due by the firm's
 * test clock.
 */
const due = (now: Date) => sql`
  r.ended_at IS NOT NULL AND r.deleted_at IS NULL AND NOT r.is_held
  AND r.keep_until < ((${now}::timestamptz + CASE WHEN r.environment = 'test' AND o.partner_id IS NOT NULL
    THEN ${movedSince(sql`r.started_at`, sql`o.partner_id`)} ELSE interval '0' END) AT TIME ZONE 'UTC')::date`;

const from = sql`FROM recordings r ${leftJoinOrder(sql`r.order_id`)}`;
const maxAtOnce = 100;

/** Deletes recordings whose retention has ended and that are not held. */
export async function sweepRecordings(deps: SweepDeps, stopping: AbortSignal): Promise<void> {
  const { db, clock, log } = deps;
  const found = await db.query<{ id: string }>(
    sql`SELECT r.id ${from} WHERE ${due(clock())} ORDER BY r.keep_until, r.id LIMIT ${maxAtOnce}`,
  );
  for (const { id } of found) {
    if (stopping.aborted) return;
    await deleteIfDue(deps, id).catch((error: unknown) =>
      log.error({ err: error, id }, "a recording whose time is over stays"),
    );
  }
}

/**
 * Deletes a recording if it is still due. First deletes its encryption key, so that copies of its blobs in a backup
 * can't be decrypted. The hashes, the lines of the chain and the manifest stay.
 */
async function deleteIfDue({ db, clock, blobs }: SweepDeps, id: string): Promise<void> {
  const at = clock();
  const removed = await db.transaction(async (tx) => {
    const recording = await lockRecording(tx, id);
    // Checks again under the lock, because a hold may have been set since the recording was found.
    const [still] = await tx.query(sql`SELECT ${from} WHERE r.id = ${id} AND ${due(at)}`);
    if (!still) return [];
    await changeRecording(tx, id, { deletedAt: at });
    await deleteMessages(tx, id);
    const { orderId, manifestSha256, keepUntil } = recording;
    const detail = { recording: id, manifestSha256, keepUntil };
    await tx.query(auditLine({ at, action: "recording.deleted", actor: "system", orderId, detail }));
    await tellOfRecording(tx, "recording.deleted", recording, at, "retention");
    return forgetBlobs(tx, id);
  });
  for (const key of removed) await blobs.discard(key);
}
