import { hash } from "node:crypto";
import type { Sql } from "../../kernel/platform/database/database.ts";
import { sql } from "../../kernel/platform/database/sql.ts";
import type { ProviderName } from "../names.ts";
import type { SealedJson } from "../sealed-json.ts";
import type { Headers, SignedEvent } from "./verifier.ts";

/** The queue of stored events; payload `{eventRow}`. */
export const eventQueue = "provider-event";

/**
 * A handler's result. `known`: the event was applied earlier. `unknown`: the object of the event is not stored, but may
 * be stored later.
 */
export type EventOutcome = "applied" | "known" | "unknown" | "irrelevant";

/** A stored, signed event. `id` is the id of its row. */
export type StoredEvent = SignedEvent & { id: number; provider: ProviderName; receivedAt: Date };

/** An event as received: the signed bytes, and the headers with the signature. */
export type RawEvent = { id: number; provider: ProviderName; type: string; body: Buffer; headers: Headers };

type RawContent = { body: string; headers: Headers };

const context = (provider: string, eventId: string): string => `${provider}:${eventId}`;

// The headers that contain signatures or describe the body. Only these are stored: others, such as those of proxies,
// prove nothing.
const storedHeader = /^(content-type|date|.*signature.*|.*timestamp.*|x-.*-(id|version|api))$/;

/** Stores an event and its job in one statement. @returns false for an event that is already stored */
export async function insertEvent(
  db: Sql,
  sealed: SealedJson,
  {
    provider,
    raw,
    headers,
    event,
    at,
  }: { provider: ProviderName; raw: Buffer; headers: Headers; event: SignedEvent; at: Date },
): Promise<boolean> {
  const { eventId, type, objectId, occurredAt } = event;
  const storedHeaders = Object.fromEntries(Object.entries(headers).filter(([name]) => storedHeader.test(name)));
  const content: RawContent = { body: raw.toString("base64"), headers: storedHeaders };
  const stored = await db.query(sql`
    WITH stored AS (
      INSERT INTO provider_events (provider, event_id, type, object_id, occurred_at, received_at, content, body_sha256)
      VALUES (${provider}, ${eventId}, ${type}, ${objectId}, ${occurredAt}, ${at},
        ${sealed.seal(content, context(provider, eventId))}, ${hash("sha256", raw)})
      ON CONFLICT DO NOTHING RETURNING id
    )
    SELECT enqueue_job(${eventQueue}, jsonb_build_object('eventRow', id), now()) FROM stored`);
  return stored.length > 0;
}

type EventRow = Omit<StoredEvent, "body"> & { content: Buffer | null; workedAt: Date | null };

/** The event with its body; undefined after the body was deleted. */
export async function findEvent(db: Sql, sealed: SealedJson, id: number) {
  const [row] = await db.query<EventRow>(sql`
    SELECT id, provider, event_id AS "eventId", type, object_id AS "objectId", occurred_at AS "occurredAt",
      received_at AS "receivedAt", content, worked_at AS "workedAt"
    FROM provider_events WHERE id = ${id}`);
  if (!row?.content) return undefined;
  const { content, workedAt, ...event } = row;
  const { body, headers } = sealed.open(content, context(row.provider, row.eventId)) as RawContent;
  const raw = Buffer.from(body, "base64");
  return { event, raw, headers, isWorked: workedAt !== null };
}

/** Events as received, for evidence. Leaves out events whose bytes were deleted. */
export async function rawEvents(db: Sql, sealed: SealedJson, ids: readonly number[]): Promise<RawEvent[]> {
  const found: RawEvent[] = [];
  for (const id of ids) {
    const row = await findEvent(db, sealed, id);
    if (row)
      found.push({ id, provider: row.event.provider, type: row.event.type, body: row.raw, headers: row.headers });
  }
  return found;
}

/**
 * The ids of a provider's stored events about an object, in the order of their arrival.
 * @param types a LIKE pattern for the types of the events
 */
export async function eventsAbout(db: Sql, provider: ProviderName, objectId: string, types = "%"): Promise<number[]> {
  const events = await db.query<{ id: number }>(sql`
    SELECT id FROM provider_events WHERE provider = ${provider} AND object_id = ${objectId} AND type LIKE ${types} ORDER BY id`);
  return events.map(({ id }) => id);
}

/** True if an event about the object is stored that occurred later, unless it turned out to be irrelevant. */
export async function hasLaterEvent(db: Sql, provider: ProviderName, objectId: string, at: Date): Promise<boolean> {
  const later = await db.query(sql`
    SELECT FROM provider_events WHERE provider = ${provider} AND object_id = ${objectId} AND occurred_at > ${at}
      AND outcome IS DISTINCT FROM 'irrelevant' LIMIT 1`);
  return later.length > 0;
}

export const endEvent = (db: Sql, id: number, outcome: EventOutcome, at: Date) =>
  db.query(sql`UPDATE provider_events SET outcome = ${outcome}, worked_at = ${at} WHERE id = ${id}`);
