import type { Principal } from "../../kernel/identity/identity.ts";
import type { Database } from "../../kernel/platform/database/database.ts";
import { cursorOf, foreignCursor, limitOf, type PageQuery, pageOf } from "../../kernel/platform/database/page.ts";
import { isUuid } from "../../kernel/platform/text.ts";
import type { RoomList, RoomSummary } from "./schemas.ts";
import { authentic, ownsRoom, type RoomSummaryRow, selectRooms } from "./store.ts";

// The contract has no pages, so the first page is large enough for most partners.
const pageSize = { usual: 1000, most: 1000 };

/**
 * A cursor is the id of the previous page's last room. It is not a credential, and stays valid when a code is rotated.
 */
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
 * @throws ServiceError for an invalid limit, or a cursor that this list did not return
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
