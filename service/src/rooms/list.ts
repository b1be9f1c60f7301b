import type { Principal } from "../identity/identity.ts";
import type { Database } from "../platform/database.ts";
import { invalid } from "../platform/errors.ts";
import { ownsRoom, type RoomSummaryRow, selectRooms } from "./store.ts";

export type RoomListQuery = { limit?: string; cursor?: string };

// The contract knows no pages: the first one is all that most partners have.
const maxLimit = 1000;
const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

function limitOf(text: string | undefined): number {
  if (text === undefined || text === "") return maxLimit;
  if (!/^[+-]?\d+$/.test(text)) throw invalid(`limit must be a whole number from 1 to ${maxLimit}.`);
  return Math.min(Math.max(Number(text), 1), maxLimit);
}

/** A cursor is the id of the last room of the page before: it is no credential, and outlives a rotation. */
async function afterOf(db: Database, principal: Principal, cursor: string | undefined): Promise<string | null> {
  if (cursor === undefined || cursor === "") return null;
  if (!uuid.test(cursor) || !(await ownsRoom(db, cursor, principal)))
    throw invalid("cursor is not one that this list has given.");
  return cursor;
}

const summaryView = (room: RoomSummaryRow) => ({
  roomCode: room.code,
  name: room.name,
  reference: room.reference,
  status: room.status,
  orderCount: room.orderCount,
  createdAt: room.createdAt,
  updatedAt: room.updatedAt,
});

/** A page of the caller's rooms, newest first, and the cursor of the next page or null. */
export async function roomPage(db: Database, principal: Principal, query: RoomListQuery) {
  const limit = limitOf(query.limit);
  const rows = await selectRooms(db, principal, limit + 1, await afterOf(db, principal, query.cursor));
  const page = rows.slice(0, limit);
  return { rooms: page.map(summaryView), nextCursor: rows.length > limit ? (page.at(-1)?.id ?? null) : null };
}
