import type { Sql } from "../platform/database.ts";

/** A detached OpenTimestamps proof that waits for its block. `calendar` is the first that took the hash. */
export type Anchor = { proof: Uint8Array; calendar: string; submittedAt: Date; nextLookAt: Date };

export type DueAnchor = { passportId: string; proof: Buffer; submittedAt: Date };

const claim = `
UPDATE passport_anchors SET next_look_at = $2, looks = looks + 1
WHERE passport_id IN (
  SELECT passport_id FROM passport_anchors WHERE status = 'pending' AND next_look_at <= $1
  ORDER BY next_look_at LIMIT $3 FOR UPDATE SKIP LOCKED
)
RETURNING passport_id AS "passportId", proof, submitted_at AS "submittedAt"`;

/** Takes pending anchors that are due for one caller; until `claimedUntil` nobody else gets them. */
export function claimDueAnchors(sql: Sql, now: Date, claimedUntil: Date, limit: number): Promise<DueAnchor[]> {
  return sql.rows<DueAnchor>(claim, [now, claimedUntil, limit]);
}

// Two lookers at once each add what they heard: the second to write loses its addition, and hears it again next time.
const update = `
UPDATE passport_anchors SET proof = $3, block_height = $4::int, next_look_at = $5,
  status = CASE WHEN $4::int IS NULL THEN 'pending' ELSE 'confirmed' END
WHERE passport_id = $1 AND status = 'pending' AND proof = $2`;

/** Writes what was learned of an anchor, unless somebody else was first. A block height confirms it. */
export async function updateAnchor(
  sql: Sql,
  { passportId, proof }: DueAnchor,
  learned: { proof: Uint8Array; blockHeight: number | null; nextLookAt: Date | null },
): Promise<void> {
  await sql.rows(update, [passportId, proof, learned.proof, learned.blockHeight, learned.nextLookAt]);
}
