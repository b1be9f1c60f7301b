import { setTimeout as delay } from "node:timers/promises";
import { endOfChain, fromPlaces, joinEvent, placeEvents } from "../../../kernel/events/events.ts";
import type { Owner } from "../../../kernel/identity/identity.ts";
import type { Database, Sql } from "../../../kernel/platform/database/database.ts";
import { cursorOf, foreignCursor, limitOf } from "../../../kernel/platform/database/page.ts";
import { nothing, sql } from "../../../kernel/platform/database/sql.ts";
import { invalid } from "../../../kernel/platform/errors.ts";
import type { RowMac } from "../../../kernel/platform/row-mac.ts";
import { timeLimit } from "../../../kernel/platform/stopwatch.ts";
import { rowIdIn, wholeNumberIn } from "../../../kernel/platform/text.ts";
import { type ContextRow, contextColumns, contextJoins, contextOf } from "../event-context.ts";
import { type PassportContext, payloadOf } from "../payload.ts";
import { isTopic, testTopic, topics } from "../topics.ts";
import type { FeedEvent } from "./schemas.ts";
import type { Waiters } from "./waiters.ts";

export type FeedDeps = {
  db: Database;
  rowMac: RowMac;
  baseUrl: string;
  /** Reads the owner's passports with these ids. Leaves out passports whose MAC is invalid. */
  passportsOf: (ids: readonly string[], owner: Owner) => Promise<ReadonlyMap<string, PassportContext>>;
  waiters: Waiters;
};

export type FeedQuery = { cursor?: string; limit?: string; topics?: string; wait?: string };
export type Feed = { events: FeedEvent[]; cursor: string };

const size = { usual: 50, max: 100 };
const maxWaitSeconds = 25;
const lookEveryMs = 300;

/**
 * The owner's events after the cursor, oldest first, with the bodies that webhooks would get now. If there are none, a
 * call with `wait` waits up to that many seconds for the first event. It doesn't wait while too many calls wait on this
 * node, or while the service stops.
 *
 * The cursor is a position in the owner's hash chain. Events get their positions in order, so no event is missed
 * between two calls. Events with an invalid MAC are left out. A body is null if its record no longer exists.
 * @throws ServiceError for an invalid query
 */
export async function readFeed(deps: FeedDeps, owner: Owner, query: FeedQuery, gone: AbortSignal): Promise<Feed> {
  const [limit, topicNames, waitMs] = [limitOf(query.limit, size), topicsOf(query.topics), waitOf(query.wait)];
  const cursor = await startOf(deps, owner, cursorOf(query.cursor));
  const read = () => readOnce(deps, owner, cursor, topicNames, limit);
  const first = await read();
  if (first.events.length > 0 || waitMs === 0) return first;
  const waited = await deps.waiters.hold(owner, gone, async (ended) => {
    const isOver = timeLimit(waitMs);
    let feed = first;
    while (feed.events.length === 0 && !isOver() && !ended.aborted) {
      await delay(lookEveryMs, undefined, { signal: ended }).catch(() => {});
      feed = await read();
    }
    return feed;
  });
  return waited ?? first;
}

async function readOnce(
  deps: FeedDeps,
  owner: Owner,
  after: number,
  topicNames: string[] | null,
  limit: number,
): Promise<Feed> {
  const upTo = await endOf(deps, owner);
  // The cursor's position is beyond the owner's last event. So the cursor belongs to another owner, or the database was
  // restored from a backup since the cursor was issued.
  if (after > upTo) throw foreignCursor();
  if (after === upTo) return { events: [], cursor: String(after) };
  const page = await selectEvents(deps, owner, { after, upTo, topics: topicNames }, limit);
  const rows = page.filter(({ isWhole }) => isWhole);
  const sealed = rows.filter(({ topic }) => topic === "passport.sealed").map(({ subject }) => subject);
  const passports = sealed.length === 0 ? null : await deps.passportsOf(sealed, owner);
  const events = rows.map(({ position, head, ...event }): FeedEvent => {
    const body = payloadOf({ ...event, passport: passports?.get(event.subject) ?? null }, deps.baseUrl);
    return {
      position,
      head: head.toString("hex"),
      type: event.topic,
      id: event.eventId,
      occurredAtUtc: event.occurredAt.toISOString(),
      payload: body && (JSON.parse(body.toString()) as FeedEvent["payload"]),
    };
  });
  return { events, cursor: String(page.length === limit ? page.at(-1)?.position : upTo) };
}

/**
 * Gives positions in the owner's hash chain to all events of the owner that don't have one yet. Skips events whose MAC
 * is invalid.
 * @returns the chain's last position
 */
async function endOf(deps: Pick<FeedDeps, "db" | "rowMac">, owner: Owner): Promise<number> {
  const end = await endOfChain(deps.db, owner);
  if (!end.isWaiting) return end.last;
  await placeEvents(deps, owner);
  return (await endOfChain(deps.db, owner)).last;
}

/**
 * The position after which the feed starts. Without a cursor, the feed starts with the first event. With `latest`, it
 * starts after the present last event.
 */
async function startOf(deps: Pick<FeedDeps, "db" | "rowMac">, owner: Owner, cursor: string | null): Promise<number> {
  if (cursor === null) return 0;
  if (cursor === "latest") return endOf(deps, owner);
  const position = rowIdIn(cursor);
  if (position === undefined) throw foreignCursor();
  return position;
}

function topicsOf(text: string | undefined): string[] | null {
  if (text === undefined || text === "") return null;
  const names = text.split(",").map((name) => name.trim());
  const unknown = names.find((name) => !isTopic(name) && name !== testTopic);
  if (unknown !== undefined) throw invalid(`topics must be some of: ${[...topics, testTopic].join(", ")}.`);
  return names;
}

function waitOf(text: string | undefined): number {
  if (text === undefined || text === "") return 0;
  const seconds = wholeNumberIn(text, 0, 999_999_999);
  if (seconds === undefined) throw invalid(`wait must be a whole number of seconds from 0 to ${maxWaitSeconds}.`);
  return Math.min(seconds, maxWaitSeconds) * 1000;
}

const of = ({ partnerId, environment }: Owner) =>
  sql`link.partner_id = ${partnerId} AND link.environment = ${environment}`;

type FeedRange = { after: number; upTo: number; topics: readonly string[] | null };

/**
 * The events in the range, in the order of their positions. `isWhole` is false for an event whose MAC is invalid or
 * that belongs to another owner.
 */
async function selectEvents(
  { db, rowMac }: { db: Sql; rowMac: RowMac },
  owner: Owner,
  { after, upTo, topics }: FeedRange,
  limit: number,
) {
  const rows = await db.query<ContextRow<{ position: number; head: Buffer }>>(sql`
SELECT link.position, link.head, ${contextColumns}, event.subject AS "webhookId"
${fromPlaces} ${joinEvent(sql`link.event`)} ${contextJoins}
WHERE ${of(owner)} AND link.position > ${after} AND link.position <= ${upTo}
  ${topics === null ? nothing : sql`AND event.topic = ANY (${topics})`}
ORDER BY link.position LIMIT ${limit}`);
  return rows.map((row) => {
    const event = contextOf(rowMac, row);
    const isOwn = row.eventPartnerId === owner.partnerId && row.environment === owner.environment;
    return { ...event, isWhole: event.isWhole && isOwn };
  });
}
