import type { Sql } from "../../platform/database/database.ts";
import { isCode } from "../../platform/text.ts";
import { createViewCache } from "./cache.ts";
import type { RoomView } from "./schemas.ts";
import { findViewVersion, selectRoomRow } from "./store.ts";
import { viewOf } from "./view.ts";

/** The view of a room as it is now, for everybody who has its code; null for an unknown code. */
export async function roomView(db: Sql, roomCode: string): Promise<RoomView | null> {
  const row = isCode(roomCode) ? await selectRoomRow(db, roomCode) : undefined;
  return row ? viewOf(row) : null;
}

/**
 * Reads views as ready JSON. The version is read each time, so no answer is older than its request, on any node.
 * @param maxBytes what the kept answers may take.
 */
export function openViewReader(db: Sql, maxBytes: number): (roomCode: string) => Promise<Buffer | null> {
  const cache = createViewCache(maxBytes);
  return async (roomCode) => {
    if (!isCode(roomCode)) return null;
    // Where nothing is kept, the view itself is asked for at once.
    if (cache.has(roomCode)) {
      const version = await findViewVersion(db, roomCode);
      const kept = version && cache.get(roomCode, version);
      if (kept) return kept;
    }
    const row = await selectRoomRow(db, roomCode);
    if (!row) return null;
    const answer = Buffer.from(JSON.stringify(viewOf(row)));
    cache.put(roomCode, row.version, answer);
    return answer;
  };
}
