import type { Environment } from "../identity/identity.ts";
import type { Sql } from "../platform/database/database.ts";
import { nothing, type Statement, sql } from "../platform/database/sql.ts";
import type { MacTable } from "../platform/protected-data.ts";
import type { RowMac } from "../platform/row-mac.ts";

/** The columns that an event's MAC covers. For a column that is stored encrypted, the MAC covers the plain text. */
export type EventFacts = {
  occurredAt: Date;
  topic: string;
  eventId: string;
  partnerId: string;
  environment: Environment;
  subject: string;
  roomId: string | null;
  /**
   * The channel by which a signer reached the signing page. Null for events without a signer, for
   * `signature.requested`, and for events from releases that did not record it.
   */
  channel: EventChannel | null;
};

/**
 * How a signer reached the signing page. `embedded`: in a frame in the firm's site. `in_person`: on a device that the
 * firm hands to its signers. `in_presence`, `by_audio_and_video`: with a notary.
 */
export type EventChannel = "mail_link" | "embedded" | "in_person" | "in_presence" | "by_audio_and_video";

export const eventTable = "events";

/** The members that the MAC of an event covers. */
export const eventMembers = (event: EventFacts) => ({
  occurredAt: event.occurredAt,
  topic: event.topic,
  eventId: event.eventId,
  partnerId: event.partnerId,
  environment: event.environment,
  subject: event.subject,
  roomId: event.roomId,
  // A null channel is left out. So MACs that were written before the channel was recorded stay valid.
  ...(event.channel !== null && { channel: event.channel }),
});

/** An event with its MAC, as selected by a query that may join other tables. */
export type StoredEvent = Omit<EventFacts, "partnerId" | "roomId"> & {
  event: number;
  eventPartnerId: string;
  eventRoomId: string | null;
  eventMac: Buffer | null;
};

/** Columns of `events AS event` for a `StoredEvent`. */
export const eventColumns: Statement = sql`event.id AS event, event.topic, event.event_id AS "eventId@event",
  event.occurred_at AS "occurredAt", event.environment, event.subject AS "subject@event",
  event.channel, event.partner_id AS "eventPartnerId", event.room_id AS "eventRoomId", event.row_mac AS "eventMac"`;

/**
 * SQL: joins the event with this number.
 * @param id the event's number, as an expression of the other tables
 */
export const joinEvent = (id: Statement): Statement => sql`JOIN events AS event ON event.id = ${id}`;

/**
 * True if an event's MAC is valid. Events with an invalid MAC are never sent, so database access alone is not enough to
 * send an event.
 */
export function eventHolds(rowMac: RowMac, stored: StoredEvent): boolean {
  const { event, eventPartnerId: partnerId, eventRoomId: roomId, eventMac } = stored;
  return rowMac.holds(eventTable, eventMembers({ ...stored, partnerId, roomId }), eventMac, { event });
}

const ofCodes = {
  kind: "event",
  by: sql`id`,
  isNumbered: true,
  which: sql`(starts_with(topic, 'room.') OR order_id IS NOT NULL)`,
} as const;

const eventRows: MacTable<EventFacts> = {
  table: sql`events`,
  key: sql`id`,
  mac: sql`row_mac`,
  rows: sql`
SELECT id AS key, occurred_at AS "occurredAt", topic, event_id AS "eventId@event", partner_id AS "partnerId", environment,
  subject AS "subject@event", room_id AS "roomId", channel, row_mac AS mac FROM events`,
  members: eventMembers,
  backfill: { set: "events" },
  texts: [
    { ...ofCodes, column: sql`event_id`, constraint: "events_event_id_sealed" },
    { ...ofCodes, column: sql`subject`, constraint: "events_subject_sealed" },
  ],
};

export const protectedTables = [eventRows];

/**
 * The result of checking all events: how many were checked, the row numbers of those whose MAC is invalid, and the row
 * numbers of copies of authentic events.
 */
export type EventReport = { events: number; forged: number[]; copies: number[] };

const batch = 5_000;

/** Verifies the MAC of each event and finds copies. */
export async function checkEvents({ db, rowMac }: { db: Sql; rowMac: RowMac }): Promise<EventReport> {
  const forged: number[] = [];
  let events = 0;
  for (let last: number | null = null; ; ) {
    const after: Statement = last === null ? nothing : sql`WHERE event.id > ${last}`;
    const rows: StoredEvent[] = await db.query<StoredEvent>(
      sql`SELECT ${eventColumns} FROM events AS event ${after} ORDER BY event.id LIMIT ${batch}`,
    );
    forged.push(...rows.filter((row) => !eventHolds(rowMac, row)).map(({ event }) => event));
    events += rows.length;
    last = rows.at(-1)?.event ?? null;
    if (rows.length < batch) break;
  }
  // Events with the same MAC have the same content, and times that are equal to the millisecond. So all but the first
  // are copies.
  const copies = await db.query<{ ids: number[] }>(sql`
    SELECT (array_agg(id ORDER BY id))[2:]::int8[] AS ids FROM events WHERE row_mac IS NOT NULL
    GROUP BY row_mac HAVING count(*) > 1`);
  const isForged = new Set(forged);
  return { events, forged, copies: copies.flatMap(({ ids }) => ids.map(Number)).filter((id) => !isForged.has(id)) };
}
