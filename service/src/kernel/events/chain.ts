import { createHash } from "node:crypto";
import type { Owner } from "../identity/identity.ts";
import type { Database, Sql, Tx } from "../platform/database/database.ts";
import { type Statement, sql } from "../platform/database/sql.ts";
import type { RowMac } from "../platform/row-mac.ts";
import { eventColumns, eventHolds, type StoredEvent } from "./event-mac.ts";

/**
 * The position of an event in the hash chain of its firm and environment, from 1 without gaps. `head` is a hash of this
 * event and all events before it.
 */
export type Place = { position: number; head: Buffer };

/** The head of the chain before its first event. */
const chainStart: Buffer = Buffer.alloc(32);

/**
 * The head after an event: SHA-256 over the 32 bytes of the previous head, and the UTF-8 of the event's position, topic
 * and id. A line feed follows each of these three (docs/webhook-chain.md).
 */
const headAfter = (before: Uint8Array, position: number, topic: string, eventId: string): Buffer =>
  createHash("sha256").update(before).update(`${position}\n${topic}\n${eventId}\n`).digest();

const atOnce = 5_000;

type ChainDeps = { db: Database; rowMac: RowMac };

/**
 * The result of adding one batch of events to the chain: how many events got a position, and the row number of the
 * batch's last event. `last` is null after the last batch.
 */
type Page = { chained: number; last: number | null };

/**
 * Gives a position in the chain to each of the owner's events that has none, in the order of their ids. If an event
 * commits only after this run, a later run gives it a position. No position is used twice. Any number of nodes may run
 * this function concurrently. Skips events whose MAC is invalid.
 */
export async function placeEvents({ db, rowMac }: ChainDeps, owner: Owner): Promise<void> {
  for (let last: number | null = 0; last !== null; ) {
    const after: number = last;
    const page = await db.transaction(async (tx) => {
      await tx.query(sql`SELECT pg_advisory_xact_lock(${chainOf(owner)})`);
      return placePage(tx, rowMac, owner, after);
    });
    last = page.last;
  }
}

/**
 * Gives positions in the chain to one batch of the owner's events that have none. Does nothing while another node adds
 * events of the same owner.
 */
export async function placeSomeEvents({ db, rowMac }: ChainDeps, owner: Owner): Promise<void> {
  await db.transaction(async (tx) => {
    const [lock] = await tx.query<{ isOurs: boolean }>(
      sql`SELECT pg_try_advisory_xact_lock(${chainOf(owner)}) AS "isOurs"`,
    );
    if (!lock?.isOurs) return;
    // A forged event never gets a position. If a batch contains only forged events, continue after this batch.
    // Otherwise the forged events would block the authentic events that follow.
    let page: Page = { chained: 0, last: 0 };
    while (page.chained === 0 && page.last !== null) page = await placePage(tx, rowMac, owner, page.last);
  });
}

// The key of an advisory lock that lasts until the transaction ends. The next transaction to acquire the lock sees
// everything that this one committed.
const chainOf = ({ partnerId, environment }: Owner) =>
  sql`hashtextextended(${`event chain ${partnerId} ${environment}`}, 0)`;

/** Gives positions to one batch of events, which begins after the event number `after`. */
async function placePage(tx: Tx, rowMac: RowMac, { partnerId, environment }: Owner, after: number): Promise<Page> {
  const of = sql`partner_id = ${partnerId} AND environment = ${environment}`;
  const [last] = await tx.query<Place>(
    sql`SELECT position, head FROM event_chain WHERE ${of} AND position IS NOT NULL ORDER BY position DESC LIMIT 1`,
  );
  const found = await tx.query<StoredEvent>(sql`
SELECT ${eventColumns}
FROM (
  SELECT event FROM event_chain WHERE ${of} AND position IS NULL AND event > ${after} ORDER BY event LIMIT ${atOnce}
) AS waiting JOIN events AS event ON event.id = waiting.event ORDER BY event.id`);
  const waiting = found.filter((each) => each.eventPartnerId === partnerId && eventHolds(rowMac, each));
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
  return { chained: waiting.length, last: found.length === atOnce ? (found.at(-1)?.event ?? null) : null };
}

/** The positions of these events, by event number. Events without a position are left out. */
export async function placesOf(db: Sql, events: readonly number[]): Promise<Map<number, Place>> {
  const rows = await db.query<Place & { event: number }>(sql`
SELECT event, position, head FROM event_chain WHERE event = ANY (${events}::bigint[]) AND position IS NOT NULL`);
  return new Map(rows.map(({ event, position, head }) => [event, { position, head }]));
}

/** SQL: the FROM clause by which other features read the chains of events. Its rows have the alias `link`. */
export const fromPlaces: Statement = sql`FROM event_chain AS link`;

/**
 * SQL: joins the chain's row for an event, if there is one, under the alias `link`.
 * @param event the event's number, as an expression of the other tables
 */
export const leftJoinPlace = (event: Statement): Statement =>
  sql`LEFT JOIN event_chain AS link ON link.event = ${event}`;

/**
 * The end of an owner's chain. `last`: the last position; 0 for an empty chain. `isWaiting`: true if an event has no
 * position. Such an event may be forged, because a forged event never gets a position.
 */
export async function endOfChain(
  db: Sql,
  { partnerId, environment }: Owner,
): Promise<{ last: number; isWaiting: boolean }> {
  const of = sql`partner_id = ${partnerId} AND environment = ${environment}`;
  const [row] = await db.query<{ last: number; isWaiting: boolean }>(sql`
    SELECT coalesce((SELECT max(position) FROM event_chain WHERE ${of} AND position IS NOT NULL), 0) AS last,
      EXISTS (SELECT FROM event_chain WHERE ${of} AND position IS NULL) AS "isWaiting"`);
  return row ?? { last: 0, isWaiting: false };
}
