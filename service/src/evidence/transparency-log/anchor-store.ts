import { formatEntry, type LogEntry } from "@signsealship/evidence/log";
import type { Environment } from "../../kernel/identity/identity.ts";
import type { Sql, Tx } from "../../kernel/platform/database/database.ts";
import { type Statement, sql } from "../../kernel/platform/database/sql.ts";
import { isLine, isOneOf, type StoredCheckpoint } from "./store.ts";
import { environmentOf, type LogName, logs } from "./trees.ts";

/** The name of the calendars as a source of proofs. Any other source is a time-stamping authority, named by its URL. */
export const openTimestamps = "opentimestamps";

const anchorLock = 7_246_009;

/**
 * Chooses the checkpoint that every source has to anchor next. Does nothing if one was chosen after the time `after`,
 * or if the log has not grown since the last choice. A lock lets only one node choose at a time.
 */
export async function chooseRoot(
  tx: Tx,
  log: LogName,
  { size, sources, now, after }: { size: number; sources: readonly string[]; now: Date; after: Date },
): Promise<void> {
  await tx.query(sql`SELECT pg_advisory_xact_lock(${anchorLock}, ${logs.indexOf(environmentOf(log))})`);
  await tx.query(sql`
    INSERT INTO log_anchors (log, size, source, chosen_at, status, next_look_at)
    SELECT ${log}, ${size}, source, ${now}, 'waiting', ${now} FROM unnest(${sources}::text[]) AS source
    WHERE NOT EXISTS (SELECT FROM log_anchors WHERE log = ${log} AND (size >= ${size} OR chosen_at > ${after}))`);
}

/** A checkpoint that a source has yet to anchor, or one with a proof that waits for a Bitcoin block. */
export type DueAnchor = {
  log: LogName;
  size: number;
  source: string;
  chosenAt: Date;
  proof: Buffer | null;
  anchoredAt: Date | null;
  looks: number;
};

/**
 * Claims due anchors of these sources for one caller until `claimedUntil`, newest first. The subquery is materialized,
 * so that PostgreSQL runs it only once.
 */
export const claimDueAnchors = (
  db: Sql,
  sources: readonly string[],
  { now, claimedUntil, limit }: { now: Date; claimedUntil: Date; limit: number },
): Promise<DueAnchor[]> =>
  db.query<DueAnchor>(sql`
    WITH due AS MATERIALIZED (
      SELECT log, size, source FROM log_anchors WHERE next_look_at <= ${now} AND source = ANY (${sources}::text[])
      ORDER BY size DESC LIMIT ${limit} FOR NO KEY UPDATE SKIP LOCKED
    )
    UPDATE log_anchors a SET next_look_at = ${claimedUntil}, looks = looks + 1
    FROM due WHERE (a.log, a.size, a.source) = (due.log, due.size, due.source)
    RETURNING a.log, a.size, a.source, chosen_at AS "chosenAt", proof, anchored_at AS "anchoredAt", looks`);

/**
 * Ends the wait for a source's proof of a checkpoint if the source has anchored a later checkpoint of the log. The
 * later checkpoint covers all entries of the earlier one.
 */
export const supersedeWaiting = (db: Sql): Promise<unknown[]> =>
  db.query(sql`
    UPDATE log_anchors a SET status = 'superseded', next_look_at = NULL
    WHERE status = 'waiting' AND EXISTS (
      SELECT FROM log_anchors later
      WHERE later.log = a.log AND later.source = a.source AND later.size > a.size AND later.proof IS NOT NULL
    )`);

export const postponeAnchor = (db: Sql, { log, size, source }: DueAnchor, until: Date): Promise<unknown[]> =>
  db.query(sql`
    UPDATE log_anchors SET next_look_at = ${until}
    WHERE log = ${log} AND size = ${size} AND source = ${source} AND next_look_at IS NOT NULL`);

/** A source's proof of a checkpoint. `nextLookAt`: when to ask the source again; null once the proof is final. */
export type NewProof = {
  status: "stamped" | "pending" | "confirmed";
  proof: Uint8Array;
  anchoredAt: Date;
  blockHeight: number | null;
  nextLookAt: Date | null;
};

/** Stores a proof, unless another node has stored one first. */
export const storeProof = (db: Sql, { log, size, source, proof: before }: DueAnchor, added: NewProof) =>
  db.query(sql`
    UPDATE log_anchors SET status = ${added.status}, proof = ${added.proof}, anchored_at = ${added.anchoredAt},
      block_height = ${added.blockHeight}, next_look_at = ${added.nextLookAt}
    WHERE log = ${log} AND size = ${size} AND source = ${source} AND next_look_at IS NOT NULL
      AND proof IS NOT DISTINCT FROM ${before}`);

/** A proof of the time at which a checkpoint existed. */
export type AnchorProof = {
  source: string;
  status: "stamped" | "pending" | "confirmed";
  proof: Buffer;
  anchoredAt: Date;
  blockHeight: number | null;
};

export const selectProofs = (db: Sql, log: LogName, size: number): Promise<AnchorProof[]> =>
  db.query<AnchorProof>(sql`
    SELECT source, status, proof, anchored_at AS "anchoredAt", block_height AS "blockHeight"
    FROM log_anchors WHERE log = ${log} AND size = ${size} AND proof IS NOT NULL ORDER BY source`);

/** The most checkpoints in the published list: enough for eight days with one checkpoint each hour. */
const maxListed = 200;

/**
 * The newest checkpoints that were chosen to be anchored, newest first. `isAnchored`: true if some source has returned
 * a proof.
 */
export const selectRoots = (db: Sql, log: LogName) =>
  db.query<{ size: number; chosenAt: Date; isAnchored: boolean }>(sql`
    SELECT size, min(chosen_at) AS "chosenAt", bool_or(proof IS NOT NULL) AS "isAnchored"
    FROM log_anchors WHERE log = ${log} GROUP BY size ORDER BY size DESC LIMIT ${maxListed}`);

/**
 * Finds the first checkpoint that covers a line and that calendars have stamped, with the line's log and index. Null
 * when there is none.
 */
export async function selectCalendarRoot(db: Sql, environment: Environment, line: string) {
  const [root] = await db.query<{ log: LogName; leaf: number; checkpoint: StoredCheckpoint; proof: Buffer }>(sql`
    SELECT e.log, leaf, json_build_object('size', c.size, 'note', note) AS checkpoint, proof
    FROM log_leaves e JOIN LATERAL (
      SELECT size, proof FROM log_anchors a
      WHERE a.log = e.log AND a.size > e.leaf AND source = ${openTimestamps} AND proof IS NOT NULL ORDER BY size LIMIT 1
    ) a ON true JOIN log_checkpoints c ON c.log = e.log AND c.size = a.size
    WHERE ${isLine(environment, line)}`);
  return root ?? null;
}

/**
 * The stage that an entry's line has reached. `witnessed`: a checkpoint that covers the line has its quorum of
 * witnesses. `anchored`: an authority or the calendars have stamped a checkpoint that covers the line, with or without
 * a quorum.
 */
export type LineState = "queued" | "logged" | "witnessed" | "anchored";

/**
 * The progress of a line. `state` is the furthest state that the line has reached. `cosignatures` is the largest number
 * of witnesses that cosigned one checkpoint covering the line. `witnesses` is how many witnesses the log has asked in
 * the last hour.
 */
export type LineProgress = { state: LineState; cosignatures: number; witnesses: number };

export async function lineState(db: Sql, environment: Environment, entry: LogEntry): Promise<LineProgress> {
  const [row] = await db.query<Reached & { cosignatures: number; witnesses: number }>(sql`
    SELECT (SELECT count(*)::int FROM log_witnesses w WHERE w.log = e.log AND next_at > now() - interval '1 hour') AS witnesses,
      EXISTS (SELECT FROM log_checkpoints c WHERE c.log = e.log AND c.size > e.leaf) AS "isLogged",
      EXISTS (SELECT FROM log_cosignatures q WHERE q.log = e.log AND q.size > e.leaf AND is_quorum) AS "isWitnessed",
      EXISTS (SELECT FROM log_anchors a WHERE a.log = e.log AND a.size > e.leaf AND proof IS NOT NULL) AS "isAnchored",
      coalesce((SELECT max(n) FROM (
        SELECT count(*)::int AS n FROM log_cosignatures q WHERE q.log = e.log AND q.size > e.leaf GROUP BY q.size LIMIT 100
      ) AS sizes), 0) AS cosignatures
    FROM log_leaves e WHERE ${isLine(environment, formatEntry(entry))}`);
  if (!row) return { state: "queued", cosignatures: 0, witnesses: 0 };
  const { cosignatures, witnesses, ...reached } = row;
  return { state: furthestState(reached), cosignatures, witnesses };
}

type Reached = { isLogged: boolean; isWitnessed: boolean; isAnchored: boolean };

function furthestState({ isLogged, isWitnessed, isAnchored }: Reached): LineState {
  if (isAnchored) return "anchored";
  if (isWitnessed) return "witnessed";
  return isLogged ? "logged" : "queued";
}

/**
 * The two forms of a log proof of a sealed file: the tlog-proof, and an OpenTimestamps proof that leads through the
 * log.
 */
export const proofForms = ["tlog-proof", "ots"] as const;
export type ProofForm = (typeof proofForms)[number];

/**
 * For each sealed file, by its SHA-256: the forms of proof that the log already has. Leaves out files that were not
 * sealed here.
 * @param sealedSha256s the hashes of sealed documents
 * @param closings the entries of closing certificates
 */
export async function existingProofs(
  db: Sql,
  environment: Environment,
  sealedSha256s: readonly string[],
  closings: readonly Extract<LogEntry, { kind: "closing/v1" }>[] = [],
): Promise<Map<string, ProofForm[]>> {
  const seals = sealedSha256s.map((sealedSha256) => ({ kind: "seal/v1" as const, sealedSha256 }));
  const lines = new Map([...seals, ...closings].map((entry) => [formatEntry(entry), entry.sealedSha256]));
  if (lines.size === 0) return new Map();
  // A line that has a leaf may be queued again. Its leaf's row comes last in the result, and so overrides the queue's
  // row. The queue has no index by line and may have millions of lines, so it is read only when some line has no leaf.
  const rows = await db.query<{ line: string; isLogged: boolean; isAnchored: boolean }>(sql`
    WITH logged AS MATERIALIZED (
      SELECT line, EXISTS (SELECT FROM log_checkpoints c WHERE c.log = e.log AND c.size > e.leaf) AS "isLogged",
        EXISTS (SELECT FROM log_anchors a WHERE a.log = e.log AND a.size > e.leaf AND source = ${openTimestamps} AND proof IS NOT NULL) AS "isAnchored"
      FROM log_leaves e WHERE ${isOneOf(environment, [...lines.keys()])}
    )
    SELECT line, false AS "isLogged", false AS "isAnchored" FROM log_entries
    WHERE log = ${environment} AND line = ANY (${[...lines.keys()]}::text[]) AND (SELECT count(*) FROM logged) < ${lines.size}
    UNION ALL SELECT * FROM logged`);
  return new Map(
    rows.map(({ line, isLogged, isAnchored }) => [
      lines.get(line) ?? "",
      proofForms.filter((form) => (form === "ots" ? isAnchored : isLogged)),
    ]),
  );
}

/** Gauge: for each source, how long the oldest root of the live logs has waited to be anchored; 0 when none waits. */
export const anchorGauges = (now: Date): Statement => sql`
SELECT 'log_roots_oldest_waiting_seconds' AS gauge, source AS label,
  coalesce(greatest(0, extract(epoch FROM ${now}::timestamptz - min(chosen_at) FILTER (WHERE status = 'waiting'))), 0)::float8 AS value
FROM log_anchors WHERE log LIKE 'live%' GROUP BY source`;
