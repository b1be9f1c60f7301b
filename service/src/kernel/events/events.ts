import type { Environment } from "../identity/identity.ts";
import { nothing, type Part, type Statement, sealed, sql } from "../platform/database/sql.ts";
import { MacOfRow } from "../platform/database/state-mac.ts";
import { type EventChannel, eventMembers, eventTable } from "./event-mac.ts";

export {
  endOfChain,
  fromPlaces,
  leftJoinPlace,
  type Place,
  placeEvents,
  placeSomeEvents,
  placesOf,
} from "./chain.ts";
export {
  checkEvents,
  type EventChannel,
  eventColumns,
  eventHolds,
  joinEvent,
  protectedTables,
  type StoredEvent,
} from "./event-mac.ts";

/**
 * An event that partners may be notified of. `eventId` lets a receiver recognize repeated notifications. `subject` is
 * the code or id of the object that the event is about. For orders and rooms, `subject` and `eventId` are stored
 * encrypted, because the code of an order or room grants access.
 *
 * The MAC covers every member except `orderId`. So all other members must be values; they can't be SQL columns.
 */
export type EventRow = {
  at: Date;
  topic: string;
  eventId: string;
  partnerId: string;
  environment: Environment;
  subject: string;
  roomId?: string;
  /** For an event about a signer: how the signer reached the signing page. Absent before the signer has. */
  channel?: EventChannel;
  /**
   * The id of the order that the event is about: a value, or a column if the same statement inserts the order. The MAC
   * doesn't cover it, so readers compare the order's code with `subject`.
   */
  orderId?: Part<number>;
};

/**
 * Builds the INSERT of an event. Nothing else inserts events. Run the INSERT in the transaction of the change that
 * caused the event: alone, or inside a `WITH` clause of that change's statement. Then the database's trigger
 * `queue_deliveries` adds a webhook delivery for each active subscription to the topic.
 * @param from the text after FROM. With it, the INSERT adds one event for each selected row; without it, one event
 */
export function eventRow(event: EventRow, from?: Statement): Statement {
  const { at, roomId = null, orderId = null, channel = null, ...rest } = event;
  const hasCode = orderId !== null || event.topic.startsWith("room.");
  const stored = (text: string) => (hasCode ? sealed("event", text) : text);
  const mac = new MacOfRow(eventTable, eventMembers({ ...rest, occurredAt: at, roomId, channel }));
  return sql`INSERT INTO events (occurred_at, topic, event_id, partner_id, environment, subject, room_id, channel, order_id, row_mac)
  SELECT ${at}, ${event.topic}, ${stored(event.eventId)}, ${event.partnerId}, ${event.environment},
    ${stored(event.subject)}, ${roomId}, ${channel}, ${orderId}::bigint, ${mac}${from ? sql` FROM ${from}` : nothing}`;
}
