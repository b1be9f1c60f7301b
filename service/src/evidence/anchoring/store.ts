import { hash } from "node:crypto";
import type { Sql } from "../../kernel/platform/database/database.ts";
import { type Statement, sql } from "../../kernel/platform/database/sql.ts";
import type { MacTable } from "../../kernel/platform/protected-data.ts";
import type { Members, RowMac } from "../../kernel/platform/row-mac.ts";

/** A detached OpenTimestamps proof that waits for its block. `calendar` is the first one that accepted the hash. */
export type Anchor = { proof: Uint8Array; calendar: string; submittedAt: Date; nextUpgradeAt: Date };

/** The public facts of an anchor; `proofSha256` in hex. */
export type AnchorFacts = {
  passportId: string;
  proofSha256: string;
  calendar: string;
  submittedAt: Date;
  status: "pending" | "confirmed";
  blockHeight: number | null;
};

/** The MAC does not cover the time of the next upgrade, because that time is not evidence. */
export const anchorMembers = (facts: AnchorFacts): Members => {
  const { passportId, proofSha256, calendar, submittedAt, status, blockHeight } = facts;
  return { passportId, proofSha256, calendar, submittedAt, status, blockHeight };
};

const anchorRows: MacTable<AnchorFacts> = {
  table: sql`passport_anchors`,
  key: sql`passport_id`,
  mac: sql`row_mac`,
  rows: sql`
SELECT passport_id AS key, passport_id AS "passportId", encode(sha256(proof), 'hex') AS "proofSha256", calendar,
  submitted_at AS "submittedAt", status, block_height AS "blockHeight", row_mac AS mac
FROM passport_anchors`,
  members: anchorMembers,
};

export const protectedTables = [anchorRows];

/**
 * SQL expression: LEFT JOINs the anchor of a passport.
 * @param passportId an expression with the passport's id
 */
export const leftJoinAnchor = (passportId: Statement): Statement =>
  sql`LEFT JOIN passport_anchors ON passport_id = ${passportId}`;

export function anchorRow(rowMac: RowMac, passportId: string, anchor: Anchor): Statement {
  const { proof, calendar, submittedAt, nextUpgradeAt } = anchor;
  const facts = {
    passportId,
    proofSha256: hash("sha256", proof),
    calendar,
    submittedAt,
    status: "pending",
    blockHeight: null,
  } as const;
  return sql`
  INSERT INTO passport_anchors (passport_id, proof, calendar, submitted_at, status, next_look_at, row_mac)
  VALUES (${passportId}, ${proof}, ${calendar}, ${submittedAt}, 'pending', ${nextUpgradeAt},
    ${rowMac.of("passport_anchors", anchorMembers(facts))})`;
}

export type DueAnchor = { passportId: string; proof: Buffer; calendar: string; submittedAt: Date; mac: Buffer | null };

/** True if the MAC of a due anchor's row is valid. */
export const isAsWritten = (rowMac: RowMac, { mac, proof, ...due }: DueAnchor): boolean =>
  rowMac.holds(
    "passport_anchors",
    anchorMembers({ ...due, proofSha256: hash("sha256", proof), status: "pending", blockHeight: null }),
    mac,
  );

/**
 * Claims due anchors for one caller until `claimedUntil`. The subquery returns an array, which PostgreSQL evaluates
 * once. It may evaluate `IN (SELECT ...)` for each row, and then claim more than `limit` anchors.
 */
export const claimDueAnchors = (db: Sql, now: Date, claimedUntil: Date, limit: number): Promise<DueAnchor[]> =>
  db.query<DueAnchor>(sql`
UPDATE passport_anchors SET next_look_at = ${claimedUntil}, looks = looks + 1
WHERE passport_id = ANY (ARRAY(
  SELECT passport_id FROM passport_anchors WHERE status = 'pending' AND next_look_at <= ${now}
  ORDER BY next_look_at LIMIT ${limit} FOR NO KEY UPDATE SKIP LOCKED
))
RETURNING passport_id AS "passportId", proof, calendar, submitted_at AS "submittedAt", row_mac AS mac`);

/** The result of an upgrade. A proof with a block height is confirmed and has no next upgrade. */
export type Learned = { proof: Uint8Array; blockHeight: number | null; nextUpgradeAt: Date | null };

/** Stores the result of an upgrade, unless another node stored one first. */
export async function updateAnchor(
  { db, rowMac }: { db: Sql; rowMac: RowMac },
  { passportId, proof, calendar, submittedAt }: DueAnchor,
  learned: Learned,
): Promise<void> {
  const { blockHeight } = learned;
  const status = blockHeight === null ? "pending" : "confirmed";
  const facts = {
    passportId,
    proofSha256: hash("sha256", learned.proof),
    calendar,
    submittedAt,
    status,
    blockHeight,
  } as const;
  // Does nothing if another node has upgraded the proof since it was read. This result is then lost, and the next
  // upgrade fetches it again.
  await db.query(sql`
UPDATE passport_anchors SET proof = ${learned.proof}, block_height = ${blockHeight},
  next_look_at = ${learned.nextUpgradeAt}, status = ${status},
  row_mac = ${rowMac.of("passport_anchors", anchorMembers(facts))}
WHERE passport_id = ${passportId} AND status = 'pending' AND proof = ${proof}`);
}

/** Gauges: the number of proofs that wait for their block, and the age of the oldest. */
export const pendingAnchorGauges = (now: Date): Statement => sql`
SELECT gauge, '' AS label, value FROM (
  SELECT count(*) AS pending, min(submitted_at) AS oldest FROM passport_anchors WHERE status = 'pending'
) AS anchors, LATERAL (VALUES
  ('anchors_pending', pending::float8),
  ('anchors_oldest_pending_seconds', coalesce(greatest(0, extract(epoch FROM ${now}::timestamptz - oldest)), 0))
) AS figures (gauge, value)`;
