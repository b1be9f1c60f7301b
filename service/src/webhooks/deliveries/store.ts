import type { Owner } from "../../identity/identity.ts";
import type { Sql, Tx } from "../../platform/database.ts";

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

const selection = `
SELECT delivery.seq, delivery.id, webhook_id AS "webhookId", event.event_id AS "eventId", delivery.topic, state, attempts,
  last_status_code AS "lastStatusCode", duration_ms AS "durationMs", reason, webhook.url, delivery.created_at AS "createdAt",
  completed_at AS "completedAt", replayed_from AS "replayedFrom"
FROM webhook_deliveries AS delivery
JOIN events AS event ON event.id = delivery.event JOIN webhooks AS webhook ON webhook.id = webhook_id`;

/** The latest of one subscription, newest first. */
export const selectFeed = (sql: Sql, webhookId: string, limit: number) =>
  sql.rows<DeliveryRow>(`${selection} WHERE webhook_id = $1 ORDER BY delivery.seq DESC LIMIT $2`, [webhookId, limit]);

export type DeliveryFilter = {
  topic: string | null;
  orderCode: string | null;
  externalReference: string | null;
  state: string | null;
  after: number | null;
  limit: number;
};

// The `failed` are told by a literal, so that the small index of just these serves.
const conditions: Record<Exclude<keyof DeliveryFilter, "limit">, (n: number, filter: DeliveryFilter) => string> = {
  topic: (n) => `delivery.topic = $${n}`,
  orderCode: (n) => `order_code = $${n}`,
  externalReference: (n) =>
    `order_code = ANY (SELECT code FROM orders WHERE partner_id = $1 AND environment = $2 AND external_reference = $${n})`,
  state: (n, { state }) => (state === "failed" ? `state = 'failed' AND state = $${n}` : `state = $${n}`),
  after: (n) => `delivery.seq < $${n}`,
};

/** The owner's deliveries that pass the filter, newest first. */
export function selectDeliveries(sql: Sql, { partnerId, environment }: Owner, filter: DeliveryFilter) {
  const values: unknown[] = [partnerId, environment, filter.limit];
  const where = ["delivery.partner_id = $1", "delivery.environment = $2"];
  for (const [name, condition] of Object.entries(conditions)) {
    const value = filter[name as keyof typeof conditions];
    if (value !== null) where.push(condition(values.push(value), filter));
  }
  return sql.rows<DeliveryRow>(`${selection} WHERE ${where.join(" AND ")} ORDER BY delivery.seq DESC LIMIT $3`, values);
}

/** A delivery of this owner, or undefined. */
export async function selectDelivery(sql: Sql, id: string, { partnerId, environment }: Owner) {
  const [row] = await sql.rows<DeliveryRow>(
    `${selection} WHERE delivery.id = $1 AND delivery.partner_id = $2 AND delivery.environment = $3`,
    [id, partnerId, environment],
  );
  return row;
}

/** Queues the event of a delivery once more for its subscription. @returns undefined when that one is deleted. */
export async function insertReplay(sql: Sql, id: string, at: Date): Promise<string | undefined> {
  const [row] = await sql.rows<{ id: string }>(
    `INSERT INTO webhook_deliveries (event, webhook_id, partner_id, environment, topic, order_code, replayed_from, created_at)
     SELECT event, webhook_id, first.partner_id, first.environment, topic, order_code, first.id, $2
     FROM webhook_deliveries AS first JOIN webhooks AS webhook ON webhook.id = webhook_id
     WHERE first.id = $1 AND deleted_at IS NULL
     RETURNING id`,
    [id, at],
  );
  return row?.id;
}

/** Records a test event and queues it for one subscription. @returns undefined when the owner has no such one. */
export async function insertTest(
  sql: Sql | Tx,
  test: Owner & { webhookId: string; eventId: string; topic: string; at: Date },
) {
  const [row] = await sql.rows<{ id: string }>(
    `WITH webhook AS (
       SELECT id, partner_id, environment FROM webhooks
       WHERE id = $1 AND partner_id = $2 AND environment = $3 AND deleted_at IS NULL
     ), event AS (
       INSERT INTO events (occurred_at, topic, event_id, partner_id, environment, subject)
       SELECT $4, $5, $6, partner_id, environment, id::text FROM webhook RETURNING id
     )
     INSERT INTO webhook_deliveries (event, webhook_id, partner_id, environment, topic, created_at)
     SELECT event.id, webhook.id, partner_id, environment, $5, $4 FROM event, webhook
     RETURNING id`,
    [test.webhookId, test.partnerId, test.environment, test.at, test.topic, test.eventId],
  );
  return row?.id;
}
