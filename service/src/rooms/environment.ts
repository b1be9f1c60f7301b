import type { Environment } from "../identity/identity.ts";
import type { Sql } from "../platform/database.ts";
import { isCode } from "./fields.ts";

/** The environment of a room and of all its orders, for whoever has its code; null for an unknown code. */
export async function roomEnvironment(sql: Sql, roomCode: string): Promise<Environment | null> {
  if (!isCode(roomCode)) return null;
  const [room] = await sql.rows<{ environment: Environment }>("SELECT environment FROM rooms WHERE code = $1", [
    roomCode,
  ]);
  return room?.environment ?? null;
}
