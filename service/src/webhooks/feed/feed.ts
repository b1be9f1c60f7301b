import { setTimeout as delay } from "node:timers/promises";
import { placeEvents } from "../../events/events.ts";
import type { Owner } from "../../identity/identity.ts";
import type { Database } from "../../platform/database/database.ts";
import { cursorOf, foreignCursor, limitOf } from "../../platform/database/page.ts";
import { invalid } from "../../platform/errors.ts";
import { type PassportContext, payloadOf } from "../payload.ts";
import { isTopic, testTopic, topics } from "../topics.ts";
import type { FeedEvent } from "./schemas.ts";
import { selectEnd, selectEvents } from "./store.ts";
import type { Waiters } from "./waiters.ts";

export type FeedDeps = {
  db: Database;
  baseUrl: string;
  /** Those of the owner's passports, by id, whose rows are what was written at the seal. */
  passportsOf: (ids: readonly string[], owner: Owner) => Promise<ReadonlyMap<string, PassportContext>>;
  waiters: Waiters;
};

export type FeedQuery = { cursor?: string; limit?: string; topics?: string; wait?: string };
export type Feed = { events: FeedEvent[]; cursor: string };

const size = { usual: 50, most: 100 };
const longestWaitSeconds = 25;
const lookEveryMs = 300;

/**
 * The owner's events after the cursor, oldest first, with the bodies that webhooks would be sent now. With `wait` an empty feed is
 * answered late: as soon as there is an event, or after so many seconds. Nothing is lost between two calls: places are given in order.
 * @throws ServiceError for a query that is not one of this feed
 */
export async function readFeed(deps: FeedDeps, owner: Owner, query: FeedQuery, gone: AbortSignal): Promise<Feed> {
  const [limit, topicNames, waitMs] = [limitOf(query.limit, size), topicsOf(query.topics), waitOf(query.wait)];
  const cursor = await startOf(deps.db, owner, cursorOf(query.cursor));
  const read = () => readOnce(deps, owner, cursor, topicNames, limit);
  const first = await read();
  if (first.events.length > 0 || waitMs === 0) return first;
  const waited = await deps.waiters.hold(owner, gone, async (ended) => {
    const until = performance.now() + waitMs;
    let feed = first;
    while (feed.events.length === 0 && performance.now() < until && !ended.aborted) {
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
  const upTo = await endOf(deps.db, owner);
  // Another's cursor, or one of a database that was restored from before it.
  if (after > upTo) throw foreignCursor();
  if (after === upTo) return { events: [], cursor: String(after) };
  const rows = await selectEvents(deps.db, owner, { after, upTo, topics: topicNames }, limit);
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
  return { events, cursor: String(events.length === limit ? events.at(-1)?.position : upTo) };
}

/** The last place, once every event that there is has one. */
async function endOf(db: Database, owner: Owner): Promise<number> {
  const end = await selectEnd(db, owner);
  if (!end.isWaiting) return end.last;
  await placeEvents(db, owner);
  return (await selectEnd(db, owner)).last;
}

/** Left out: from the first event on. `latest`: what comes from now on. */
async function startOf(db: Database, owner: Owner, cursor: string | null): Promise<number> {
  if (cursor === null) return 0;
  if (cursor === "latest") return endOf(db, owner);
  if (!/^\d{1,15}$/.test(cursor)) throw foreignCursor();
  return Number(cursor);
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
  if (!/^\d{1,9}$/.test(text)) throw invalid(`wait must be a whole number of seconds from 0 to ${longestWaitSeconds}.`);
  return Math.min(Number(text), longestWaitSeconds) * 1000;
}
