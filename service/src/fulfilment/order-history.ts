import type { Sql } from "../platform/database.ts";
import { ServiceError } from "../platform/errors.ts";

/** All that is on record of an order, for the operator. */
export type OrderStory = {
  orderCode: string;
  status: string;
  environment: string;
  services: string[];
  envelopeStatus: string | null;
  totalCents: number;
  customerEmail: string;
  externalReference: string | null;
  documents: { kind: string; sha256: string; bytes: number; createdAt: string }[];
  shipments: {
    status: string;
    carrier: string;
    trackingNumber: string;
    shippedAt: string;
    deliveredAt: string | null;
  }[];
  faxes: { status: string; faxTo: string; sentAt: string; deliveredAt: string | null }[];
  payments: {
    amountCents: number;
    currency: string;
    simulated: boolean;
    receivedAt: string;
    refundedAt: string | null;
  }[];
  history: {
    occurredAt: string;
    action: string;
    actor: string;
    fromStatus: string | null;
    toStatus: string | null;
    detail: unknown;
  }[];
};

const iso = (column: string) => `to_char(${column} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
const list = (fields: string, from: string) =>
  `(SELECT coalesce(json_agg(json_build_object(${fields}) ORDER BY x.id), '[]') FROM ${from} x WHERE x.order_id = o.id)`;

const select = `SELECT code AS "orderCode", status, environment,
  array_remove(ARRAY[CASE WHEN sign THEN 'Sign' END, CASE WHEN notarize THEN 'Notarize' END, CASE WHEN ship THEN 'Ship' END,
    CASE WHEN fax THEN 'Fax' END], NULL) AS services,
  envelope_status AS "envelopeStatus", total_cents AS "totalCents", customer_email AS "customerEmail",
  external_reference AS "externalReference",
  ${list(`'kind', x.kind, 'sha256', x.sha256, 'bytes', x.bytes, 'createdAt', ${iso("x.created_at")}`, "documents")} AS documents,
  ${list(`'status', x.status, 'carrier', x.carrier, 'trackingNumber', x.tracking_number, 'shippedAt', ${iso("x.shipped_at")}, 'deliveredAt', ${iso("x.delivered_at")}`, "shipments")} AS shipments,
  ${list(`'status', x.status, 'faxTo', x.fax_to, 'sentAt', ${iso("x.sent_at")}, 'deliveredAt', ${iso("x.delivered_at")}`, "faxes")} AS faxes,
  ${list(`'amountCents', x.amount_cents, 'currency', x.currency, 'simulated', x.simulated, 'receivedAt', ${iso("x.received_at")}, 'refundedAt', ${iso("x.refunded_at")}`, "payments")} AS payments,
  ${list(`'occurredAt', ${iso("x.occurred_at")}, 'action', x.action, 'actor', x.actor, 'fromStatus', x.from_status, 'toStatus', x.to_status, 'detail', x.detail`, "audit_log")} AS history
  FROM orders o WHERE code = $1`;

/** @throws ServiceError `not_found` */
export async function orderStory(sql: Sql, code: string): Promise<OrderStory> {
  const [story] = await sql.rows<OrderStory>(select, [code]);
  if (!story) throw new ServiceError("not_found", "Order not found.");
  return story;
}
