import type { Environment } from "../identity/identity.ts";
import { nothing, type Part, type Statement, sql, type ToSeal } from "../platform/database/sql.ts";

export { chainStart, headAfter, type Place, placeEvents, placeSomeEvents, placesOf } from "./chain.ts";

/**
 * What partners may be notified of. Each member is a value, or a part of a statement where the value is a column of `from`.
 * `eventId` is how a receiver recognizes duplicates; `subject` is the code or id of the thing that the event is about.
 * A name that has a code which opens something by itself is sealed.
 */
export type EventRow = {
  at: Part<Date>;
  topic: Part<string>;
  eventId: Part<string> | ToSeal;
  partnerId: Part<string>;
  environment: Part<Environment>;
  subject: Part<string> | ToSeal;
  roomId?: Part<string> | null | undefined;
};

/**
 * The insert of an event: the only writer of events. It runs by itself in the transaction of what caused it, or as a part
 * (`WITH ... AS (...)`) of that change's own statement. Webhooks are dispatched from these rows.
 * @param from what follows FROM, when the event is written only if, or as often as, that has rows
 */
export function eventRow(event: EventRow, from?: Statement): Statement {
  return sql`INSERT INTO events (occurred_at, topic, event_id, partner_id, environment, subject, room_id)
  SELECT ${event.at}, ${event.topic}, ${event.eventId}, ${event.partnerId}, ${event.environment}, ${event.subject},
    ${event.roomId}${from ? sql` FROM ${from}` : nothing}`;
}
