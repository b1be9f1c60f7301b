import type { Owner } from "../identity/identity.ts";
import type { Sql, Tx } from "../platform/database.ts";

/** Whose rooms: a partner's, in the environment of its key. */

export type LockedRoom = { id: string; code: string; name: string; status: string; orderCount: number };

/** Locks the room until the end of the transaction; undefined for an unknown code and for one of another owner. */
export async function lockRoom(tx: Tx, code: string, owner: Owner): Promise<LockedRoom | undefined> {
  const [room] = await tx.rows<LockedRoom>(
    `SELECT id, code, name, status, order_count AS "orderCount" FROM rooms
     WHERE code = $1 AND partner_id = $2 AND environment = $3 FOR NO KEY UPDATE`,
    [code, owner.partnerId, owner.environment],
  );
  return room;
}

/** Locks the partner against other changes of its open rooms. @returns the name of its tier as it is now. */
export async function lockPartner(tx: Tx, partnerId: string): Promise<string> {
  const [partner] = await tx.rows<{ tier: string }>("SELECT tier FROM partners WHERE id = $1 FOR NO KEY UPDATE", [
    partnerId,
  ]);
  if (!partner) throw new Error("a key without its partner");
  return partner.tier;
}

export type NewRoom = Owner & { id: string; code: string; name: string; reference: string | null; at: Date };

/** A new room is open. */
export const insertRoom = (tx: Tx, room: NewRoom) =>
  tx.rows(
    `INSERT INTO rooms (id, code, partner_id, environment, name, reference, status, created_at, updated_at)
     VALUES ($1, $2, $3, $4, $5, $6, 'open', $7, $7)`,
    [room.id, room.code, room.partnerId, room.environment, room.name, room.reference, room.at],
  );

/** The old code is unknown from the commit on. */
export const changeCode = (tx: Tx, roomId: string, code: string, at: Date) =>
  tx.rows("UPDATE rooms SET code = $2, updated_at = $3 WHERE id = $1", [roomId, code, at]);

export const changeStatus = (tx: Tx, roomId: string, status: "open" | "closed") =>
  tx.rows("UPDATE rooms SET status = $2 WHERE id = $1", [roomId, status]);

export type RoomAudit = {
  at: Date;
  action: string;
  actor: string;
  partnerId: string;
  roomId: string;
  orderId?: number;
  fromStatus?: string;
  toStatus?: string;
  detail?: object;
};

export const insertAudit = (tx: Tx, row: RoomAudit) =>
  tx.rows(
    `INSERT INTO audit_log (occurred_at, action, actor, partner_id, room_id, order_id, from_status, to_status, detail)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
    [row.at, row.action, row.actor, row.partnerId, row.roomId, row.orderId, row.fromStatus, row.toStatus, row.detail],
  );

export type RoomSummaryRow = {
  id: string;
  code: string;
  name: string;
  reference: string | null;
  status: string;
  orderCount: number;
  createdAt: Date;
  updatedAt: Date;
};

export type OpenRoom = Pick<RoomSummaryRow, "code" | "name" | "reference" | "orderCount">;

const selectPage = (after: boolean) => `
  SELECT id, code, name, reference, status, order_count AS "orderCount", created_at AS "createdAt", updated_at AS "updatedAt"
  FROM rooms WHERE partner_id = $1 AND environment = $2
  ${after ? "AND (created_at, id) < (SELECT created_at, id FROM rooms WHERE id = $4)" : ""}
  ORDER BY created_at DESC, id DESC LIMIT $3`;
const selectFirst = selectPage(false);
const selectAfter = selectPage(true);

/** Statement and values of a page; apart from its running, so that its plan can be looked at. */
export const roomListStatement = ({ partnerId, environment }: Owner, limit: number, after: string | null) =>
  after === null
    ? { text: selectFirst, values: [partnerId, environment, limit] }
    : { text: selectAfter, values: [partnerId, environment, limit, after] };

/** The owner's rooms, newest first. @param after id of the room before the first one wanted, or null. */
export function selectRooms(sql: Sql, owner: Owner, limit: number, after: string | null) {
  const { text, values } = roomListStatement(owner, limit, after);
  return sql.rows<RoomSummaryRow>(text, values);
}

/** The owner's open rooms, newest first. */
export const latestOpenRooms = (sql: Sql, { partnerId, environment }: Owner, limit: number) =>
  sql.rows<OpenRoom>(
    `SELECT code, name, reference, order_count AS "orderCount" FROM rooms
     WHERE partner_id = $1 AND environment = $2 AND status = 'open' ORDER BY created_at DESC, id DESC LIMIT $3`,
    [partnerId, environment, limit],
  );

export async function ownsRoom(sql: Sql, roomId: string, { partnerId, environment }: Owner): Promise<boolean> {
  const rows = await sql.rows("SELECT 1 FROM rooms WHERE id = $1 AND partner_id = $2 AND environment = $3", [
    roomId,
    partnerId,
    environment,
  ]);
  return rows.length === 1;
}
