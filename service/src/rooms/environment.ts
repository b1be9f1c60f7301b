import type { Environment } from "../identity/identity.ts";
import type { Sql } from "../platform/database/database.ts";
import { isSealed, sql } from "../platform/database/sql.ts";
import { isCode } from "../platform/text.ts";

/** The environment of a room and of all its orders, by the room's code; null for an unknown code. */
export async function roomEnvironment(db: Sql, roomCode: string): Promise<Environment | null> {
  if (!isCode(roomCode)) return null;
  const [room] = await db.query<{ environment: Environment }>(
    sql`SELECT environment FROM rooms WHERE ${isSealed(sql`code`, "room", roomCode)}`,
  );
  return room?.environment ?? null;
}
