import { auditLine } from "../audit/audit.ts";
import type { Blobs } from "../platform/blobs/blobs.ts";
import { type Database, longStatements, type StatementTime, type Tx } from "../platform/database/database.ts";
import { nothing, type Statement, sql } from "../platform/database/sql.ts";
import type { Log } from "../platform/logs.ts";
import type { RowMac } from "../platform/row-mac.ts";
import { notDeleted } from "./deleted.ts";
import { markMac } from "./marks.ts";
import type { RetentionPlan } from "./plan.ts";
import { type Source, sourcesOf } from "./rules.ts";

export type RetentionDeps = { db: Database; blobs: Blobs; rowMac: RowMac; log: Log };

const batchSize = 200;

// A test clock waits for these: what takes longer is left to the run for everybody.
const testStatements: StatementTime = { statementMs: 15_000 };

/**
 * Deletes the blobs that are due by the plan, batch by batch: a batch is marked as deleted, with its audit lines, in one
 * transaction, and then removed from the store. What a crash or the store keeps from being removed then is an orphan, and
 * swept as such (`platform/blobs/orphans.ts`). Safe beside itself on another node.
 * @param testOf a firm whose test documents alone are looked at; null: everybody's
 * @returns how many were marked
 */
export async function deleteDue(
  deps: RetentionDeps,
  plan: RetentionPlan,
  now: Date,
  stopping?: AbortSignal,
  testOf: string | null = null,
): Promise<number> {
  let deleted = 0;
  for (const source of sourcesOf(plan)) {
    let after: string | undefined = source.first;
    while (after !== undefined && !stopping?.aborted) {
      const batch: Batch = await deps.db.transaction(
        (tx) => markBatch(tx, deps.rowMac, source, { after: after ?? "", now, testOf }),
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

/** `last` is undefined after the last page. */
type Batch = { blobKeys: string[]; last: string | undefined };

type Page = { after: string; now: Date; testOf: string | null };

async function markBatch(tx: Tx, rowMac: RowMac, source: Source, { after, now, testOf }: Page): Promise<Batch> {
  const due = await tx.query<{ id: string }>(dueStatement(source, after, now, testOf));
  const ids = due.map(({ id }) => id);
  const blobs = ids.length === 0 ? [] : await tx.query<DueBlob>(dueBlobsStatement(source, ids, now));
  const marked = blobs.length === 0 ? [] : await tx.query<{ blobKey: string }>(markStatement(rowMac, blobs, now));
  const blobKeys = marked.map(({ blobKey }) => blobKey);
  for (const statement of blobKeys.length === 0 ? [] : namesOf(blobKeys)) await tx.query(statement);
  return { blobKeys, last: ids.at(-1) };
}

/** A page of rows that are due, locked where they may change; apart from its running, so that its plan can be looked at. */
export const dueStatement = (
  { rows, id, lock, blobKey, keptUntil, partnerId, environment }: Source,
  after: string,
  now: Date,
  testOf: string | null = null,
): Statement => sql`
SELECT ${id}::text AS id FROM ${rows}
WHERE ${id} > ${after} AND ${blobKey} IS NOT NULL AND ${keptUntil} <= ${now} AND ${notDeleted(blobKey)}
  ${testOf === null ? nothing : sql`AND ${partnerId} = ${testOf} AND ${environment} = 'test'`}
ORDER BY ${id} LIMIT ${batchSize} ${lock}`;

type DueBlob = { blobKey: string; rule: string };

/** Judges the locked rows again, by what is true now: a checkout may have been minted meanwhile. */
const dueBlobsStatement = ({ rows, id, blobKey, keptUntil, rule, unshared }: Source, ids: string[], now: Date) => sql`
SELECT DISTINCT ON (blob_key) blob_key AS "blobKey", rule FROM (
  SELECT ${id}::text AS id, ${blobKey} AS blob_key, ${rule} AS rule FROM ${rows}
  WHERE ${id} = ANY (${ids}) AND ${keptUntil} <= ${now}
) AS named WHERE ${unshared(now)}`;

/** What deleted documents were called, and what was noted of their orders, is forgotten with them. */
const namesOf = (blobKeys: readonly string[]): Statement[] => [
  sql`UPDATE orders SET document_name = NULL, document_notices = NULL FROM documents d
    WHERE d.order_id = orders.id AND d.kind = 'original' AND d.blob_key = ANY (${blobKeys}::text[])
      AND (document_name IS NOT NULL OR document_notices IS NOT NULL)`,
  // With the first of them: from then on the order's page says that they are gone, and shows none.
  sql`DELETE FROM firm_notes USING documents d
    WHERE d.order_id = firm_notes.order_id AND d.blob_key = ANY (${blobKeys}::text[])`,
  sql`UPDATE passports SET document_name = NULL WHERE blob_key = ANY (${blobKeys}::text[]) AND document_name IS NOT NULL`,
];

/** What another node marked at the same time is left to it. */
function markStatement(rowMac: RowMac, blobs: readonly DueBlob[], now: Date): Statement {
  const macs = blobs.map((blob) => markMac(rowMac, { ...blob, deletedAt: now }));
  const line = {
    at: now,
    action: "documents.deleted",
    actor: "system",
    detail: sql`jsonb_build_object('rule', counted.rule, 'documents', counted.count)`,
  };
  return sql`
WITH marked AS (
  INSERT INTO deleted_blobs (blob_key, rule, deleted_at, row_mac)
  SELECT blob_key, rule, ${now}::timestamptz, row_mac
  FROM unnest(${blobs.map(({ blobKey }) => blobKey)}::text[], ${blobs.map(({ rule }) => rule)}::text[], ${macs}::bytea[])
    AS due (blob_key, rule, row_mac)
  ON CONFLICT DO NOTHING RETURNING blob_key, rule
), audited AS (
  ${auditLine(line, sql`(SELECT rule, count(*) FROM marked GROUP BY rule) AS counted`)}
)
SELECT blob_key AS "blobKey" FROM marked`;
}
