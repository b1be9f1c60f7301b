import { formatEntry, type LogEntry } from "@signsealship/evidence/log";
import type { Environment } from "../../kernel/identity/identity.ts";
import type { Sql, Tx } from "../../kernel/platform/database/database.ts";
import { nothing, type Statement, sql } from "../../kernel/platform/database/sql.ts";
import { MacOfRow } from "../../kernel/platform/database/state-mac.ts";
import type { MacTable } from "../../kernel/platform/protected-data.ts";
import type { RowMac } from "../../kernel/platform/row-mac.ts";
import { replacesUncovered } from "./store.ts";
import { environmentOf, type LogName } from "./trees.ts";

/**
 * A line in the queue. `leaf` says whether the line has a leaf already; null if it has none. `covered`: a checkpoint
 * covers that leaf, or still can. `uncovered`: the leaf's log ended before a checkpoint covered the leaf. `forged`: no
 * tree contains the leaf.
 */
export type WaitingLine = {
  id: number;
  line: string;
  mac: Buffer | null;
  leaf: "covered" | "uncovered" | "forged" | null;
};

export const waitingRows: MacTable<{ log: Environment; line: string }> = {
  table: sql`log_entries`,
  key: sql`id`,
  rowOf: ({ log, key }) => sql`log = ${log} AND id = ${key}`,
  mac: sql`row_mac`,
  rows: sql`SELECT id AS key, log, line, row_mac AS mac FROM log_entries`,
  members: ({ log, line }) => ({ log, line }),
  backfill: { set: "lines of the log" },
};

/**
 * Selects the lines that the log must have for the rows of one feature. Columns: `line`; `row`, which names the
 * feature's row for people; `at`, when the line was queued. Each feature that queues lines has its own such statement.
 */
export type LoggedRows = (environment: Environment) => Statement;

/**
 * Builds the INSERT that queues a line for the log. It is part of the statement or transaction that records a sealed
 * file, so that every sealed file gets into the log. A line that is queued twice gets only one leaf.
 */
export function queueEntry(log: Environment, entry: LogEntry, at: Date): Statement {
  const line = formatEntry(entry);
  return sql`
  INSERT INTO log_entries (log, line, queued_at, row_mac)
  VALUES (${log}, ${line}, ${at}, ${new MacOfRow("log_entries", { log, line })})`;
}

/**
 * The waiting lines of an environment. No position is stored between batches, so the next batch also finds a line that
 * committed late.
 * @param after the last id of the previous page
 */
export const selectWaiting = (db: Sql, log: Environment, after: number, limit: number): Promise<WaitingLine[]> =>
  db.query<WaitingLine>(sql`
    SELECT id, line, row_mac AS mac, (
      SELECT CASE WHEN l.line <> q.line THEN 'forged' WHEN leaf < coalesce(final_size, size) THEN 'covered'
        WHEN leaf >= final_size THEN 'uncovered' ELSE 'forged' END
      FROM log_leaves l LEFT JOIN log_trees t USING (log) WHERE log_line_key(l.line) = log_line_key(q.line) AND split_part(l.log, '-', 1) = q.log) AS leaf
    FROM log_entries q WHERE log = ${log} AND id > ${after} ORDER BY id LIMIT ${limit}`);

export const lineHolds = (rowMac: RowMac, log: Environment, { line, mac }: WaitingLine): boolean =>
  rowMac.holds("log_entries", { log, line }, mac);

/**
 * Assigns leaves to waiting lines, and removes these lines from the queue.
 * @param from the leaf of the first line
 * @throws Error when one of the lines does not wait any more, or has a leaf that is not `uncovered`
 */
export async function numberWaiting(tx: Tx, log: LogName, from: number, lines: readonly WaitingLine[]): Promise<void> {
  const [numbered] = await tx.query<{ lines: number }>(sql`
    WITH taken AS (
      DELETE FROM log_entries q USING unnest(${lines.map(({ id }) => id)}::bigint[]) WITH ORDINALITY AS n (id, place)
      WHERE q.log = ${environmentOf(log)} AND q.id = n.id RETURNING line, queued_at, ${from}::bigint + place - 1 AS leaf
    ), numbered AS (
      INSERT INTO log_leaves (log, leaf, line, queued_at) SELECT ${log}, leaf, line, queued_at FROM taken
      ${lines.some(({ leaf }) => leaf === "uncovered") ? replacesUncovered : nothing} RETURNING leaf
    ) SELECT count(*) AS lines FROM numbered`);
  if (numbered?.lines !== lines.length) throw new Error("a line of the batch has a leaf already");
}

/** Removes lines from the queue that have a leaf already. */
export const dropRepeated = (tx: Tx, log: Environment, lines: readonly WaitingLine[]): Promise<unknown[]> =>
  tx.query(sql`DELETE FROM log_entries WHERE log = ${log} AND id = ANY (${lines.map(({ id }) => id)}::bigint[])`);

/**
 * After a log has ended, queues for the next log the lines that the ended log's last checkpoint does not cover. A leaf
 * outside the log's tree is forged, so its line is not queued and gets no valid MAC.
 * @returns the number of queued lines
 */
export async function queueUncovered(tx: Tx, ofLog: LogName, finalSize: number): Promise<number> {
  const log = environmentOf(ofLog);
  const rows = await tx.query<{ line: string; at: Date }>(sql`
    SELECT line, queued_at AS at FROM log_leaves WHERE log = ${ofLog} AND leaf >= ${finalSize}
      AND leaf < (SELECT size FROM log_trees WHERE log = ${ofLog}) ORDER BY leaf`);
  const macs = rows.map(({ line }) => new MacOfRow("log_entries", { log, line }));
  await tx.query(sql`
    INSERT INTO log_entries (log, line, queued_at, row_mac)
    SELECT ${log}, line, at, mac
    FROM unnest(${rows.map(({ line }) => line)}::text[], ${rows.map(({ at }) => at)}::timestamptz[], ${macs}::bytea[])
      WITH ORDINALITY AS n (line, at, mac, place) ORDER BY place`);
  return rows.length;
}

/**
 * Queues one line for each log that has waiting lines. The line states how many imported lines precede it. Imported
 * lines record seals that were made before the log existed.
 * @returns the number of logs with imported lines
 */
export async function markImport(tx: Tx, at: Date): Promise<number> {
  const counts = await tx.query<{ log: Environment; lines: number }>(sql`
    SELECT log, count(*) AS lines FROM log_entries GROUP BY log`);
  for (const { log, lines } of counts) await tx.query(queueEntry(log, { kind: "import/v1", count: String(lines) }, at));
  return counts.length;
}

/** Counts the waiting lines. Among the oldest thousand of them, also counts those that the service did not write. */
export async function selectQueue(db: Sql, rowMac: RowMac, log: Environment) {
  const [queue] = await db.query<{ waiting: number; oldestWaitingAt: Date | null }>(sql`
    SELECT count(*) AS waiting, min(queued_at) AS "oldestWaitingAt" FROM log_entries WHERE log = ${log}`);
  const oldest = await selectWaiting(db, log, 0, 1_000);
  const notWritten = oldest.filter((line) => !lineHolds(rowMac, log, line)).length;
  return { waiting: queue?.waiting ?? 0, oldestWaitingAt: queue?.oldestWaitingAt ?? null, notWritten };
}

/** Gauges: the leaves of each environment's current log, its waiting lines, and the age of the oldest waiting line. */
export const logGauges = (now: Date): Statement => sql`
SELECT gauge, environment AS label, value FROM (
  SELECT DISTINCT ON (environment) environment, size FROM log_trees ORDER BY environment, generation DESC
) AS t, LATERAL (
  SELECT count(*) AS waiting, min(queued_at) AS oldest FROM log_entries e WHERE e.log = t.environment
) AS queue, LATERAL (VALUES
  ('log_leaves', size::float8),
  ('log_waiting', waiting::float8),
  ('log_oldest_waiting_seconds', coalesce(greatest(0, extract(epoch FROM ${now}::timestamptz - oldest)), 0))
) AS figures (gauge, value)`;
