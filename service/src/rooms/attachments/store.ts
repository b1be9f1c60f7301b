import type { Environment, Owner } from "../../identity/identity.ts";
import type { Sql, Tx } from "../../platform/database.ts";

type OrderKey = { id: number; code: string };

/**
 * Finds an order by its code alone, and holds it against changes until the end of the transaction: what commits between
 * the attachment's look and its commit could be missed by the room's view otherwise.
 */
export async function holdOrder(tx: Tx, code: string, environment: Environment): Promise<OrderKey | undefined> {
  const [order] = await tx.rows<OrderKey>(
    "SELECT id, code FROM orders WHERE code = $1 AND environment = $2 FOR SHARE",
    [code, environment],
  );
  return order;
}

export async function findOrderId(sql: Sql, code: string, environment: Environment): Promise<number | undefined> {
  const [order] = await sql.rows<{ id: number }>("SELECT id FROM orders WHERE code = $1 AND environment = $2", [
    code,
    environment,
  ]);
  return order?.id;
}

export async function isAttached(tx: Tx, roomId: string, orderId: number): Promise<boolean> {
  const rows = await tx.rows("SELECT 1 FROM room_orders WHERE room_id = $1 AND order_id = $2", [roomId, orderId]);
  return rows.length === 1;
}

const ownOrders = `SELECT o.code FROM rooms r JOIN room_orders a ON a.room_id = r.id JOIN orders o ON o.id = a.order_id
  WHERE r.code = $1 AND r.partner_id = $2 AND r.environment = $3 AND o.partner_id = $2`;

/** Apart from its running, so that its plan can be looked at. */
export const ownOrdersStatement = (roomCode: string, { partnerId, environment }: Owner) => ({
  text: ownOrders,
  values: [roomCode, partnerId, environment],
});

/** Codes of those orders in the owner's room that it placed itself. */
export async function selectOwnOrders(sql: Sql, roomCode: string, owner: Owner): Promise<string[]> {
  const { text, values } = ownOrdersStatement(roomCode, owner);
  return (await sql.rows<{ code: string }>(text, values)).map(({ code }) => code);
}

/** Under the room's lock, so that `order_count` is the count of the rows. */
export const insertAttachment = (tx: Tx, roomId: string, orderId: number, label: string | null, at: Date) =>
  tx.rows(
    `WITH attachment AS (INSERT INTO room_orders (room_id, order_id, label, attached_at) VALUES ($1, $2, $3, $4))
     UPDATE rooms SET order_count = order_count + 1, updated_at = $4 WHERE id = $1`,
    [roomId, orderId, label, at],
  );

/** @returns false when the order was not in the room. */
export async function deleteAttachment(tx: Tx, roomId: string, orderId: number, at: Date): Promise<boolean> {
  const rows = await tx.rows(
    `WITH attachment AS (DELETE FROM room_orders WHERE room_id = $1 AND order_id = $2 RETURNING 1)
     UPDATE rooms SET order_count = order_count - 1, updated_at = $3 WHERE id = $1 AND EXISTS (SELECT FROM attachment)
     RETURNING 1`,
    [roomId, orderId, at],
  );
  return rows.length === 1;
}

export type AttachedEvent = {
  at: Date;
  partnerId: string;
  environment: Environment;
  roomId: string;
  roomCode: string;
  orderCode: string;
};

/** Records `room.order_attached`; the order code is its subject, the room's name is read when it is told. */
export const insertAttachedEvent = (tx: Tx, event: AttachedEvent) =>
  tx.rows(
    `INSERT INTO events (occurred_at, topic, event_id, partner_id, environment, subject, room_id)
     VALUES ($1, 'room.order_attached', $2, $3, $4, $5, $6)`,
    [
      event.at,
      `room.order_attached:${event.roomCode}:${event.orderCode}`,
      event.partnerId,
      event.environment,
      event.orderCode,
      event.roomId,
    ],
  );
