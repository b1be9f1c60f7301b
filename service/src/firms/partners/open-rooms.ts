import type { Owner } from "../identity/identity.ts";
import type { Sql } from "../platform/database/database.ts";
import { sql } from "../platform/database/sql.ts";
import type { Tier } from "./tiers.ts";

// The contract sets these; what an installation may set of a tier is in tier-limits.ts.
const quotas: Readonly<Record<Tier, number | null>> = { trial: 5, PartnerLink: 5, ProOffice: 25, ClosingDesk: null };

/** How many rooms a partner of this tier may hold open at once; null means as many as it likes. */
export const openRoomQuota = (tier: Tier): number | null => quotas[tier];

/** The firm's rooms that are open, in one environment. */
export async function countOpenRooms(db: Sql, { partnerId, environment }: Owner): Promise<number> {
  const [row] = await db.query<{ rooms: number }>(sql`SELECT count(*) AS rooms FROM rooms
    WHERE partner_id = ${partnerId} AND environment = ${environment} AND status = 'open'`);
  return row?.rooms ?? 0;
}
