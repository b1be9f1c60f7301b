import type { Owner } from "../../kernel/identity/identity.ts";
import type { Sql } from "../../kernel/platform/database/database.ts";
import { sql } from "../../kernel/platform/database/sql.ts";
import type { Tier } from "./tiers.ts";

// The contract sets these limits. Limits that an installation may change are in tier-limits.ts.
const quotas: Readonly<Record<Tier, number | null>> = { trial: 5, PartnerLink: 5, ProOffice: 25, ClosingDesk: null };

/** How many rooms a partner of this tier may have open at once; null for no limit. */
export const openRoomQuota = (tier: Tier): number | null => quotas[tier];

export async function countOpenRooms(db: Sql, { partnerId, environment }: Owner): Promise<number> {
  const [row] = await db.query<{ rooms: number }>(sql`SELECT count(*) AS rooms FROM rooms
    WHERE partner_id = ${partnerId} AND environment = ${environment} AND status = 'open'`);
  return row?.rooms ?? 0;
}
