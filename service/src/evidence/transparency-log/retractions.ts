import {
  formatEntry,
  hashLength,
  type LogEntry,
  type RetractionReason,
  retractionReasons,
  sealEntry,
  tileWidth,
} from "@signsealship/evidence/log";
import { auditLine } from "../../kernel/audit/audit.ts";
import type { Environment } from "../../kernel/identity/identity.ts";
import type { Clock } from "../../kernel/platform/clock.ts";
import type { Database, Sql } from "../../kernel/platform/database/database.ts";
import { sql } from "../../kernel/platform/database/sql.ts";
import { invalid, ServiceError } from "../../kernel/platform/errors.ts";
import { leafHash } from "./grow.ts";
import { queueEntry } from "./queue.ts";
import { hasClosing, hasLine, inOrder, isOneOf, selectHashes, waitForLock } from "./store.ts";
import type { LogName } from "./trees.ts";

/** A retraction in the log, and when it was queued. */
export type Retraction = { reason: RetractionReason; retractedAt: Date };

type RetractedFile = { environment: Environment; sealedSha256: string };

export const retractionEntry = (sealedSha256: string, reason: RetractionReason) =>
  ({ kind: "retract/v1", sealedSha256, reason }) as const satisfies LogEntry;

/**
 * The time and reason of the first retraction of a sealed file in the log; null for a file without one. A line outside
 * the log's tree is ignored, because anybody who can insert rows could have forged it.
 */
export async function retractionOf(db: Sql, { environment, sealedSha256 }: RetractedFile): Promise<Retraction | null> {
  const reasons = new Map(
    retractionReasons.map((reason) => [formatEntry(retractionEntry(sealedSha256, reason)), reason]),
  );
  const found = await db.query<StoredLeaf & { retractedAt: Date }>(sql`
    SELECT log, leaf, line, queued_at AS "retractedAt" FROM log_leaves e
    WHERE ${isOneOf(environment, [...reasons.keys()])} ORDER BY ${inOrder}`);
  for (const row of found) {
    const reason = reasons.get(row.line);
    if (reason && (await isInTile(db, row))) return { reason, retractedAt: row.retractedAt };
  }
  return null;
}

type StoredLeaf = { log: LogName; leaf: number; line: string };

async function isInTile(db: Sql, { log, leaf, line }: StoredLeaf): Promise<boolean> {
  const [tile] = await selectHashes(db, log, [{ level: 0, n: Math.floor(leaf / tileWidth) }]);
  const at = (leaf % tileWidth) * hashLength;
  return tile?.hashes.subarray(at, at + hashLength).equals(leafHash(Buffer.from(line))) === true;
}

const isReason = (text: string): text is RetractionReason => retractionReasons.some((reason) => reason === text);

/**
 * Queues a line that retracts a sealed file in the log. A retraction is public and can't be undone.
 * @throws ServiceError for an unknown reason, for a file that is neither in the log nor queued for it, and for one that
 * was already retracted for this reason
 */
export async function retractSeal(
  { db, clock }: { db: Database; clock: Clock },
  log: Environment,
  { sealedSha256, reason }: { sealedSha256: string; reason: string },
): Promise<void> {
  if (!isReason(reason)) throw invalid(`reason must be one of ${retractionReasons.join(", ")}.`);
  const at = clock();
  if (!(await hasLine(db, log, sealEntry(sealedSha256))) && !(await hasClosing(db, log, sealedSha256)))
    throw new ServiceError("not_found", `The ${log} log has no sealed file with the SHA-256 ${sealedSha256}.`);
  await db.transaction(async (tx) => {
    // Without this lock, two callers could both find no retraction, and queue it twice.
    await waitForLock(tx, log);
    const entry = retractionEntry(sealedSha256, reason);
    if (await hasLine(tx, log, formatEntry(entry)))
      throw new ServiceError("conflict", `This file was retracted as ${reason} before.`);
    await tx.query(queueEntry(log, entry, at));
    await tx.query(
      auditLine({ at, action: "seal.retracted", actor: "operator", detail: { log, sealedSha256, reason } }),
    );
  });
}
