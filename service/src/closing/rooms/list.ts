import type { Owner, Principal } from "../../kernel/identity/identity.ts";
import type { Database, Sql } from "../../kernel/platform/database/database.ts";
import { cursorOf, foreignCursor, limitOf, type PageQuery, pageOf } from "../../kernel/platform/database/page.ts";
import { isSealedAny, sql } from "../../kernel/platform/database/sql.ts";
import { isUuid } from "../../kernel/platform/text.ts";
import { joinOrder } from "../../orders/order/order.ts";
import type { RoomList, RoomSummary } from "./schemas.ts";
import { authentic, ownsRoom, type RoomSummaryRow, selectRooms } from "./store.ts";

// The contract defines no pagination for this list, so the first page is large enough for most partners.
const pageSize = { usual: 1000, max: 1000 };

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

/**
 * The time when each room last changed, by the room's code. Counts changes of the room's own record, corrections of the
 * firm's orders in it, and deliveries of documents that were sent or ended. The API's `updatedAt` is about the room's
 * own record alone.
 */
export async function lastChanges(db: Sql, owner: Owner, roomCodes: readonly string[]): Promise<Map<string, Date>> {
  const rows = await db.query<{ code: string; at: Date }>(sql`
    SELECT r.code AS "code@room", greatest(r.updated_at,
      (SELECT max(greatest(d.created_at, d.revoked_at)) FROM closing_deliveries d WHERE d.room_id = r.id),
      (SELECT max(c.at) FROM room_orders a ${joinOrder(sql`a.order_id`)} AND o.partner_id = r.partner_id
        JOIN order_corrections c ON c.order_id = o.id WHERE a.room_id = r.id)) AS at
    FROM rooms r WHERE ${isSealedAny(sql`r.code`, "room", roomCodes)}
      AND r.partner_id = ${owner.partnerId} AND r.environment = ${owner.environment}`);
  return new Map(rows.map(({ code, at }) => [code, at]));
}
