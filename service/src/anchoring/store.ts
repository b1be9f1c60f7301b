import type { Sql } from "../platform/database.ts";
import { sql } from "../platform/sql.ts";

/** A detached OpenTimestamps proof that waits for its block. `calendar` is the first that took the hash. */
export type Anchor = { proof: Uint8Array; calendar: string; submittedAt: Date; nextUpgradeAt: Date };

export type DueAnchor = { passportId: string; proof: Buffer; submittedAt: Date };

/** Takes pending anchors that are due for one caller; until `claimedUntil` nobody else gets them. */
export const claimDueAnchors = (db: Sql, now: Date, claimedUntil: Date, limit: number): Promise<DueAnchor[]> =>
  db.query<DueAnchor>(sql`
UPDATE passport_anchors SET next_look_at = ${claimedUntil}, looks = looks + 1
WHERE passport_id IN (
  SELECT passport_id FROM passport_anchors WHERE status = 'pending' AND next_look_at <= ${now}
  ORDER BY next_look_at LIMIT ${limit} FOR UPDATE SKIP LOCKED
)
RETURNING passport_id AS "passportId", proof, submitted_at AS "submittedAt"`);

/** What the calendars said; a block height confirms the proof, and there is no next upgrade. */
export type Learned = { proof: Uint8Array; blockHeight: number | null; nextUpgradeAt: Date | null };

/** Writes what was learned of an anchor, unless another node was first. */
export async function updateAnchor(db: Sql, { passportId, proof }: DueAnchor, learned: Learned): Promise<void> {
  const status = learned.blockHeight === null ? "pending" : "confirmed";
  // Of two nodes at once the second to write loses its addition, and hears it again at the next upgrade.
  await db.query(sql`
UPDATE passport_anchors SET proof = ${learned.proof}, block_height = ${learned.blockHeight},
  next_look_at = ${learned.nextUpgradeAt}, status = ${status}
WHERE passport_id = ${passportId} AND status = 'pending' AND proof = ${proof}`);
}
