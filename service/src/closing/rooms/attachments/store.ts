import type { Environment, Owner } from "../../../kernel/identity/identity.ts";
import type { Sql, Tx } from "../../../kernel/platform/database/database.ts";
import { type Statement, sql } from "../../../kernel/platform/database/sql.ts";
import { type Marked, marked } from "../../../kernel/platform/database/state-mac.ts";
import { fromOrders, hasOrderCode } from "../../../orders/order/order.ts";
import type { Closing } from "../../../signing/envelopes/envelopes.ts";
import { authentic, roomState, writeRoomMac } from "../store.ts";

type OrderKey = { id: number; code: string; partnerId: string };

/**
 * Locks an order of any firm, found by its code, until the transaction ends. Otherwise the room's view could miss a
 * change that commits during the attachment.
 */
export async function holdOrder(tx: Tx, code: string, environment: Environment): Promise<OrderKey | undefined> {
  const [order] = await tx.query<OrderKey>(
    sql`SELECT o.id, o.code AS "code@order", o.partner_id AS "partnerId" ${fromOrders} WHERE ${hasOrderCode(code)} AND o.environment = ${environment} FOR SHARE`,
  );
  return order;
}

export async function findOrderId(db: Sql, code: string, environment: Environment): Promise<number | undefined> {
  const [order] = await db.query<{ id: number }>(
    sql`SELECT o.id ${fromOrders} WHERE ${hasOrderCode(code)} AND o.environment = ${environment}`,
  );
  return order?.id;
}

export async function isAttached(tx: Tx, roomId: string, orderId: number): Promise<boolean> {
  const rows = await tx.query(sql`SELECT FROM room_orders WHERE room_id = ${roomId} AND order_id = ${orderId}`);
  return rows.length === 1;
}

/**
 * Lets only one transaction at a time attach this order to rooms of other firms. So the count by `countForeignRooms`
 * stays exact.
 */
export const lockForeignRooms = (tx: Tx, order: OrderKey) =>
  tx.query(sql`SELECT pg_advisory_xact_lock(hashtextextended(${`foreign-rooms:${order.id}`}, 0))`);

/** The number of rooms of other firms that contain the order; counting stops at `max`. */
export async function countForeignRooms(tx: Tx, order: OrderKey, max: number): Promise<number> {
  const rows = await tx.query(
    sql`SELECT FROM room_orders a JOIN rooms r ON r.id = a.room_id
     WHERE a.order_id = ${order.id} AND r.partner_id <> ${order.partnerId} LIMIT ${max}`,
  );
  return rows.length;
}

export type RoomOfOrder = { code: string; name: string; status: string };

/** The owner's rooms that contain the order, at most 100, sorted by the time of its attachment, earliest first. */
export const roomsOfOrder = async (
  db: Sql,
  orderCode: string,
  { partnerId, environment }: Owner,
): Promise<RoomOfOrder[]> =>
  authentic(
    await db.query<RoomOfOrder & Marked>(
      sql`SELECT r.code AS "code@room", r.name, r.status, ${marked(roomState, sql`r`)}
       ${fromOrders} JOIN room_orders a ON a.order_id = o.id JOIN rooms r ON r.id = a.room_id
       WHERE ${hasOrderCode(orderCode)} AND r.partner_id = ${partnerId} AND r.environment = ${environment}
       ORDER BY a.attached_at, a.position LIMIT 100`,
    ),
  );

/**
 * For ORDER BY: sorts the rooms `r` of the order `o`; `a` is the attachment. Rooms with another order of the same
 * client and payer come first, then the room to which the order was attached last. The client's mails mention only the
 * first room, and the client pays that room's orders together.
 */
export const closingFirst: Statement = sql`EXISTS (
    SELECT FROM room_orders x JOIN orders y ON y.id = x.order_id
    WHERE x.room_id = r.id AND y.id <> o.id AND y.partner_id = o.partner_id AND y.environment = o.environment
      AND y.pay_by = o.pay_by AND lower(y.customer_email) = lower(o.customer_email)) DESC,
  a.attached_at DESC, a.position DESC`;

/**
 * The rooms of the order's own firm that contain it, each with that firm's orders, sorted by `closingFirst`. Leaves out
 * rooms whose MAC is invalid.
 */
export const closingsOf = async (db: Sql, orderId: number): Promise<Closing[]> =>
  authentic(
    await db.query<Closing & Marked>(
      sql`SELECT r.id, r.name, attached.orders, attached.labels, ${marked(roomState, sql`r`)}
       ${fromOrders} JOIN room_orders a ON a.order_id = o.id
         JOIN rooms r ON r.id = a.room_id AND r.partner_id = o.partner_id AND r.environment = o.environment
         CROSS JOIN LATERAL (
           SELECT json_agg(x.order_id ORDER BY x.position) AS orders, json_agg(x.label ORDER BY x.position) AS labels
           FROM room_orders x JOIN orders y ON y.id = x.order_id
           WHERE x.room_id = r.id AND y.partner_id = r.partner_id) attached
       WHERE o.id = ${orderId} ORDER BY ${closingFirst}`,
    ),
  );

/**
 * Inserts the attachment of an order to a room. The caller must have locked the room, so that `order_count` equals the
 * number of its attachments.
 */
export async function insertAttachment(
  tx: Tx,
  roomId: string,
  orderId: number,
  label: string | null,
  at: Date,
): Promise<void> {
  await tx.query(
    sql`WITH attachment AS (
       INSERT INTO room_orders (room_id, order_id, label, attached_at) VALUES (${roomId}, ${orderId}, ${label}, ${at}))
     UPDATE rooms SET order_count = order_count + 1, updated_at = ${at} WHERE id = ${roomId}`,
  );
  await writeRoomMac(tx, roomId);
}

/**
 * Removes an order from a room.
 * @returns false when the order was not in the room
 */
export async function deleteAttachment(tx: Tx, roomId: string, orderId: number, at: Date): Promise<boolean> {
  const rows = await tx.query(
    sql`WITH attachment AS (
       DELETE FROM room_orders WHERE room_id = ${roomId} AND order_id = ${orderId} RETURNING 1)
     UPDATE rooms SET order_count = order_count - 1, updated_at = ${at}
     WHERE id = ${roomId} AND EXISTS (SELECT FROM attachment) RETURNING 1`,
  );
  if (rows.length === 1) await writeRoomMac(tx, roomId);
  return rows.length === 1;
}
