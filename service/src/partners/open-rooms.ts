import type { Environment } from "../identity/identity.ts";
import type { Sql } from "../platform/database.ts";

/** The firm's rooms that are open, in one environment. */
export async function countOpenRooms(sql: Sql, of: { partnerId: string; environment: Environment }): Promise<number> {
  const [row] = await sql.rows<{ rooms: number }>(
    "SELECT count(*) AS rooms FROM rooms WHERE partner_id = $1 AND environment = $2 AND status = 'open'",
    [of.partnerId, of.environment],
  );
  return row?.rooms ?? 0;
}
