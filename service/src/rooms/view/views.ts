import type { Sql } from "../../platform/database.ts";
import { isCode } from "../fields.ts";
import { createViewCache } from "./cache.ts";
import { findViewVersion, selectRoomRow } from "./store.ts";
import { type RoomView, viewOf } from "./view.ts";

/** Whoever has the code may read: the view of a room as it is now, or null for an unknown code. */
export async function roomView(sql: Sql, roomCode: string): Promise<RoomView | null> {
  const row = isCode(roomCode) ? await selectRoomRow(sql, roomCode) : undefined;
  return row ? viewOf(row) : null;
}

/**
 * Reads views as ready JSON. The version is read each time, so no answer is older than its request, on any node.
 * @param maxBytes what the kept answers may take.
 */
export function openViewReader(sql: Sql, maxBytes: number): (roomCode: string) => Promise<Buffer | null> {
  const cache = createViewCache(maxBytes);
  return async (roomCode) => {
    if (!isCode(roomCode)) return null;
    const present = await findViewVersion(sql, roomCode);
    if (!present) return null;
    const kept = cache.get(present.roomId, present.version);
    if (kept) return kept;
    const row = await selectRoomRow(sql, roomCode);
    if (!row) return null;
    const answer = Buffer.from(JSON.stringify(viewOf(row)));
    cache.put(row.roomId, row.version, answer);
    return answer;
  };
}
