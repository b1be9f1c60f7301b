import { createHash } from "node:crypto";
import type { Owner } from "../identity/identity.ts";
import type { Database, Tx } from "../platform/database/database.ts";
import { sql } from "../platform/database/sql.ts";

/** Where an event stands among its firm's events of an environment, from 1 without a gap; `head` covers it and all before it. */
export type Place = { position: number; head: Buffer };

/** What the first event's head is made with. */
export const chainStart: Buffer = Buffer.alloc(32);

/**
 * The head after an event: SHA-256 over the 32 bytes of the head before it and the UTF-8 of its position, topic and id, each with a
 * line feed behind it (docs/webhook-chain.md).
 */
export const headAfter = (before: Uint8Array, position: number, topic: string, eventId: string): Buffer =>
  createHash("sha256").update(before).update(`${position}\n${topic}\n${eventId}\n`).digest();

const atOnce = 5_000;

type Waiting = { event: number; topic: string; eventId: string };

/**
 * Gives the owner's events that wait for one their places, in the order in which they were recorded. An event that committed late
 * gets a later place, and none is given twice. Any number of nodes may do it at once.
 */
export async function placeEvents(db: Database, owner: Owner): Promise<void> {
  let placed: number;
  do
    placed = await db.transaction(async (tx) => {
      await tx.query(sql`SELECT pg_advisory_xact_lock(${chainOf(owner)})`);
      return placePage(tx, owner);
    });
  while (placed === atOnce);
}

/** Gives the first of the owner's waiting events their places, unless another is just giving them. */
export async function placeSomeEvents(db: Database, owner: Owner): Promise<void> {
  await db.transaction(async (tx) => {
    const [lock] = await tx.query<{ isOurs: boolean }>(
      sql`SELECT pg_try_advisory_xact_lock(${chainOf(owner)}) AS "isOurs"`,
    );
    if (lock?.isOurs) await placePage(tx, owner);
  });
}

// Held to the end of a transaction; a statement after it sees what the holder before it committed.
const chainOf = ({ partnerId, environment }: Owner) =>
  sql`hashtextextended(${`event chain ${partnerId} ${environment}`}, 0)`;

/** @returns how many */
async function placePage(tx: Tx, { partnerId, environment }: Owner): Promise<number> {
  const of = sql`partner_id = ${partnerId} AND environment = ${environment}`;
  const [last] = await tx.query<Place>(
    sql`SELECT position, head FROM event_chain WHERE ${of} AND position IS NOT NULL ORDER BY position DESC LIMIT 1`,
  );
  const waiting = await tx.query<Waiting>(sql`
SELECT waiting.event, topic, event_id AS "eventId@event"
FROM (
  SELECT event FROM event_chain WHERE ${of} AND position IS NULL ORDER BY event LIMIT ${atOnce}
) AS waiting JOIN events ON id = waiting.event ORDER BY waiting.event`);
  const places: Place[] = [];
  for (const { topic, eventId } of waiting) {
    const before = places.at(-1) ?? last ?? { position: 0, head: chainStart };
    const position = before.position + 1;
    places.push({ position, head: headAfter(before.head, position, topic, eventId) });
  }
  if (waiting.length > 0)
    await tx.query(sql`
UPDATE event_chain AS link SET position = placed.position, head = placed.head
FROM unnest(${waiting.map(({ event }) => event)}::bigint[], ${places.map(({ position }) => position)}::bigint[],
  ${places.map(({ head }) => head)}::bytea[]) AS placed (event, position, head)
WHERE link.event = placed.event`);
  return waiting.length;
}

/** The places of events that have one, by the events' own numbers. */
export async function placesOf(db: Database, events: readonly number[]): Promise<Map<number, Place>> {
  const rows = await db.query<Place & { event: number }>(sql`
SELECT event, position, head FROM event_chain WHERE event = ANY (${events}::bigint[]) AND position IS NOT NULL`);
  return new Map(rows.map(({ event, position, head }) => [event, { position, head }]));
}
