import { firstOfBoth, lockFirm, type OpenRooms } from "../../firms/partners/partners.ts";
import type { Environment, Owner } from "../../kernel/identity/identity.ts";
import type { Sql, Tx } from "../../kernel/platform/database/database.ts";
import { isSealed, nothing, type Statement, sealed, sql } from "../../kernel/platform/database/sql.ts";
import {
  type Marked,
  marked,
  type StateMac,
  verified,
  writeStateMacs,
} from "../../kernel/platform/database/state-mac.ts";
import { stateRows } from "../../kernel/platform/protected-data.ts";
import { isCode } from "../../kernel/platform/text.ts";

export type RoomState = "open" | "closed";

/**
 * The part of the MAC for the number of orders and the due day. A room without a day has only the number, so that MACs
 * from before the day existed stay valid.
 */
const countAndDay = (r: Statement): Statement => sql`CASE WHEN ${r}.closes_on IS NULL
  THEN to_jsonb(${r}.order_count) ELSE jsonb_build_array(${r}.order_count, ${r}.closes_on) END`;

/**
 * The MAC of a room covers its code and `state_version`, among other columns. Triggers increase `state_version`
 * whenever an order or a participant of the room is added, removed or changed. So a change of those rows by database
 * access alone makes the room's MAC invalid.
 */
export const roomState: StateMac = {
  table: sql`rooms`,
  key: sql`id`,
  mac: sql`row_mac`,
  covered: (
    r,
  ) => sql`${r}.id, ${r}.partner_id, ${r}.environment, ${r}.name, ${r}.reference, ${r}.status, ${countAndDay(r)},
    extract(epoch FROM ${r}.created_at), extract(epoch FROM ${r}.updated_at), ${r}.state_version`,
  opened: { column: sql`code`, kind: "room" },
};

export const protectedTables = [
  stateRows(roomState, {
    backfill: { set: "rooms" },
    texts: [{ kind: "room", column: sql`code`, constraint: "rooms_code_sealed" }],
  }),
];

/**
 * Columns for the SELECT list of a query on `rooms`, or on `rooms r`. They make the query throw on a row whose MAC is
 * invalid.
 */
const verifiedRooms: Statement = verified(roomState, sql`rooms`);
export const verifiedRoom: Statement = verified(roomState, sql`r`);
const markedRooms = marked(roomState, sql`rooms`);

/** The FROM clause with which other features read rooms. The alias is `r`, as in `verifiedRoom`. */
export const fromRooms: Statement = sql`FROM rooms r`;

/**
 * SQL: joins the room `r` to rows of another table.
 * @param id the expression with the room's id in that table
 */
export const joinRoom = (id: Statement): Statement => sql`JOIN rooms r ON r.id = ${id}`;

export const isOpenRoom = (id: Statement): Statement =>
  sql`EXISTS (SELECT FROM rooms x WHERE x.id = ${id} AND x.status = 'open')`;

/** SQL fragments with which other features read the orders of rooms (alias `a`) and their participants (alias `p`). */
export const attachmentsTable: Statement = sql`room_orders a`;

export const fromAttachments: Statement = sql`FROM ${attachmentsTable}`;

export const joinAttachments = (roomId: Statement): Statement => sql`JOIN ${attachmentsTable} ON a.room_id = ${roomId}`;

export const fromParticipants: Statement = sql`FROM room_participants p`;

/** SQL: like `joinRoom`, but a LEFT JOIN, for rows that may have no room. */
export const leftJoinRoom = (id: Statement): Statement => sql`LEFT JOIN rooms r ON r.id = ${id}`;

/**
 * Writes the room's MAC after a change of the room, its orders or its participants. The caller must have locked the
 * room.
 */
export const writeRoomMac = (tx: Tx, roomId: string): Promise<void> =>
  writeStateMacs(tx, roomState, sql`id = ${roomId}`);

/** Leaves out rooms whose MAC is invalid. */
export const authentic = <Row extends Marked>(rows: readonly Row[]): Omit<Row, "isAuthentic">[] =>
  rows.filter(({ isAuthentic }) => isAuthentic).map(({ isAuthentic: _, ...room }) => room);

export type LockedRoom = {
  id: string;
  code: string;
  name: string;
  status: RoomState;
  orderCount: number;
  closesOn: string | null;
};

const ownedBy = ({ partnerId, environment }: Owner) => sql`partner_id = ${partnerId} AND environment = ${environment}`;

const hasCode = (code: string): Statement => isSealed(sql`code`, "room", code);

/**
 * Locks the room until the end of the transaction; undefined for an unknown code and for another owner's room.
 * @throws ServiceError `unavailable` for a room whose MAC is invalid
 */
export async function lockRoom(tx: Tx, code: string, owner: Owner): Promise<LockedRoom | undefined> {
  const [room] = await tx.query<LockedRoom>(
    sql`SELECT id, code AS "code@room", name, status, order_count AS "orderCount", closes_on::text AS "closesOn", ${verifiedRooms}
     FROM rooms WHERE ${hasCode(code)} AND ${ownedBy(owner)} FOR NO KEY UPDATE`,
  );
  return room;
}

/**
 * Locks the partner, so that no other transaction opens or reopens a room of the partner meanwhile.
 * @returns its present tier
 */
export async function lockPartner(tx: Tx, partnerId: string): Promise<string> {
  const partner = await lockFirm(tx, partnerId);
  if (!partner) throw new Error("a key without its partner");
  return partner.tier;
}

export type NewRoomRow = Owner & {
  id: string;
  code: string;
  name: string;
  reference: string | null;
  closesOn?: string;
  at: Date;
};

/** Inserts a room. Its status is open. */
export async function insertRoom(tx: Tx, room: NewRoomRow): Promise<void> {
  await tx.query(
    sql`INSERT INTO rooms (id, code, partner_id, environment, name, reference, closes_on, status, created_at, updated_at)
     VALUES (${room.id}, ${sealed("room", room.code)}, ${room.partnerId}, ${room.environment}, ${room.name}, ${room.reference}, ${room.closesOn ?? null}::date, 'open',
       ${room.at}, ${room.at})`,
  );
  await writeRoomMac(tx, room.id);
}

/** Replaces the room's code. The old code stops working when the transaction commits. */
export async function changeCode(tx: Tx, roomId: string, code: string, at: Date): Promise<void> {
  // The trigger does not react to a changed code, so this statement increases the version itself. Otherwise an earlier
  // code could be restored together with its MAC.
  await tx.query(
    sql`UPDATE rooms SET code = ${sealed("room", code)}, updated_at = ${at}, state_version = state_version + 1 WHERE id = ${roomId}`,
  );
  await writeRoomMac(tx, roomId);
}

export async function changeStatus(tx: Tx, roomId: string, status: RoomState): Promise<void> {
  await tx.query(sql`UPDATE rooms SET status = ${status} WHERE id = ${roomId}`);
  await writeRoomMac(tx, roomId);
}

export async function changeClosesOn(tx: Tx, roomId: string, closesOn: string | null): Promise<void> {
  await tx.query(sql`UPDATE rooms SET closes_on = ${closesOn}::date WHERE id = ${roomId}`);
  await writeRoomMac(tx, roomId);
}

export type RoomSummaryRow = {
  id: string;
  code: string;
  name: string;
  reference: string | null;
  closesOn: string | null;
  status: RoomState;
  orderCount: number;
  /** True if the service seals the room's certificate by itself. */
  sealWhenDone: boolean;
  createdAt: Date;
  updatedAt: Date;
};

/**
 * A page of the owner's rooms, newest first. The statement is built apart from its execution, so that tests can check
 * its query plan.
 * @param after the id of the previous page's last room, or null
 */
export function roomListStatement(owner: Owner, limit: number, after: string | null): Statement {
  const next =
    after === null ? nothing : sql` AND (created_at, id) < (SELECT created_at, id FROM rooms WHERE id = ${after})`;
  return sql`
    SELECT id, code AS "code@room", name, reference, closes_on::text AS "closesOn", status, order_count AS "orderCount", created_at AS "createdAt",
      updated_at AS "updatedAt", EXISTS (SELECT FROM closing_seals s WHERE s.room_id = rooms.id) AS "sealWhenDone", ${markedRooms}
    FROM rooms WHERE ${ownedBy(owner)}${next} ORDER BY created_at DESC, id DESC LIMIT ${limit}`;
}

export const selectRooms = (db: Sql, owner: Owner, limit: number, after: string | null) =>
  db.query<RoomSummaryRow & Marked>(roomListStatement(owner, limit, after));

export type OpenRoom = Pick<RoomSummaryRow, "code" | "name" | "reference" | "orderCount">;

/**
 * The owner's newest open rooms, at most `limit`, newest first. If the room with the given code is open but older, it
 * is added at the end.
 */
export async function latestOpenRooms(db: Sql, owner: Owner, limit: number, code = ""): Promise<OpenRoom[]> {
  const open = sql`SELECT code AS "code@room", name, reference, order_count AS "orderCount", ${markedRooms}
    FROM rooms WHERE ${ownedBy(owner)} AND status = 'open'`;
  const select = async (which: Statement) => authentic(await db.query<OpenRoom & Marked>(sql`${open} ${which}`));
  const latest = await select(sql`ORDER BY created_at DESC, id DESC LIMIT ${limit}`);
  if (!isCode(code) || latest.some((room) => room.code === code)) return latest;
  return [...latest, ...(await select(sql`AND ${hasCode(code)}`))];
}

/** SQL expression: the number of an owner's open rooms. */
export const openRoomsOf: OpenRooms = ({ partnerId, environment }) =>
  sql`(SELECT count(*) FROM rooms WHERE partner_id = ${partnerId} AND environment = ${environment} AND status = 'open')`;

export async function countOpenRooms(db: Sql, { partnerId, environment }: Owner): Promise<number> {
  const owner = { partnerId: sql`${partnerId}`, environment: sql`${environment}` };
  const [row] = await db.query<{ rooms: number }>(sql`SELECT ${openRoomsOf(owner)} AS rooms`);
  return row?.rooms ?? 0;
}

/**
 * The time when a firm opened its first room, live or test. It is one of the first steps that a firm's launchpad shows.
 */
export const firstRoom = { roomAt: firstOfBoth(sql`rooms`) };

export async function ownsRoom(db: Sql, roomId: string, owner: Owner): Promise<boolean> {
  return (await db.query(sql`SELECT FROM rooms WHERE id = ${roomId} AND ${ownedBy(owner)}`)).length === 1;
}

/** The environment of the room with this code, and of all its orders; null for an unknown code. */
export async function roomEnvironment(db: Sql, roomCode: string): Promise<Environment | null> {
  if (!isCode(roomCode)) return null;
  const [room] = await db.query<{ environment: Environment }>(
    sql`SELECT environment, ${verifiedRooms} FROM rooms WHERE ${isSealed(sql`code`, "room", roomCode)}`,
  );
  return room?.environment ?? null;
}
