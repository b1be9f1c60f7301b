import { auditLine } from "../audit/audit.ts";
import type { Blobs } from "../platform/blobs/blobs.ts";
import { type Database, longStatements, type Sql, type StatementTime, type Tx } from "../platform/database/database.ts";
import { nothing, type Statement, sql } from "../platform/database/sql.ts";
import type { Marked } from "../platform/database/state-mac.ts";
import type { Log } from "../platform/logs.ts";
import type { RowMac } from "../platform/row-mac.ts";
import { notDeleted } from "./deleted.ts";
import { markMac } from "./marks.ts";
import type { RetentionPlan } from "./plan.ts";
import { type Source, type SourceOf, unneeded } from "./source.ts";

/** Deletes one table's rows about documents whose blobs are deleted. Runs in the caller's transaction. */
export type Forget = (tx: Tx, blobKeys: readonly string[]) => Promise<void>;

export type RetentionDeps = {
  db: Database;
  blobs: Blobs;
  rowMac: RowMac;
  log: Log;
  sources: readonly SourceOf[];
  forgets: readonly Forget[];
};

const batchSize = 200;

// The number of the advisory lock for marking blobs as deleted. Only the node that has the lock marks blobs.
const marksLock = 7_246_006;

// The time limit of statements that run after a test clock was advanced. The limit is short, because the clocks of
// other firms must not wait long. The hourly run deletes the blobs that are left.
const testStatements: StatementTime = { statementMs: 15_000 };

/**
 * Deletes blobs whose retention period has ended, in batches. A transaction marks the blobs of a batch as deleted and
 * writes audit lines. Then the blobs are removed from the store. If a crash or an error prevents that,
 * `kernel/platform/blobs/orphans.ts` removes them later.
 *
 * If a source has `authentic`, its rows with an invalid MAC are skipped. If a source has `confirmed`, its unconfirmed
 * rows are skipped. For example, an audit line must confirm that a template was archived. Several nodes may run this
 * function concurrently.
 * @param testOf the firm whose test documents are deleted; null for all documents
 * @returns the number of marked blobs
 */
export async function deleteDue(
  deps: RetentionDeps,
  plan: RetentionPlan,
  now: Date,
  stopping?: AbortSignal,
  testOf: string | null = null,
): Promise<number> {
  let deleted = 0;
  const sources = deps.sources.map((sourceOf) => sourceOf(plan));
  for (const source of sources) {
    let after: string | undefined = source.first;
    while (after !== undefined && !stopping?.aborted) {
      const batch: Batch = await deps.db.transaction(
        (tx) => markBatch(tx, { ...deps, sources }, source, { after: after ?? "", now, testOf }),
        testOf === null ? longStatements : testStatements,
      );
      await Promise.all(batch.blobKeys.map(deps.blobs.discard));
      if (batch.blobKeys.length > 0)
        deps.log.info(
          { rows: source.table, blobs: batch.blobKeys.length },
          "documents were deleted by the retention plan",
        );
      deleted += batch.blobKeys.length;
      after = batch.last;
    }
  }
  return deleted;
}

/**
 * The result of one batch: the keys of the blobs that it marked, and the id of its last due row. `last` is undefined if
 * no due rows are left.
 */
type Batch = { blobKeys: string[]; last: string | undefined };

type Page = { after: string; now: Date; testOf: string | null };

async function markBatch(
  tx: Tx,
  { rowMac, sources, forgets }: Pick<RetentionDeps, "rowMac" | "forgets"> & { sources: readonly Source[] },
  source: Source,
  page: Page,
): Promise<Batch> {
  const { now } = page;
  const due = await tx.query<{ id: string; isAuthentic?: boolean }>(dueStatement(source, page));
  const authentic = due.filter(({ isAuthentic = true }) => isAuthentic).map(({ id }) => id);
  const ids = source.confirmed ? await source.confirmed(tx, rowMac, authentic) : authentic;
  const found = ids.length === 0 ? [] : await tx.query<DueBlob>(dueBlobsStatement(source, sources, ids, now));
  const altered = found.length === 0 ? new Set() : await alteredAmong(tx, source, found);
  const blobs = found.filter(({ blobKey }) => !altered.has(blobKey));
  if (blobs.length > 0) await tx.query(sql`SELECT pg_advisory_xact_lock(${marksLock})`);
  const written = blobs.length === 0 ? [] : await tx.query<DueBlob>(markStatement(rowMac, blobs, now));
  for (const [rule, those] of Map.groupBy(written, (blob) => blob.rule)) {
    const detail = { rule, documents: those.length };
    await tx.query(auditLine({ at: now, action: "documents.deleted", actor: "system", detail }));
  }
  const blobKeys = written.map(({ blobKey }) => blobKey);
  if (blobKeys.length > 0) for (const forget of forgets) await forget(tx, blobKeys);
  return { blobKeys, last: due.at(-1)?.id };
}

/**
 * Locks all rows of the source that refer to these blobs, even rows in another batch. Does nothing for a source without
 * `lockAll` or without `authentic`.
 * @returns the keys of the blobs to which a row with an invalid MAC refers
 */
async function alteredAmong(
  tx: Tx,
  { rows, blobKey, lockAll, authentic }: Source,
  blobs: readonly DueBlob[],
): Promise<ReadonlySet<string>> {
  if (!lockAll || !authentic) return new Set();
  const keys = blobs.map(({ blobKey }) => blobKey);
  const found = await tx.query<{ blobKey: string } & Marked>(sql`
    SELECT ${blobKey} AS "blobKey", ${authentic} FROM ${rows} WHERE ${blobKey} = ANY (${keys}::text[]) ${lockAll}`);
  return new Set(found.filter(({ isAuthentic }) => !isAuthentic).map(({ blobKey }) => blobKey));
}

/**
 * Selects a batch of due rows, and locks rows whose state can still change. Exported so that a test can check its query
 * plan.
 */
export const dueStatement = (
  { rows, id, lock, blobKey, deletableAt, partnerId, environment, authentic }: Source,
  { after, now, testOf }: Page,
): Statement => sql`
SELECT ${id}::text AS id${authentic ? sql`, ${authentic}` : nothing} FROM ${rows}
WHERE ${id} > ${after} AND ${blobKey} IS NOT NULL AND ${deletableAt} <= ${now} AND ${notDeleted(blobKey)}
  ${testOf === null ? nothing : sql`AND ${partnerId} = ${testOf} AND ${environment} = 'test'`}
ORDER BY ${id} LIMIT ${batchSize} ${lock}`;

type DueBlob = { blobKey: string; rule: string };

/**
 * Selects the blobs of those locked rows that are still due. A new checkout, for example, could have changed a row
 * before it was locked. Leaves out a blob that another row needs.
 */
const dueBlobsStatement = (source: Source, sources: readonly Source[], ids: string[], now: Date): Statement => {
  const { rows, id, blobKey, deletableAt, rule } = source;
  return sql`
SELECT DISTINCT ON (blob_key) blob_key AS "blobKey", rule FROM (
  SELECT ${id}::text AS id, ${blobKey} AS blob_key, ${rule} AS rule FROM ${rows}
  WHERE ${id} = ANY (${ids}) AND ${deletableAt} <= ${now}
) AS named WHERE ${unneeded(source, sources, now)}`;
};

/** Marks blobs as deleted, except those that another node marked while this node waited for the lock. */
function markStatement(rowMac: RowMac, blobs: readonly DueBlob[], now: Date): Statement {
  const macs = blobs.map((blob) => markMac(rowMac, { ...blob, deletedAt: now }));
  return sql`
INSERT INTO deleted_blobs (blob_key, rule, deleted_at, row_mac)
SELECT blob_key, rule, ${now}::timestamptz, row_mac
FROM unnest(${blobs.map(({ blobKey }) => blobKey)}::text[], ${blobs.map(({ rule }) => rule)}::text[], ${macs}::bytea[])
  AS due (blob_key, rule, row_mac)
WHERE ${notDeleted(sql`due.blob_key`)} RETURNING blob_key AS "blobKey", rule`;
}

/**
 * The coming deletions: the number of documents that are due now, and the time and rule of the next deletion after
 * these.
 */
export type Upcoming = { due: number; next: Date | null; nextRule: string | null };

export async function upcomingDeletions(
  { db, sources }: Pick<RetentionDeps, "sources"> & { db: Sql },
  plan: RetentionPlan,
  now: Date,
): Promise<Upcoming> {
  const found: Upcoming[] = [];
  for (const { rows, blobKey, deletableAt, rule } of sources.map((sourceOf) => sourceOf(plan)))
    found.push(
      ...(await db.query<Upcoming>(sql`
WITH kept AS (
  SELECT ${deletableAt} AS until, ${rule} AS rule FROM ${rows} WHERE ${blobKey} IS NOT NULL AND ${notDeleted(blobKey)}
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
