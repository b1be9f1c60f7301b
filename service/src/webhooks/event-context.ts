import { orderState } from "../orders/orders.ts";
import { type Statement, sql } from "../platform/database/sql.ts";
import { type Marked, marked } from "../platform/database/state-mac.ts";
import type { EventContext } from "./payload.ts";

/** What bodies are made of, of `event` and its `"order"` and `room`; a passport is read apart from it. */
export const contextColumns: Statement = sql`event.topic, event.event_id AS "eventId@event", event.occurred_at AS "occurredAt",
  event.environment, event.subject AS "subject@event",
  "order".status AS "orderStatus", "order".external_reference AS "externalReference",
  room.code AS "roomCode@room", room.name AS "roomName", ${marked(orderState, sql`"order"`)}`;

/** What follows the tables that `event` is among. */
export const contextJoins: Statement = sql`
LEFT JOIN orders AS "order" ON "order".code = event.subject
LEFT JOIN rooms AS room ON room.id = event.room_id`;

type Joined = {
  orderStatus: string | null;
  externalReference: string | null;
  roomCode: string | null;
  roomName: string | null;
} & Marked;

/** A row of `contextColumns` and more. */
export type ContextRow<More = unknown> = Omit<EventContext, "order" | "room" | "passport"> & Joined & More;

/** The row's own members, and its order and room as bodies are made of them. */
export function contextOf<Row extends Joined>(row: Row) {
  const { orderStatus, externalReference, roomCode, roomName, isAuthentic, ...rest } = row;
  return {
    ...rest,
    // Nothing is told of an order that was changed outside the service.
    order: orderStatus === null || !isAuthentic ? null : { status: orderStatus, externalReference },
    room: roomCode === null || roomName === null ? null : { code: roomCode, name: roomName },
  };
}
