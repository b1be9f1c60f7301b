import type { Environment } from "../identity/identity.ts";
import type { Sql } from "../platform/database/database.ts";
import { sql } from "../platform/database/sql.ts";

/** The firm's rooms that are open, in one environment. */
export async function countOpenRooms(
  db: Sql,
  { partnerId, environment }: { partnerId: string; environment: Environment },
): Promise<number> {
  const [row] = await db.query<{ rooms: number }>(sql`SELECT count(*) AS rooms FROM rooms
    WHERE partner_id = ${partnerId} AND environment = ${environment} AND status = 'open'`);
  return row?.rooms ?? 0;
}
