import type { Principal } from "../../kernel/identity/identity.ts";
import type { Database } from "../../kernel/platform/database/database.ts";
import { cursorOf, foreignCursor, limitOf, type PageQuery, pageOf } from "../../kernel/platform/database/page.ts";
import { isUuid } from "../../kernel/platform/text.ts";
import type { RoomList, RoomSummary } from "./schemas.ts";
import { authentic, ownsRoom, type RoomSummaryRow, selectRooms } from "./store.ts";

// The contract defines no pagination for this list, so the first page is large enough for most partners.
const pageSize = { usual: 1000, most: 1000 };

/**
 * A cursor is the id of the last room on the previous page. The id is not a credential, and it stays the same when the
 * room's code is rotated.
 */
async function afterOf(db: Database, principal: Principal, cursor: string | null): Promise<string | null> {
  if (cursor !== null && !(isUuid(cursor) && (await ownsRoom(db, cursor, principal)))) throw foreignCursor();
  return cursor;
}

const summaryView = (room: RoomSummaryRow): RoomSummary => ({
  roomCode: room.code,
  name: room.name,
  reference: room.reference,
  ...(room.closesOn !== null && { closesOn: room.closesOn }),
  status: room.status,
  orderCount: room.orderCount,
  ...(room.sealWhenDone && { sealWhenDone: true }),
  createdAt: room.createdAt.toISOString(),
  updatedAt: room.updatedAt.toISOString(),
});

/**
 * A page of the caller's rooms, newest first.
 * @throws ServiceError for an invalid limit, or for a cursor that this list has not returned
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
  return { rooms: authentic(items).map(summaryView), nextCursor };
}
