import type { Owner } from "../../../kernel/identity/identity.ts";
import type { Clock } from "../../../kernel/platform/clock.ts";
import type { Database } from "../../../kernel/platform/database/database.ts";
import {
  cursorOf,
  filterText,
  foreignCursor,
  limitOf,
  type Page,
  type PageQuery,
  pageOf,
} from "../../../kernel/platform/database/page.ts";
import { invalid, ServiceError } from "../../../kernel/platform/errors.ts";
import { newUuid } from "../../../kernel/platform/ids.ts";
import { isUuid } from "../../../kernel/platform/text.ts";
import type { Delivery, DeliveryFeed } from "../schemas.ts";
import { ownsSubscription } from "../subscriptions/store.ts";
import { webhookNotFound } from "../subscriptions/subscriptions.ts";
import { testTopic } from "../topics.ts";
import { instantIn } from "./period.ts";
import { type DeliveryRow, insertReplay, insertTest, selectDeliveries, selectDelivery, selectFeed } from "./store.ts";

export type DeliveryDeps = {
  db: Database;
  clock: Clock;
  /** Wakes the dispatcher, so that it sends a requested delivery at once instead of at its next poll. */
  wake: () => void;
};

const feedLength = 100;
const pageSize = { usual: 20, max: 100 };

export const deliveryNotFound = (): ServiceError => new ServiceError("not_found", "No such delivery.");

const deliveryView = (row: DeliveryRow): Delivery => ({
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

/**
 * The latest 100 deliveries of one subscription, newest first.
 * @throws ServiceError for a subscription that is unknown, deleted or another owner's
 */
export async function deliveryFeed({ db }: DeliveryDeps, owner: Owner, webhookId: string): Promise<DeliveryFeed> {
  if (!isUuid(webhookId) || !(await ownsSubscription(db, webhookId, owner))) throw webhookNotFound();
  return { deliveries: (await selectFeed(db, webhookId, feedLength)).map(deliveryView) };
}

export type DeliveryQuery = PageQuery & {
  webhook?: string;
  since?: string;
  topic?: string;
  order?: string;
  external_reference?: string;
  status?: string;
};

/**
 * Returns the `seq` of the delivery that the cursor names: the last one on the previous page. Null without a cursor.
 * @throws ServiceError when the cursor names no delivery of the owner
 */
async function afterOf(db: Database, owner: Owner, query: DeliveryQuery): Promise<number | null> {
  const cursor = cursorOf(query.cursor);
  if (cursor === null) return null;
  const last = isUuid(cursor) ? await selectDelivery(db, cursor, owner) : undefined;
  if (!last) throw foreignCursor();
  return last.seq;
}

function webhookIn(text: string | undefined): string | null {
  if (text === undefined || text === "") return null;
  if (!isUuid(text)) throw invalid("webhook must be the id of a webhook.");
  return text;
}

const sinceIn = (text: string | undefined): Date | null =>
  text === undefined || text === "" ? null : instantIn("since", text);

/**
 * A page of the owner's deliveries, newest first.
 * @throws ServiceError for an invalid query
 */
export async function deliveryPage({ db }: DeliveryDeps, owner: Owner, query: DeliveryQuery): Promise<Page<Delivery>> {
  const limit = limitOf(query.limit, pageSize);
  const filter = {
    webhookId: webhookIn(query.webhook),
    since: sinceIn(query.since),
    topic: filterText("topic", query.topic),
    orderCode: filterText("order", query.order),
    externalReference: filterText("external_reference", query.external_reference),
    state: filterText("status", query.status),
    after: await afterOf(db, owner, query),
  };
  const rows = await selectDeliveries(db, owner, filter, limit + 1);
  const { items, nextCursor } = pageOf(rows, limit, ({ id }) => id);
  return { items: items.map(deliveryView), nextCursor };
}

async function ownDelivery(db: Database, owner: Owner, id: string): Promise<DeliveryRow> {
  const row = isUuid(id) ? await selectDelivery(db, id, owner) : undefined;
  if (!row) throw deliveryNotFound();
  return row;
}

/**
 * A delivery of one of the owner's webhooks, as the API shows it.
 * @throws ServiceError for an unknown delivery
 */
export async function oneDelivery({ db }: DeliveryDeps, owner: Owner, id: string): Promise<Delivery> {
  return deliveryView(await ownDelivery(db, owner, id));
}

/**
 * Queues a delivery's event again, as a new delivery. The new body is built from the present records when it is sent.
 * @throws ServiceError for an unknown delivery, and when its subscription was deleted
 */
export async function replayDelivery({ db, clock, wake }: DeliveryDeps, owner: Owner, id: string) {
  const { id: replayedFrom } = await ownDelivery(db, owner, id);
  const deliveryId = await insertReplay(db, replayedFrom, clock());
  if (deliveryId === undefined) throw new ServiceError("conflict", "The webhook of this delivery was deleted.");
  wake();
  return { deliveryId, replayedFrom };
}

/**
 * Queues a test event for one subscription, even if the subscription does not include the test topic.
 * @returns the id of the delivery
 * @throws ServiceError for an unknown subscription
 */
export async function sendTest({ db, clock, wake }: DeliveryDeps, owner: Owner, webhookId: string): Promise<string> {
  const test = { webhookId, eventId: `${testTopic}:${newUuid()}`, topic: testTopic, at: clock() };
  const deliveryId = isUuid(webhookId) ? await insertTest(db, owner, test) : undefined;
  if (deliveryId === undefined) throw webhookNotFound();
  wake();
  return deliveryId;
}
