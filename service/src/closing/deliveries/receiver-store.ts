import { changeRow } from "../../kernel/platform/database/change-rows.ts";
import type { Sql, Tx } from "../../kernel/platform/database/database.ts";
import { type Statement, sql } from "../../kernel/platform/database/sql.ts";
import { type Marked, marked, type StateMac, writeStateMacs } from "../../kernel/platform/database/state-mac.ts";
import { stateRows } from "../../kernel/platform/protected-data.ts";
import { fromAttachments, fromParticipants, fromRooms, type Receiver } from "../rooms/rooms.ts";

/** The MAC covers all columns, so that database access alone is not enough to add a recipient of documents. */
const receiverState: StateMac = {
  table: sql`closing_receivers`,
  key: sql`id`,
  mac: sql`row_mac`,
  covered: (r) => sql`${r}.id, ${r}.room_id, ${r}.order_id, ${r}.name, ${r}.email, ${r}.asked_by,
    extract(epoch FROM ${r}.asked_at), extract(epoch FROM ${r}.ended_at), ${r}.delivery_id`,
};

export const receiverRows = stateRows(receiverState);

type Asked = { roomId: string; orderId: number; by: string; at: Date };

/** Records the people who will be sent the final document of an order. */
export async function writeReceivers(
  tx: Tx,
  { roomId, orderId, by, at }: Asked,
  receivers: readonly Receiver[],
): Promise<void> {
  for (const { name, email } of receivers) {
    const [row] = await tx.query<{ id: number }>(sql`
      INSERT INTO closing_receivers (room_id, order_id, name, email, asked_by, asked_at)
      VALUES (${roomId}, ${orderId}, ${name.trim()}, ${email.trim().toLowerCase()}, ${by}, ${at}) ON CONFLICT DO NOTHING
      RETURNING id`);
    if (row) await writeStateMacs(tx, receiverState, sql`id = ${row.id}`);
  }
}

/**
 * SQL condition: true if the firm detached the order from the room, or removed the person, after it had asked for the
 * delivery. An order that was detached and attached again is treated as detached.
 */
export const isWithdrawn: Statement = sql`(
  NOT EXISTS (
    SELECT ${fromAttachments} WHERE a.room_id = r.room_id AND a.order_id = r.order_id AND a.attached_at <= r.asked_at)
  OR NOT EXISTS (
    SELECT ${fromParticipants} WHERE p.room_id = r.room_id AND p.email = r.email AND p.removed_at IS NULL)
  AND EXISTS (
    SELECT ${fromParticipants} WHERE p.room_id = r.room_id AND p.email = r.email AND p.removed_at >= r.asked_at))`;

type WaitingReceiver = Receiver & { id: number; orderId: number; askedBy: string; isWithdrawn: boolean };

/** The people of a room who wait for documents. Leaves out rows whose MAC is invalid. */
export async function waitingReceivers(db: Sql, roomId: string): Promise<WaitingReceiver[]> {
  const rows = await db.query<WaitingReceiver & Marked>(sql`
    SELECT r.id, r.order_id AS "orderId", r.name, r.email, r.asked_by AS "askedBy",
      ${isWithdrawn} AS "isWithdrawn", ${marked(receiverState, sql`r`)}
    FROM closing_receivers r WHERE r.room_id = ${roomId} AND r.ended_at IS NULL ORDER BY r.email, r.id`);
  return rows.filter(({ isAuthentic }) => isAuthentic);
}

/**
 * Locks an open room, so that its orders, its people and its status stay unchanged until the transaction ends.
 * @returns false for a room that is not open
 */
export async function holdOpenRoom(tx: Tx, roomId: string): Promise<boolean> {
  const rows = await tx.query(sql`SELECT ${fromRooms} WHERE r.id = ${roomId} AND r.status = 'open' FOR SHARE`);
  return rows.length === 1;
}

export const endWait = (tx: Tx, id: number, at: Date, deliveryId: string | null): Promise<void> =>
  changeRow(tx, receiverState, id, sql`ended_at = ${at}, delivery_id = ${deliveryId}::uuid`);
