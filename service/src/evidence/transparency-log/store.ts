import { hash } from "node:crypto";
import type { Environment } from "../../kernel/identity/identity.ts";
import { type Database, longStatements, type Sql, type Tx } from "../../kernel/platform/database/database.ts";
import { type Statement, sql } from "../../kernel/platform/database/sql.ts";
import { MacOfRow } from "../../kernel/platform/database/state-mac.ts";
import { type LogName, logs, type Tree, treeMembers } from "./trees.ts";

/** A tile of a log. Only tiles of level 0 have `entries`: a bundle in the format of C2SP tlog-tiles. */
export type StoredTile = { level: number; n: number; hashes: Buffer; entries: Buffer | null };

/**
 * The state of the log that an environment has now. `isDue`: lines wait, and the last batch is old enough. A batch with
 * a time in the future is treated as old, because the database's clock must have been wrong then. `finalSize`: the size
 * of the last checkpoint, if the log is about to end.
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
        AND EXISTS (SELECT FROM log_entries e WHERE e.log = t.environment) AS "isDue"
    FROM log_trees t ORDER BY environment, generation DESC`);

const advisoryLock = 7_246_007;

/**
 * Tries to lock the logs of an environment. Only the transaction with the lock may sequence, publish or end any of
 * these logs.
 */
export async function tryLock(tx: Tx, environment: Environment): Promise<boolean> {
  const [lock] = await tx.query<{ ours: boolean }>(
    sql`SELECT pg_try_advisory_xact_lock(${advisoryLock}, ${logs.indexOf(environment)}) AS ours`,
  );
  return lock?.ours === true;
}

/** Waits for the lock that `tryLock` tries to get. */
export const waitForLock = (tx: Tx, environment: Environment): Promise<unknown[]> =>
  tx.query(sql`SELECT pg_advisory_xact_lock(${advisoryLock}, ${logs.indexOf(environment)})`);

/** The tiles at these positions; a missing tile is left out. */
export const selectTiles = (db: Sql, log: LogName, places: readonly Pick<StoredTile, "level" | "n">[]) =>
  tilesWith(sql`entries`, db, log, places);

/**
 * The tiles at these positions, without their bundles of entries. Proofs do not need the entries, which are twice as
 * large as the hashes.
 */
export const selectHashes = (db: Sql, log: LogName, places: readonly Pick<StoredTile, "level" | "n">[]) =>
  tilesWith(sql`NULL AS entries`, db, log, places);

const tilesWith = (entries: Statement, db: Sql, log: LogName, places: readonly Pick<StoredTile, "level" | "n">[]) =>
  db.query<StoredTile>(sql`
    SELECT t.level, t.n, hashes, ${entries} FROM log_tiles t
    JOIN unnest(${places.map(({ level }) => level)}::smallint[], ${places.map(({ n }) => n)}::bigint[]) AS place (level, n)
      ON t.log = ${log} AND t.level = place.level AND t.n = place.n`);

export type Growth = { tree: Tree; from: number; tiles: StoredTile[] };

/**
 * Writes the tree and the tiles of a batch. `sequenced_at` is the time when the batch's transaction began, so the
 * interval until the next batch includes the work of this one.
 * @returns false when the tree's size has changed since the batch began
 */
export async function writeGrowth(tx: Tx, { tree, from, tiles }: Growth): Promise<boolean> {
  const grown = await tx.query(sql`
    UPDATE log_trees SET size = ${tree.size}, root = ${tree.root}, sequenced_at = now(),
      row_mac = ${new MacOfRow("log_trees", treeMembers(tree))}
    WHERE log = ${tree.log} AND size = ${from} RETURNING log`);
  if (grown.length === 0) return false;
  await tx.query(sql`
    INSERT INTO log_tiles (log, level, n, hashes, entries)
    SELECT ${tree.log}, * FROM unnest(${tiles.map(({ level }) => level)}::smallint[], ${tiles.map(({ n }) => n)}::bigint[],
      ${tiles.map(({ hashes }) => hashes)}::bytea[], ${tiles.map(({ entries }) => entries)}::bytea[])
    ON CONFLICT (log, level, n) DO UPDATE SET hashes = excluded.hashes, entries = excluded.entries`);
  return true;
}

/**
 * SQL condition: true if a leaf's log ended before any checkpoint covered the leaf. The leaf's line is then added to
 * the next log.
 */
const isUncovered = sql`EXISTS (SELECT FROM log_trees t WHERE t.log = log_leaves.log AND log_leaves.leaf >= t.final_size)`;

/**
 * The ON CONFLICT clause of an INSERT of leaves. If a line already has a leaf and `isUncovered` is true for it, the new
 * leaf replaces that leaf.
 */
export const replacesUncovered = sql`
  ON CONFLICT (log_line_key(line), split_part(log, '-', 1))
  DO UPDATE SET log = excluded.log, leaf = excluded.leaf WHERE ${isUncovered}`;

/**
 * Inserts consecutive leaves for lines that did not have to wait in the queue. If such a line is queued too, the
 * sequencer later removes it from the queue.
 * @throws Error for a line that has a leaf already, unless `isUncovered` is true for that leaf
 */
export async function insertLeaves(tx: Tx, log: LogName, from: number, lines: readonly string[], at: Date) {
  const inserted = await tx.query(sql`
    INSERT INTO log_leaves (log, leaf, line, queued_at)
    SELECT ${log}, ${from}::bigint + place - 1, line, ${at} FROM unnest(${lines}::text[]) WITH ORDINALITY AS n (line, place)
    ${replacesUncovered} RETURNING leaf`);
  if (inserted.length !== lines.length) throw new Error("a line of the batch has a leaf already");
}

/** The lines of an environment, each with the log that has it. */
export const linesWithLogs = (db: Sql, environment: Environment): Promise<{ line: string; log: LogName }[]> =>
  db.query<{ line: string; log: LogName }>(sql`
    SELECT line, log FROM log_leaves JOIN log_trees USING (log)
    WHERE environment = ${environment} AND leaf < coalesce(final_size, size)`);

/**
 * A forged leaf of an environment: one beyond the tree of a log that grows, or one of a log without a tree. Reads the
 * tree and the leaves in one statement, because another node could add a batch between two statements.
 * @returns undefined when there is no forged leaf
 */
export async function selectStrayLeaf(db: Sql, environment: Environment) {
  // Reads one index entry for each log, and not all leaves.
  const [stray] = await db.query<{ log: LogName; leaf: number }>(sql`
    WITH RECURSIVE names AS (
      (SELECT log FROM log_leaves ORDER BY log LIMIT 1)
      UNION ALL SELECT (SELECT l.log FROM log_leaves l WHERE l.log > n.log ORDER BY l.log LIMIT 1) FROM names n WHERE n.log IS NOT NULL
    )
    SELECT n.log, s.leaf FROM names n LEFT JOIN log_trees t ON t.log = n.log, LATERAL (
      SELECT leaf FROM log_leaves l WHERE l.log = n.log AND l.leaf >= coalesce(t.size, 0) ORDER BY leaf LIMIT 1
    ) s WHERE split_part(n.log, '-', 1) = ${environment} AND final_size IS NULL LIMIT 1`);
  return stray;
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
 * The place of a line in the logs. `checkpoint` is the one that the line's proof leads to, with its cosignatures; null
 * until a checkpoint covers the line.
 */
export type Place = {
  log: LogName;
  leaf: number;
  checkpoint: StoredCheckpoint | null;
};

/** A signed note has at most 32 signature lines. One of them is the log's own. */
export const maxCosignatures = 31;

/** True if a leaf `e` is in its log's tree. Any other leaf is forged. */
const isInTree = sql`e.leaf < (SELECT size FROM log_trees t WHERE t.log = e.log)`;

/**
 * SQL condition: true if a leaf `e` is of one of these lines, in any log of the environment. PostgreSQL finds the
 * leaves by an index on `log_line_key`, the SQL function that computes the same key of a line as `lineKey`.
 */
export const isOneOf = (environment: Environment, lines: readonly string[]): Statement =>
  sql`log_line_key(e.line) = ANY (${lines.map(lineKey)}::bytea[]) AND split_part(e.log, '-', 1) = ${environment}
    AND e.line = ANY (${lines}::text[]) AND ${isInTree}`;

export const isLine = (environment: Environment, line: string): Statement =>
  sql`log_line_key(e.line) = ${lineKey(line)} AND split_part(e.log, '-', 1) = ${environment} AND e.line = ${line}
    AND ${isInTree}`;

/** For ORDER BY: sorts leaves `e` of an environment by log, earliest log first, and then by their place in the log. */
export const inOrder = sql`(SELECT generation FROM log_trees t WHERE t.log = e.log), e.leaf`;

/** True if a line is in a log of the environment, or queued for it. */
export async function hasLine(db: Sql, environment: Environment, line: string): Promise<boolean> {
  const found = await db.query(sql`
    SELECT FROM log_leaves e WHERE ${isLine(environment, line)} UNION ALL
    SELECT FROM log_entries WHERE log = ${environment} AND line = ${line} LIMIT 1`);
  return found.length === 1;
}

/**
 * True if the certificate of a Closing Passport's version is in a log of the environment, or queued for one. The rest
 * of the certificate's line can be computed only from the version's manifest, which may be unreadable. So this searches
 * all lines by their beginning, and is called only for operators.
 */
export async function hasClosing(db: Database, environment: Environment, sealedSha256: string): Promise<boolean> {
  const start = `closing/v1 ${sealedSha256} `;
  const statement = sql`
    SELECT FROM log_leaves e
    WHERE starts_with(e.line, ${start}) AND split_part(e.log, '-', 1) = ${environment} AND ${isInTree} UNION ALL
    SELECT FROM log_entries WHERE log = ${environment} AND starts_with(line, ${start}) LIMIT 1`;
  const found = await db.transaction((tx) => tx.query(statement), longStatements);
  return found.length === 1;
}

const lineKey = (line: string): Buffer => hash("sha256", line, "buffer").subarray(0, 16);

/**
 * Selects the checkpoint for a line's proof, from those that cover the line. In order of preference: the first anchored
 * one with a quorum, the first anchored one, the first one with a quorum, the first one. For a log with a compromised
 * key, selects the last checkpoint, because the next log vouches for it.
 * @returns undefined for a line without a leaf
 */
export async function selectPlace(db: Sql, environment: Environment, line: string): Promise<Place | undefined> {
  const isWitnessed = sql`q.log = e.log AND is_quorum AND q.size`;
  const cosignatures = sql`
    SELECT string_agg(line, '' ORDER BY cosigned_at, witness) FROM (
      SELECT line, cosigned_at, witness FROM log_cosignatures s WHERE s.log = c.log AND s.size = c.size
      ORDER BY cosigned_at, witness LIMIT ${maxCosignatures}) AS s`;
  const [place] = await db.query<Place>(sql`
    SELECT log, leaf, (SELECT json_build_object('size', c.size, 'note', note || coalesce((${cosignatures}), '')) FROM log_checkpoints c
      WHERE c.log = e.log AND c.size = coalesce(
        (SELECT final_size FROM log_trees t WHERE t.log = e.log AND end_reason = 'key-compromise' AND final_size > e.leaf),
        (SELECT min(size) FROM log_anchors a WHERE a.log = e.log AND a.size > e.leaf AND proof IS NOT NULL
          AND (EXISTS (SELECT FROM log_cosignatures q WHERE ${isWitnessed} = a.size)
            OR NOT EXISTS (SELECT FROM log_cosignatures q WHERE ${isWitnessed} > e.leaf))),
        (SELECT min(size) FROM log_cosignatures q WHERE ${isWitnessed} > e.leaf),
        (SELECT min(size) FROM log_checkpoints f WHERE f.log = e.log AND f.size > e.leaf)
      )) AS checkpoint
    FROM log_leaves e WHERE ${isLine(environment, line)}`);
  return place;
}
