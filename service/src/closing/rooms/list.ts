import type { Principal } from "../identity/identity.ts";
import type { Database } from "../platform/database/database.ts";
import { cursorOf, foreignCursor, limitOf, type PageQuery, pageOf } from "../platform/database/page.ts";
import { isUuid } from "../platform/text.ts";
import type { RoomList, RoomSummary } from "./schemas.ts";
import { ownsRoom, type RoomSummaryRow, selectRooms } from "./store.ts";

// The contract knows no pages: the first one is all that most partners have.
const pageSize = { usual: 1000, most: 1000 };

/** A cursor is the id of the last room of the page before: it is no credential, and outlives a rotation. */
async function afterOf(db: Database, principal: Principal, cursor: string | null): Promise<string | null> {
  if (cursor !== null && !(isUuid(cursor) && (await ownsRoom(db, cursor, principal)))) throw foreignCursor();
  return cursor;
}

const summaryView = (room: RoomSummaryRow): RoomSummary => ({
  roomCode: room.code,
  name: room.name,
  reference: room.reference,
  status: room.status,
  orderCount: room.orderCount,
  createdAt: room.createdAt.toISOString(),
  updatedAt: room.updatedAt.toISOString(),
});

/**
 * A page of the caller's rooms, newest first.
 * @throws ServiceError for a limit that is no number, or a cursor that this list has not given.
 */
export async function roomPage(
  db: Database,
  principal: Principal,
  query: PageQuery,
): Promise<Omit<RoomList, "requestId">> {
  const limit = limitOf(query.limit, pageSize);
  const after = await afterOf(db, principal, cursorOf(query.cursor));
  const rows = await selectRooms(db, principal, limit + 1, after);
  const { items, nextCursor } = pageOf(rows, limit, ({ id }) => id);
  return { rooms: items.map(summaryView), nextCursor };
}
