import { joinEvent } from "../../../kernel/events/events.ts";
import type { Owner } from "../../../kernel/identity/identity.ts";
import type { ColumnCipher } from "../../../kernel/platform/column-cipher.ts";
import type { Database } from "../../../kernel/platform/database/database.ts";
import { sql } from "../../../kernel/platform/database/sql.ts";
import type { RowMac } from "../../../kernel/platform/row-mac.ts";
import { isUuid } from "../../../kernel/platform/text.ts";
import { orderStatuses } from "../../../orders/order/order.ts";
import { type ContextRow, contextColumns, contextJoins, contextOf } from "../event-context.ts";
import { bodyHash, openExchange } from "../exchange.ts";
import { failureText } from "../outbound/failure-text.ts";
import { type EventContext, type PassportContext, payloadOf } from "../payload.ts";
import { isOrderTopic } from "../topics.ts";
import { deliveryNotFound } from "./deliveries.ts";

export type ExchangeDeps = {
  db: Database;
  rowMac: RowMac;
  baseUrl: string;
  exchangeCipher: ColumnCipher;
  passportOf: (id: string, owner: Owner) => Promise<PassportContext | undefined>;
};

/**
 * The body of a delivery, rebuilt from the present records, or from a variant of them with another order status.
 * `isAsSent`: true if its hash equals that of the sent body; false if not; null when no hash is stored.
 */
type Payload = { text: string; isAsSent: boolean | null };

export type ShownExchange = {
  deliveryId: string;
  failure: string | null;
  request: { headers: Record<string, string>; payload: Payload | null };
  response: { statusCode: number; headers: Record<string, string>; body: string; isCut: boolean } | null;
};

type Row = ContextRow<{
  seq: number;
  webhookId: string;
  exchange: Buffer | null;
  reason: string | null;
  statusCode: number | null;
}>;

async function selectRow(db: Database, { partnerId, environment }: Owner, id: string): Promise<Row | undefined> {
  const [row] = await db.query<Row>(sql`
SELECT delivery.seq, delivery.webhook_id AS "webhookId", delivery.exchange, delivery.reason,
  delivery.last_status_code AS "statusCode", ${contextColumns}
FROM webhook_deliveries AS delivery ${joinEvent(sql`delivery.event`)} ${contextJoins}
WHERE delivery.id = ${id} AND delivery.partner_id = ${partnerId} AND delivery.environment = ${environment}`);
  return row;
}

/**
 * The request and response of one of the owner's deliveries.
 * @throws ServiceError for an unknown delivery
 */
export async function readExchange(deps: ExchangeDeps, owner: Owner, deliveryId: string): Promise<ShownExchange> {
  const row = isUuid(deliveryId) ? await selectRow(deps.db, owner, deliveryId) : undefined;
  if (!row) throw deliveryNotFound();
  const { seq, exchange: sealed, reason, statusCode, ...event } = row;
  const exchange = sealed && openExchange(deps.exchangeCipher, seq, sealed);
  const context = contextOf(deps.rowMac, event);
  const answer = exchange?.answer ?? null;
  return {
    deliveryId,
    failure: reason === null ? null : failureText(reason, statusCode),
    request: {
      headers: exchange?.requestHeaders ?? {},
      payload: context.isWhole ? await rebuiltPayload(deps, owner, context, exchange?.bodySha256 ?? null) : null,
    },
    response:
      answer && statusCode !== null
        ? { statusCode, headers: answer.headers, body: answer.body.toString("utf8"), isCut: answer.isCut }
        : null,
  };
}

/**
 * Rebuilds the body of a delivery, because bodies are not stored (contract, Webhook management). Prefers the variant
 * whose hash is that of the sent body. Null when a needed record is missing.
 */
async function rebuiltPayload(
  { baseUrl, passportOf }: ExchangeDeps,
  owner: Owner,
  event: Omit<EventContext, "passport">,
  sent: Buffer | null,
): Promise<Payload | null> {
  const passport = event.topic === "passport.sealed" ? await passportOf(event.subject, owner) : undefined;
  const bodies = asItMayHaveBeen({ ...event, passport: passport ?? null }).map((each) => payloadOf(each, baseUrl));
  const [present] = bodies;
  if (!present) return null;
  const match = sent && bodies.find((body) => body && bodyHash(body).equals(sent));
  return { text: (match || present).toString(), isAsSent: sent && match !== undefined };
}

/**
 * The event with the present records, and variants of it. The order's status may have changed since the body was sent,
 * so an order's event gets a variant for each status.
 */
function asItMayHaveBeen(event: EventContext): EventContext[] {
  const { order } = event;
  if (!order || !isOrderTopic(event.topic)) return [event];
  return [event, ...orderStatuses.map((status) => ({ ...event, order: { ...order, status } }))];
}
