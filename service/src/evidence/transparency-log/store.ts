import { formatEntry, type LogEntry } from "@signsealship/evidence/log";
import type { Environment } from "../../kernel/identity/identity.ts";
import type { Sql, Tx } from "../../kernel/platform/database/database.ts";
import { type Statement, sql } from "../../kernel/platform/database/sql.ts";
import { MacOfRow } from "../../kernel/platform/database/state-mac.ts";
import type { MacTable } from "../../kernel/platform/protected-data.ts";
import type { RowMac } from "../../kernel/platform/row-mac.ts";
import { environmentOf, type LogName, logs, type Tree, treeMembers, treeRows } from "./trees.ts";

/** Entries of level 0 are bundled by the format of C2SP tlog-tiles. */
export type StoredTile = { level: number; n: number; hashes: Buffer; entries: Buffer | null };

/** A line that has no leaf yet. */
export type WaitingLine = { id: number; line: string; mac: Buffer | null };

const waitingRows: MacTable<{ log: Environment; line: string; leaf: number | null }> = {
  table: sql`log_entries`,
  key: sql`id`,
  mac: sql`row_mac`,
  rows: sql`SELECT id AS key, log, line, leaf, row_mac AS mac FROM log_entries`,
  // A line with a leaf needs no MAC, because the tree protects it.
  members: ({ log, line, leaf }) => (leaf === null ? { log, line } : null),
  backfill: { set: "lines of the log", which: sql`leaf IS NULL` },
};

export const protectedTables = [treeRows, waitingRows];

/**
 * Builds the INSERT that queues a line for the log. The statement that records a sealed file contains it, so that no
 * sealed file can be missing from the log. An existing line is kept.
 */
export function queueEntry(log: Environment, entry: LogEntry, at: Date): Statement {
  const line = formatEntry(entry);
  return sql`
  INSERT INTO log_entries (log, line, queued_at, row_mac)
  VALUES (${log}, ${line}, ${at}, ${new MacOfRow("log_entries", { log, line })})
  ON CONFLICT (split_part(log, '-', 1), line) DO NOTHING`;
}

/**
 * The state of the log that an environment has now. `isDue`: lines wait, and the last batch is old enough. A batch in
 * the future counts as old: the database's clock was wrong and has been set back. `finalSize`: the size of its last
 * checkpoint, if the log is about to end.
 */
export type Outlook = {
  log: LogName;
  environment: Environment;
  origin: string;
  isDue: boolean;
  size: number;
  published: number | null;
  finalSize: number | null;
};

export const selectOutlook = (db: Sql, intervalMs: number): Promise<Outlook[]> =>
  db.query<Outlook>(sql`
    SELECT DISTINCT ON (environment) log, environment, origin, size, final_size AS "finalSize",
      (SELECT max(size) FROM log_checkpoints c WHERE c.log = t.log) AS published,
      coalesce(sequenced_at NOT BETWEEN clock_timestamp() - make_interval(secs => ${intervalMs / 1_000})
          AND clock_timestamp(), true)
        AND EXISTS (SELECT FROM log_entries e WHERE e.log = t.environment AND leaf IS NULL) AS "isDue"
    FROM log_trees t ORDER BY environment, generation DESC`);

const advisoryLock = 7_246_007;

/** Tries to lock the logs of an environment. Only the transaction with the lock may sequence, publish or end one. */
export async function tryLock(tx: Tx, environment: Environment): Promise<boolean> {
  const [lock] = await tx.query<{ ours: boolean }>(
    sql`SELECT pg_try_advisory_xact_lock(${advisoryLock}, ${logs.indexOf(environment)}) AS ours`,
  );
  return lock?.ours === true;
}

/** Waits for the lock that `tryLock` tries to get. */
export const waitForLock = (tx: Tx, environment: Environment): Promise<unknown[]> =>
  tx.query(sql`SELECT pg_advisory_xact_lock(${advisoryLock}, ${logs.indexOf(environment)})`);

/**
 * The lines without a leaf. No cursor is stored between batches, so a line that commits late is found by the next
 * batch.
 * @param after the last id of the previous page
 */
export const selectWaiting = (db: Sql, log: Environment, after: number, limit: number): Promise<WaitingLine[]> =>
  db.query<WaitingLine>(sql`
    SELECT id, line, row_mac AS mac FROM log_entries
    WHERE log = ${log} AND leaf IS NULL AND id > ${after} ORDER BY id LIMIT ${limit}`);

export const lineHolds = (rowMac: RowMac, log: Environment, { line, mac }: WaitingLine): boolean =>
  rowMac.holds("log_entries", { log, line }, mac);

/** The tiles at these positions; a missing tile is left out. */
export const selectTiles = (db: Sql, log: LogName, places: readonly Pick<StoredTile, "level" | "n">[]) =>
  tilesWith(sql`entries`, db, log, places);

/**
 * The tiles at these positions, without their bundles of entries. Proofs do not need the entries, which take twice as
 * much space as the hashes.
 */
export const selectHashes = (db: Sql, log: LogName, places: readonly Pick<StoredTile, "level" | "n">[]) =>
  tilesWith(sql`NULL AS entries`, db, log, places);

const tilesWith = (entries: Statement, db: Sql, log: LogName, places: readonly Pick<StoredTile, "level" | "n">[]) =>
  db.query<StoredTile>(sql`
    SELECT t.level, t.n, hashes, ${entries} FROM log_tiles t
    JOIN unnest(${places.map(({ level }) => level)}::smallint[], ${places.map(({ n }) => n)}::bigint[]) AS place (level, n)
      ON t.log = ${log} AND t.level = place.level AND t.n = place.n`);

export type Growth = { tree: Tree; from: number; leaves: readonly { id: number; leaf: number }[]; tiles: StoredTile[] };

/**
 * Writes a batch. `sequenced_at` is the time when its transaction began, so that the interval between two batches
 * includes the work of the first. @returns false when the tree's size has changed since the batch began
 */
export async function writeGrowth(tx: Tx, { tree, from, leaves, tiles }: Growth): Promise<boolean> {
  const grown = await tx.query(sql`
    UPDATE log_trees SET size = ${tree.size}, root = ${tree.root}, sequenced_at = now(),
      row_mac = ${new MacOfRow("log_trees", treeMembers(tree))}
    WHERE log = ${tree.log} AND size = ${from} RETURNING log`);
  if (grown.length === 0) return false;
  const [numbered] = await tx.query<{ lines: number }>(sql`
    WITH numbered AS (UPDATE log_entries e SET log = ${tree.log}, leaf = n.leaf, row_mac = NULL
    FROM unnest(${leaves.map(({ id }) => id)}::bigint[], ${leaves.map(({ leaf }) => leaf)}::bigint[]) AS n (id, leaf)
    WHERE e.id = n.id AND e.log = ${environmentOf(tree.log)} AND e.leaf IS NULL RETURNING e.id)
    SELECT count(*) AS lines FROM numbered`);
  if (numbered?.lines !== leaves.length) throw new Error("a line of the batch has a leaf already");
  await tx.query(sql`
    INSERT INTO log_tiles (log, level, n, hashes, entries)
    SELECT ${tree.log}, * FROM unnest(${tiles.map(({ level }) => level)}::smallint[], ${tiles.map(({ n }) => n)}::bigint[],
      ${tiles.map(({ hashes }) => hashes)}::bytea[], ${tiles.map(({ entries }) => entries)}::bytea[])
    ON CONFLICT (log, level, n) DO UPDATE SET hashes = excluded.hashes, entries = excluded.entries`);
  return true;
}

/**
 * Inserts lines to which the caller then assigns leaves; a line that is already waiting keeps its row. @returns the ids
 * in the order of the lines; -1 for a line that has a leaf already
 */
export async function insertLines(tx: Tx, ofLog: LogName, lines: readonly string[], at: Date): Promise<number[]> {
  const log = environmentOf(ofLog);
  await tx.query(sql`
    INSERT INTO log_entries (log, line, queued_at) SELECT ${log}, line, ${at} FROM unnest(${lines}::text[]) AS line
    ON CONFLICT (split_part(log, '-', 1), line) DO NOTHING`);
  const rows = await tx.query<{ id: number; line: string }>(sql`
    SELECT id, line FROM log_entries WHERE log = ${log} AND line = ANY (${lines}::text[]) AND leaf IS NULL`);
  const ids = new Map(rows.map(({ line, id }) => [line, id]));
  return lines.map((line) => ids.get(line) ?? -1);
}

/**
 * Queues the leaves of an ended log that its last checkpoint does not cover: the next log gets them. @returns how many
 */
export async function queueUncovered(tx: Tx, log: LogName, finalSize: number): Promise<number> {
  const environment = environmentOf(log);
  const rows = await tx.query<{ id: number; line: string }>(sql`
    SELECT id, line FROM log_entries WHERE log = ${log} AND leaf >= ${finalSize} ORDER BY leaf`);
  for (const { id, line } of rows)
    await tx.query(sql`
      UPDATE log_entries SET log = ${environment}, leaf = NULL,
        row_mac = ${new MacOfRow("log_entries", { log: environment, line })} WHERE id = ${id}`);
  return rows.length;
}

/** The lines of an environment, each with the log that has it. */
export const linesWithLogs = (db: Sql, environment: Environment): Promise<{ line: string; log: LogName }[]> =>
  db.query<{ line: string; log: LogName }>(sql`
    SELECT line, log FROM log_entries WHERE split_part(log, '-', 1) = ${environment} AND leaf IS NOT NULL`);

/**
 * Queues for each log a line that states the number of its imported lines. These record the seals made before the log
 * existed, and come before this line.
 * @returns the number of logs with imported lines
 */
export async function markImport(tx: Tx, at: Date): Promise<number> {
  const counts = await tx.query<{ log: Environment; lines: number }>(sql`
    SELECT log, count(*) AS lines FROM log_entries GROUP BY log`);
  for (const { log, lines } of counts) await tx.query(queueEntry(log, { kind: "import/v1", count: String(lines) }, at));
  return counts.length;
}

export type StoredCheckpoint = { size: number; note: string };

export async function selectNewestCheckpoint(db: Sql, log: LogName): Promise<StoredCheckpoint | undefined> {
  const [newest] = await db.query<StoredCheckpoint>(sql`
    SELECT size, note FROM log_checkpoints WHERE log = ${log} ORDER BY size DESC LIMIT 1`);
  return newest;
}

export async function selectCheckpoint(db: Sql, log: LogName, size: number): Promise<StoredCheckpoint | undefined> {
  const [found] = await db.query<StoredCheckpoint>(
    sql`SELECT size, note FROM log_checkpoints WHERE log = ${log} AND size = ${size}`,
  );
  return found;
}

/** The newest checkpoint with at most `size` entries; null for none. */
export async function newestCheckpointUpTo(db: Sql, log: LogName, size: number) {
  const [found] = await db.query<StoredCheckpoint>(sql`
    SELECT size, note FROM log_checkpoints WHERE log = ${log} AND size <= ${size} ORDER BY size DESC LIMIT 1`);
  return found ? { name: "the database", ...found } : null;
}

export const insertCheckpoint = (tx: Tx, log: LogName, { size, note }: StoredCheckpoint, at: Date) =>
  tx.query(sql`
    INSERT INTO log_checkpoints (log, size, note, signed_at) VALUES (${log}, ${size}, ${note}, ${at})
    ON CONFLICT DO NOTHING`);

/**
 * The place of a line in the logs. `checkpoint`, with its cosignatures, is the checkpoint that the line's proof leads
 * to. `leaf` and `checkpoint` are null while the line waits. `retraction` is the first line in the log that retracts
 * this line; null without one.
 */
export type Place = {
  log: LogName;
  leaf: number | null;
  checkpoint: StoredCheckpoint | null;
  retraction: string | null;
};

/** A note has at most 32 lines, including the log's own. */
export const mostCosignatures = 31;

/** A condition for WHERE: it selects the row of a line, whichever log of the environment has the line. */
export const isLine = (environment: Environment, line: string): Statement =>
  sql`split_part(e.log, '-', 1) = ${environment} AND e.line = ${line}`;

/**
 * Selects the checkpoint that the line's proof leads to, from all checkpoints that cover the line. This is the first
 * anchored checkpoint with a quorum or, if no checkpoint has a quorum, the first anchored one. Without such a
 * checkpoint, it is the first one with a quorum; without any, the first checkpoint. For a log with a compromised key,
 * it is the last checkpoint, because the next log vouches for that one.
 * @param retractions the lines that would retract this line
 */
export async function selectPlace(
  db: Sql,
  environment: Environment,
  line: string,
  retractions: readonly string[],
): Promise<Place | undefined> {
  const isWitnessed = sql`q.log = e.log AND is_quorum AND q.size`;
  const cosignatures = sql`
    SELECT string_agg(line, '' ORDER BY cosigned_at, witness) FROM (
      SELECT line, cosigned_at, witness FROM log_cosignatures s WHERE s.log = c.log AND s.size = c.size
      ORDER BY cosigned_at, witness LIMIT ${mostCosignatures}) AS s`;
  const [place] = await db.query<Place>(sql`
    SELECT log, leaf, (SELECT r.line FROM log_entries r
        WHERE split_part(r.log, '-', 1) = ${environment} AND r.line = ANY (${retractions}::text[]) AND r.leaf IS NOT NULL
        ORDER BY r.id LIMIT 1) AS retraction,
      (SELECT json_build_object('size', c.size, 'note', note || coalesce((${cosignatures}), '')) FROM log_checkpoints c
      WHERE c.log = e.log AND c.size = coalesce(
        (SELECT final_size FROM log_trees t WHERE t.log = e.log AND end_reason = 'key-compromise' AND final_size > e.leaf),
        (SELECT min(size) FROM log_anchors a WHERE a.log = e.log AND a.size > e.leaf AND proof IS NOT NULL
          AND (EXISTS (SELECT FROM log_cosignatures q WHERE ${isWitnessed} = a.size)
            OR NOT EXISTS (SELECT FROM log_cosignatures q WHERE ${isWitnessed} > e.leaf))),
        (SELECT min(size) FROM log_cosignatures q WHERE ${isWitnessed} > e.leaf),
        (SELECT min(size) FROM log_checkpoints f WHERE f.log = e.log AND f.size > e.leaf)
      )) AS checkpoint
    FROM log_entries e WHERE ${isLine(environment, line)}`);
  return place;
}

/** Counts the waiting lines, and how many of the oldest thousand of them the service did not write. */
export async function selectQueue(db: Sql, rowMac: RowMac, log: Environment) {
  const [queue] = await db.query<{ waiting: number; oldestWaitingAt: Date | null }>(sql`
    SELECT count(*) AS waiting, min(queued_at) AS "oldestWaitingAt" FROM log_entries WHERE log = ${log} AND leaf IS NULL`);
  const oldest = await selectWaiting(db, log, 0, 1_000);
  const notWritten = oldest.filter((line) => !lineHolds(rowMac, log, line)).length;
  return { waiting: queue?.waiting ?? 0, oldestWaitingAt: queue?.oldestWaitingAt ?? null, notWritten };
}

/** Gauges: the leaves of each environment's current log, its waiting lines, and the age of the oldest waiting line. */
export const logGauges = (now: Date): Statement => sql`
SELECT gauge, environment AS label, value FROM (
  SELECT DISTINCT ON (environment) environment, size FROM log_trees ORDER BY environment, generation DESC
) AS t, LATERAL (
  SELECT count(*) AS waiting, min(queued_at) AS oldest FROM log_entries e WHERE e.log = t.environment AND leaf IS NULL
) AS queue, LATERAL (VALUES
  ('log_leaves', size::float8),
  ('log_waiting', waiting::float8),
  ('log_oldest_waiting_seconds', coalesce(greatest(0, extract(epoch FROM ${now}::timestamptz - oldest)), 0))
) AS figures (gauge, value)`;
