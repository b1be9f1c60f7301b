import type { Principal } from "../../identity/identity.ts";
import type { Clock } from "../../platform/clock.ts";
import type { Database } from "../../platform/database.ts";
import { invalid, ServiceError } from "../../platform/errors.ts";
import { newUuid } from "../../platform/ids.ts";
import { isUuid } from "../fields.ts";
import { ownsSubscription } from "../subscriptions/store.ts";
import { webhookNotFound } from "../subscriptions/subscriptions.ts";
import { testTopic } from "../topics.ts";
import { type DeliveryRow, insertReplay, insertTest, selectDeliveries, selectDelivery, selectFeed } from "./store.ts";

export type DeliveryDeps = {
  db: Database;
  clock: Clock;
  /** Called when something was queued on request, so that nobody waits for the next look. */
  wake: () => void;
};

const feedLength = 100;
const defaultLimit = 20;
const maxLimit = 100;

const deliveryNotFound = (): ServiceError => new ServiceError("not_found", "No such delivery.");

const deliveryView = (row: DeliveryRow) => ({
  deliveryId: row.id,
  webhookId: row.webhookId,
  eventId: row.eventId,
  eventName: row.topic,
  state: row.state,
  attempts: row.attempts,
  lastStatusCode: row.lastStatusCode,
  durationMs: row.durationMs,
  reason: row.reason,
  destinationUrl: row.url,
  createdAt: row.createdAt.toISOString(),
  completedAt: row.completedAt?.toISOString() ?? null,
  replayedFrom: row.replayedFrom,
});

/** The latest deliveries of one subscription. @throws ServiceError for an unknown one. */
export async function deliveryFeed({ db }: DeliveryDeps, principal: Principal, webhookId: string) {
  if (!isUuid(webhookId) || !(await ownsSubscription(db, webhookId, principal))) throw webhookNotFound();
  return { deliveries: (await selectFeed(db, webhookId, feedLength)).map(deliveryView) };
}

export type DeliveryQuery = Partial<
  Record<"limit" | "cursor" | "topic" | "order" | "external_reference" | "status", string>
>;

function limitOf(text: string | undefined): number {
  if (text === undefined || text === "") return defaultLimit;
  if (!/^[+-]?\d{1,18}$/.test(text)) throw invalid(`limit must be a whole number from 1 to ${maxLimit}.`);
  return Math.min(Math.max(Number(text), 1), maxLimit);
}

/** A cursor is the id of the last delivery of the page before. */
async function afterOf(db: Database, principal: Principal, cursor: string | undefined): Promise<number | null> {
  if (cursor === undefined || cursor === "") return null;
  const last = isUuid(cursor) ? await selectDelivery(db, cursor, principal) : undefined;
  if (!last) throw invalid("cursor is not one that this list has given.");
  return last.seq;
}

function filterText(query: DeliveryQuery, name: keyof DeliveryQuery): string | null {
  const text = query[name];
  if (text?.includes("\0")) throw invalid(`${name} must not contain control characters.`);
  return text === undefined || text === "" ? null : text;
}

/** A page of the caller's deliveries, newest first, and the cursor of the next page or null. */
export async function deliveryPage({ db }: DeliveryDeps, principal: Principal, query: DeliveryQuery) {
  const limit = limitOf(query.limit);
  const rows = await selectDeliveries(db, principal, {
    topic: filterText(query, "topic"),
    orderCode: filterText(query, "order"),
    externalReference: filterText(query, "external_reference"),
    state: filterText(query, "status"),
    after: await afterOf(db, principal, query.cursor),
    // One more than asked tells whether another page follows.
    limit: limit + 1,
  });
  const page = rows.slice(0, limit);
  return { deliveries: page.map(deliveryView), nextCursor: rows.length > limit ? (page.at(-1)?.id ?? null) : null };
}

async function ownDelivery(db: Database, principal: Principal, id: string): Promise<DeliveryRow> {
  const row = isUuid(id) ? await selectDelivery(db, id, principal) : undefined;
  if (!row) throw deliveryNotFound();
  return row;
}

/** @throws ServiceError for an unknown delivery. */
export async function oneDelivery({ db }: DeliveryDeps, principal: Principal, id: string) {
  return deliveryView(await ownDelivery(db, principal, id));
}

/**
 * Sends the same event again, as a delivery of its own with a body of today's records.
 * @throws ServiceError for an unknown delivery, and when its subscription was deleted.
 */
export async function replayDelivery({ db, clock, wake }: DeliveryDeps, principal: Principal, id: string) {
  const { id: replayedFrom } = await ownDelivery(db, principal, id);
  const deliveryId = await insertReplay(db, replayedFrom, clock());
  if (deliveryId === undefined) throw new ServiceError("conflict", "The webhook of this delivery was deleted.");
  wake();
  return { ok: true, deliveryId, replayedFrom };
}

/** Sends a test event to one subscription, whatever its topics. @throws ServiceError for an unknown one. */
export async function sendTest({ db, clock, wake }: DeliveryDeps, principal: Principal, webhookId: string) {
  const { partnerId, environment } = principal;
  const test = {
    partnerId,
    environment,
    webhookId,
    eventId: `${testTopic}:${newUuid()}`,
    topic: testTopic,
    at: clock(),
  };
  const deliveryId = isUuid(webhookId) ? await insertTest(db, test) : undefined;
  if (deliveryId === undefined) throw webhookNotFound();
  wake();
  return { ok: true, deliveryId };
}
