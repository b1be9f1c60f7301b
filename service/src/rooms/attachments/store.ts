import type { Environment, Owner } from "../../identity/identity.ts";
import type { Titled } from "../../orders/orders.ts";
import type { Sql, Tx } from "../../platform/database/database.ts";
import { isSealed, type Statement, sql } from "../../platform/database/sql.ts";

type OrderKey = { id: number; code: string; partnerId: string };

/**
 * Finds an order by its code alone, and holds it against changes until the end of the transaction: what commits between
 * the attachment's look and its commit could be missed by the room's view otherwise.
 */
export async function holdOrder(tx: Tx, code: string, environment: Environment): Promise<OrderKey | undefined> {
  const [order] = await tx.query<OrderKey>(
    sql`SELECT id, code, partner_id AS "partnerId" FROM orders WHERE code = ${code} AND environment = ${environment} FOR SHARE`,
  );
  return order;
}

export async function findOrderId(db: Sql, code: string, environment: Environment): Promise<number | undefined> {
  const [order] = await db.query<{ id: number }>(
    sql`SELECT id FROM orders WHERE code = ${code} AND environment = ${environment}`,
  );
  return order?.id;
}

export async function isAttached(tx: Tx, roomId: string, orderId: number): Promise<boolean> {
  const rows = await tx.query(sql`SELECT FROM room_orders WHERE room_id = ${roomId} AND order_id = ${orderId}`);
  return rows.length === 1;
}

/** Makes firms that attach another firm's order take turns until the end of their transactions, so that `countForeignRooms` is exact. */
export const lockForeignRooms = (tx: Tx, order: OrderKey) =>
  tx.query(sql`SELECT pg_advisory_xact_lock(hashtextextended(${`foreign-rooms:${order.id}`}, 0))`);

/** In how many rooms of firms other than its own the order is; counted up to `most`. */
export async function countForeignRooms(tx: Tx, order: OrderKey, most: number): Promise<number> {
  const rows = await tx.query(
    sql`SELECT FROM room_orders a JOIN rooms r ON r.id = a.room_id
     WHERE a.order_id = ${order.id} AND r.partner_id <> ${order.partnerId} LIMIT ${most}`,
  );
  return rows.length;
}

/** Those orders in the owner's room that it placed itself, and what their documents are called, encrypted; apart from its running, so that its plan can be looked at. */
export const ownOrdersStatement = (roomCode: string, { partnerId, environment }: Owner): Statement =>
  sql`SELECT o.code, o.document_name AS "documentName", o.doc_slug AS "docSlug" FROM rooms r JOIN room_orders a ON a.room_id = r.id JOIN orders o ON o.id = a.order_id
  WHERE ${isSealed(sql`r.code`, "room", roomCode)} AND r.partner_id = ${partnerId} AND r.environment = ${environment}
    AND o.partner_id = ${partnerId}`;

export const selectOwnOrders = (db: Sql, roomCode: string, owner: Owner) =>
  db.query<Titled>(ownOrdersStatement(roomCode, owner));

export type RoomOfOrder = { code: string; name: string; status: string };

/** The owner's rooms that the order is in, at most 100, in the order in which it came to them. */
export const roomsOfOrder = (db: Sql, orderCode: string, { partnerId, environment }: Owner) =>
  db.query<RoomOfOrder>(
    sql`SELECT r.code AS "code@room", r.name, r.status
     FROM orders o JOIN room_orders a ON a.order_id = o.id JOIN rooms r ON r.id = a.room_id
     WHERE o.code = ${orderCode} AND r.partner_id = ${partnerId} AND r.environment = ${environment}
     ORDER BY a.attached_at, a.position LIMIT 100`,
  );

/** Under the room's lock, so that `order_count` is the count of the rows. */
export const insertAttachment = (tx: Tx, roomId: string, orderId: number, label: string | null, at: Date) =>
  tx.query(
    sql`WITH attachment AS (
       INSERT INTO room_orders (room_id, order_id, label, attached_at) VALUES (${roomId}, ${orderId}, ${label}, ${at}))
     UPDATE rooms SET order_count = order_count + 1, updated_at = ${at} WHERE id = ${roomId}`,
  );

/** @returns false when the order was not in the room. */
export async function deleteAttachment(tx: Tx, roomId: string, orderId: number, at: Date): Promise<boolean> {
  const rows = await tx.query(
    sql`WITH attachment AS (
       DELETE FROM room_orders WHERE room_id = ${roomId} AND order_id = ${orderId} RETURNING 1)
     UPDATE rooms SET order_count = order_count - 1, updated_at = ${at}
     WHERE id = ${roomId} AND EXISTS (SELECT FROM attachment) RETURNING 1`,
  );
  return rows.length === 1;
}
