import type { Environment } from "../identity/identity.ts";
import { nothing, type Part, type Statement, sealed, sql } from "../platform/database/sql.ts";
import { MacOfRow } from "../platform/database/state-mac.ts";
import { eventMembers, eventTable } from "./event-mac.ts";

export { chainStart, headAfter, type Place, placeEvents, placeSomeEvents, placesOf } from "./chain.ts";
export { checkEvents, eventColumns, eventHolds, protectedTables, type StoredEvent } from "./event-mac.ts";

/**
 * An event that partners may be notified of. The event's MAC covers every member except `orderId`, so each must be a value, not a column.
 * `eventId` is how a receiver recognizes duplicates; `subject` is the code or id of the thing that the event is about.
 * Of orders and rooms both are stored sealed: they have a code that opens something by itself.
 */
export type EventRow = {
  at: Date;
  topic: string;
  eventId: string;
  partnerId: string;
  environment: Environment;
  subject: string;
  roomId?: string;
  /** The order that is the subject: a value or, of a new order, a column. Readers compare its code with the subject. */
  orderId?: Part<number>;
};

/**
 * The insert of an event: the only writer of events. It runs by itself in the transaction of what caused it, or as a part
 * (`WITH ... AS (...)`) of that change's own statement. Webhooks are dispatched from these rows.
 * @param from what follows FROM, when the event is written only if, or as often as, that has rows
 */
export function eventRow(event: EventRow, from?: Statement): Statement {
  const { at, roomId = null, orderId = null, ...rest } = event;
  const hasCode = orderId !== null || event.topic.startsWith("room.");
  const stored = (text: string) => (hasCode ? sealed("event", text) : text);
  const mac = new MacOfRow(eventTable, eventMembers({ ...rest, occurredAt: at, roomId }));
  return sql`INSERT INTO events (occurred_at, topic, event_id, partner_id, environment, subject, room_id, order_id, row_mac)
  SELECT ${at}, ${event.topic}, ${stored(event.eventId)}, ${event.partnerId}, ${event.environment},
    ${stored(event.subject)}, ${roomId}, ${orderId}::bigint, ${mac}${from ? sql` FROM ${from}` : nothing}`;
}
