import { eventRow, joinEvent } from "../../../kernel/events/events.ts";
import type { Owner } from "../../../kernel/identity/identity.ts";
import type { Sql } from "../../../kernel/platform/database/database.ts";
import { nothing, type Statement, sql } from "../../../kernel/platform/database/sql.ts";
import { orderIdOf, orderIdsOf } from "../../../orders/order/order.ts";

export type DeliveryRow = {
  seq: number;
  id: string;
  webhookId: string;
  eventId: string;
  topic: string;
  state: "pending" | "delivered" | "failed";
  attempts: number;
  lastStatusCode: number | null;
  durationMs: number | null;
  reason: string | null;
  url: string;
  createdAt: Date;
  completedAt: Date | null;
  replayedFrom: string | null;
};

const selectDeliveriesWhere = (condition: Statement) => sql`
SELECT delivery.seq, delivery.id, webhook_id AS "webhookId", event.event_id AS "eventId@event", delivery.topic, state, attempts,
  last_status_code AS "lastStatusCode", duration_ms AS "durationMs", reason, webhook.url, delivery.created_at AS "createdAt",
  completed_at AS "completedAt", replayed_from AS "replayedFrom"
FROM webhook_deliveries AS delivery
${joinEvent(sql`delivery.event`)} JOIN webhooks AS webhook ON webhook.id = webhook_id
WHERE ${condition}`;

const ownedBy = ({ partnerId, environment }: Owner) =>
  sql`delivery.partner_id = ${partnerId} AND delivery.environment = ${environment}`;

const newestFirst = (limit: number) => sql`ORDER BY delivery.seq DESC LIMIT ${limit}`;

/** The latest deliveries of one subscription, newest first. Doesn't check who owns it. */
export const selectFeed = (db: Sql, webhookId: string, limit: number) =>
  db.query<DeliveryRow>(sql`${selectDeliveriesWhere(sql`webhook_id = ${webhookId}`)} ${newestFirst(limit)}`);

/** Filters of a list; null for no filter. */
export type DeliveryFilter = {
  webhookId: string | null;
  since: Date | null;
  topic: string | null;
  orderCode: string | null;
  externalReference: string | null;
  state: string | null;
  /** The `seq` of the last delivery on the previous page. */
  after: number | null;
};

/** The owner's deliveries that match, newest first. */
export function selectDeliveries(db: Sql, owner: Owner, filter: DeliveryFilter, limit: number) {
  const { webhookId, since, topic, orderCode, externalReference, state, after } = filter;
  const condition = sql`${ownedBy(owner)}
  ${webhookId === null ? nothing : sql`AND webhook_id = ${webhookId}`}
  ${since === null ? nothing : sql`AND delivery.created_at >= ${since}`}
  ${topic === null ? nothing : sql`AND delivery.topic = ${topic}`}
  ${orderCode === null ? nothing : sql`AND delivery.order_id = ${orderIdOf(orderCode)}`}
  ${externalReference === null ? nothing : sql`AND delivery.order_id = ANY (${orderIdsOf(owner, externalReference)})`}
  ${state === null ? nothing : sql`AND ${inState(state)}`}
  ${after === null ? nothing : sql`AND delivery.seq < ${after}`}`;
  return db.query<DeliveryRow>(sql`${selectDeliveriesWhere(condition)} ${newestFirst(limit)}`);
}

// `failed` is part of the statement's text and not a parameter, so that PostgreSQL can use the small partial index of
// failed deliveries.
const inState = (state: string) => (state === "failed" ? sql`state = 'failed'` : sql`state = ${state}`);

/** The owner's delivery, or undefined. */
export async function selectDelivery(db: Sql, id: string, owner: Owner): Promise<DeliveryRow | undefined> {
  const [row] = await db.query<DeliveryRow>(selectDeliveriesWhere(sql`delivery.id = ${id} AND ${ownedBy(owner)}`));
  return row;
}

/**
 * Queues the event of a delivery again, for the same subscription.
 * @returns the new delivery's id; undefined for an unknown delivery or a deleted subscription
 */
export async function insertReplay(db: Sql, id: string, at: Date): Promise<string | undefined> {
  const [row] = await db.query<{ id: string }>(sql`
INSERT INTO webhook_deliveries (event, webhook_id, partner_id, environment, topic, order_id, replayed_from, created_at)
SELECT event, webhook_id, first.partner_id, first.environment, topic, order_id, first.id, ${at}
FROM webhook_deliveries AS first JOIN webhooks AS webhook ON webhook.id = webhook_id
WHERE first.id = ${id} AND deleted_at IS NULL
RETURNING id`);
  return row?.id;
}

export type TestEvent = { webhookId: string; eventId: string; topic: string; at: Date };

/**
 * Records a test event and queues it for one subscription.
 * @returns the delivery's id; undefined when the owner does not have this subscription
 */
export async function insertTest(db: Sql, owner: Owner, test: TestEvent): Promise<string | undefined> {
  const { partnerId, environment } = owner;
  const { webhookId, eventId, topic, at } = test;
  const event = { at, topic, eventId, partnerId, environment, subject: webhookId };
  const [row] = await db.query<{ id: string }>(sql`
WITH webhook AS (
  SELECT id FROM webhooks
  WHERE id = ${webhookId} AND partner_id = ${partnerId} AND environment = ${environment} AND deleted_at IS NULL
), event AS (
  ${eventRow(event, sql`webhook`)} RETURNING id
)
INSERT INTO webhook_deliveries (event, webhook_id, partner_id, environment, topic, created_at)
SELECT event.id, webhook.id, ${partnerId}, ${environment}, ${topic}, ${at} FROM event, webhook
RETURNING id`);
  return row?.id;
}

const maxCounted = 100_000;

/**
 * The number of pending deliveries, including held ones, counted up to `maxCounted`. Also the age of the oldest pending
 * delivery in seconds. The age comes from the first pending delivery of each webhook, so that long queues don't slow
 * the query down.
 */
export const pendingDeliveryGauges = (now: Date): Statement => sql`
SELECT gauge, '' AS label, value FROM (
  WITH RECURSIVE firsts AS (
    (SELECT webhook_id, seq FROM webhook_deliveries WHERE state = 'pending' ORDER BY webhook_id, seq LIMIT 1)
    UNION ALL
    SELECT next.webhook_id, next.seq FROM firsts, LATERAL (
      SELECT webhook_id, seq FROM webhook_deliveries
      WHERE state = 'pending' AND webhook_id > firsts.webhook_id ORDER BY webhook_id, seq LIMIT 1
    ) AS next
  )
  SELECT (SELECT count(*) FROM (SELECT FROM webhook_deliveries WHERE state = 'pending' LIMIT ${maxCounted}) AS pending) AS pending,
    (SELECT min(created_at) FROM webhook_deliveries WHERE seq = ANY (ARRAY(SELECT seq FROM firsts))) AS oldest
) AS deliveries, LATERAL (VALUES
  ('webhook_deliveries_pending', pending::float8),
  ('webhook_deliveries_oldest_seconds', coalesce(greatest(0, extract(epoch FROM ${now}::timestamptz - oldest)), 0))
) AS figures (gauge, value)`;
