import type { Owner } from "../identity/identity.ts";
import type { Sql, Tx } from "../platform/database/database.ts";
import { isSealed, nothing, type Statement, sealed, sql } from "../platform/database/sql.ts";
import { isCode } from "../platform/text.ts";

export type RoomState = "open" | "closed";

export type LockedRoom = { id: string; code: string; name: string; status: RoomState; orderCount: number };

const ownedBy = ({ partnerId, environment }: Owner) => sql`partner_id = ${partnerId} AND environment = ${environment}`;

const hasCode = (code: string): Statement => isSealed(sql`code`, "room", code);

/** Locks the room until the end of the transaction; undefined for an unknown code and for one of another owner. */
export async function lockRoom(tx: Tx, code: string, owner: Owner): Promise<LockedRoom | undefined> {
  const [room] = await tx.query<LockedRoom>(
    sql`SELECT id, code AS "code@room", name, status, order_count AS "orderCount" FROM rooms
     WHERE ${hasCode(code)} AND ${ownedBy(owner)} FOR NO KEY UPDATE`,
  );
  return room;
}

/** Locks the partner against other changes of its open rooms. @returns the name of its tier as it is now. */
export async function lockPartner(tx: Tx, partnerId: string): Promise<string> {
  const [partner] = await tx.query<{ tier: string }>(
    sql`SELECT tier FROM partners WHERE id = ${partnerId} FOR NO KEY UPDATE`,
  );
  if (!partner) throw new Error("a key without its partner");
  return partner.tier;
}

export type NewRoomRow = Owner & { id: string; code: string; name: string; reference: string | null; at: Date };

/** A new room is open. */
export const insertRoom = (tx: Tx, room: NewRoomRow) =>
  tx.query(
    sql`INSERT INTO rooms (id, code, partner_id, environment, name, reference, status, created_at, updated_at)
     VALUES (${room.id}, ${sealed("room", room.code)}, ${room.partnerId}, ${room.environment}, ${room.name}, ${room.reference}, 'open',
       ${room.at}, ${room.at})`,
  );

/** The old code is unknown from the commit on. */
export const changeCode = (tx: Tx, roomId: string, code: string, at: Date) =>
  tx.query(sql`UPDATE rooms SET code = ${sealed("room", code)}, updated_at = ${at} WHERE id = ${roomId}`);

export const changeStatus = (tx: Tx, roomId: string, status: RoomState) =>
  tx.query(sql`UPDATE rooms SET status = ${status} WHERE id = ${roomId}`);

export type RoomSummaryRow = {
  id: string;
  code: string;
  name: string;
  reference: string | null;
  status: RoomState;
  orderCount: number;
  createdAt: Date;
  updatedAt: Date;
};

/**
 * A page of the owner's rooms, newest first; apart from its running, so that its plan can be looked at.
 * @param after id of the room before the first one wanted, or null.
 */
export function roomListStatement(owner: Owner, limit: number, after: string | null): Statement {
  const next =
    after === null ? nothing : sql` AND (created_at, id) < (SELECT created_at, id FROM rooms WHERE id = ${after})`;
  return sql`
    SELECT id, code AS "code@room", name, reference, status, order_count AS "orderCount", created_at AS "createdAt",
      updated_at AS "updatedAt"
    FROM rooms WHERE ${ownedBy(owner)}${next} ORDER BY created_at DESC, id DESC LIMIT ${limit}`;
}

export const selectRooms = (db: Sql, owner: Owner, limit: number, after: string | null) =>
  db.query<RoomSummaryRow>(roomListStatement(owner, limit, after));

export type OpenRoom = Pick<RoomSummaryRow, "code" | "name" | "reference" | "orderCount">;

/** The owner's open rooms, newest first; with them the one of the code, however old it is. */
export async function latestOpenRooms(db: Sql, owner: Owner, limit: number, code = ""): Promise<OpenRoom[]> {
  const open = sql`SELECT code AS "code@room", name, reference, order_count AS "orderCount" FROM rooms
    WHERE ${ownedBy(owner)} AND status = 'open'`;
  const latest = await db.query<OpenRoom>(sql`${open} ORDER BY created_at DESC, id DESC LIMIT ${limit}`);
  if (!isCode(code) || latest.some((room) => room.code === code)) return latest;
  return [...latest, ...(await db.query<OpenRoom>(sql`${open} AND ${hasCode(code)}`))];
}

export async function ownsRoom(db: Sql, roomId: string, owner: Owner): Promise<boolean> {
  return (await db.query(sql`SELECT FROM rooms WHERE id = ${roomId} AND ${ownedBy(owner)}`)).length === 1;
}
