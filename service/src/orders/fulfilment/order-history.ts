import { linesWhere } from "../../kernel/audit/audit.ts";
import type { Sql } from "../../kernel/platform/database/database.ts";
import { isoTime, type Statement, sql } from "../../kernel/platform/database/sql.ts";
import { markedAll, verifiedAll } from "../../kernel/platform/database/state-mac.ts";
import {
  fromDocuments,
  fromOrders,
  hasOrderCode,
  isHandedIn,
  orderNotFound,
  verifiedOrder,
  verifiedShipmentsOf,
} from "../order/order.ts";
import {
  billingDocumentState,
  billingDocuments,
  fromPayments,
  isPaidOutside,
  joinPayment,
  type OutsideWay,
  outsideWay,
  paymentState,
} from "../payments/payments.ts";
import { faxState } from "./store.ts";

/** The full record of an order, for the operator. */
export type OrderHistory = {
  orderCode: string;
  status: string;
  environment: string;
  services: string[];
  envelopeStatus: string | null;
  totalCents: number;
  customerEmail: string;
  externalReference: string | null;
  documents: { kind: string; sha256: string; bytes: number; createdAt: string; origin: "operator" | null }[];
  shipments: {
    status: string;
    carrier: string;
    /** The carrier's tracking number; null for mail that can't be tracked. */
    trackingNumber: string | null;
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
    /** The cents that were returned: refunds, and payments that a bank took back. */
    returnedCents: number;
    /** Refunds that were paid outside the payment processor. */
    paidOutside: { document: number; way: OutsideWay; cents: number; at: string }[];
  }[];
  /**
   * False if a receipt, or a document that corrects one, was altered in the database. `returnedCents` is then 0 and
   * `paidOutside` empty, even if money was returned.
   */
  areReceiptsAuthentic: boolean;
  history: {
    occurredAt: string;
    action: string;
    actor: string;
    fromStatus: string | null;
    toStatus: string | null;
    detail: unknown;
  }[];
};

/** The rows of a table that belong to order `o`, as a JSON array sorted by id. */
const listOf = (table: Statement, fields: Statement) => sql`(
  SELECT coalesce(json_agg(json_build_object(${fields}) ORDER BY x.id), '[]') FROM ${table} x WHERE x.order_id = o.id)`;

// Revisions are stages of the file that is sealed at the end, so they are not listed as documents.
const documents = listOf(
  sql`(SELECT d.* ${fromDocuments} WHERE d.kind <> 'revision')`,
  sql`'kind', x.kind, 'sha256', x.sha256, 'bytes', x.bytes, 'createdAt', ${isoTime(sql`x.created_at`)}, 'origin', CASE WHEN ${isHandedIn(sql`x.kind`)} THEN 'operator' END`,
);
const shipments = listOf(
  sql`shipments`,
  sql`'status', x.status, 'carrier', x.carrier, 'trackingNumber', x.tracking_number,
    'shippedAt', ${isoTime(sql`x.shipped_at`)}, 'deliveredAt', ${isoTime(sql`x.delivered_at`)}`,
);
const faxes = listOf(
  sql`faxes`,
  sql`'status', x.status, 'faxTo', x.fax_to, 'sentAt', ${isoTime(sql`x.sent_at`)},
    'deliveredAt', ${isoTime(sql`x.delivered_at`)}`,
);
const payments = listOf(
  sql`(SELECT p.* ${fromPayments})`,
  sql`'amountCents', x.amount_cents, 'currency', x.currency, 'simulated', x.simulated,
    'receivedAt', ${isoTime(sql`x.received_at`)}, 'refundedAt', ${isoTime(sql`x.refunded_at`)},
    'returnedCents', (SELECT coalesce(sum(CASE WHEN d.kind LIKE '%reversal' THEN -d.part_cents ELSE d.part_cents END), 0)
      FROM ${billingDocuments(sql`d`)} WHERE d.payment_id = x.id AND d.kind <> 'receipt'),
    'paidOutside', (SELECT coalesce(json_agg(json_build_object('document', d.id, 'way', ${outsideWay(sql`d`)}, 'cents', d.part_cents,
        'at', ${isoTime(sql`d.booked_at`)}) ORDER BY d.id), '[]')
      FROM ${billingDocuments(sql`d`)} WHERE d.payment_id = x.id AND ${isPaidOutside(sql`d`)})`,
);
// The signers' events are not here, but in the trail of their envelope (`envelope show`).
const history = listOf(
  linesWhere(sql`action <> 'signing_link.issued' AND action NOT LIKE 'signer.%'`),
  sql`'occurredAt', ${isoTime(sql`x.occurred_at`)}, 'action', x.action, 'actor', x.actor,
    'fromStatus', x.from_status, 'toStatus', x.to_status, 'detail', x.detail`,
);

const receipts = sql`FROM ${billingDocuments(sql`d`)} ${joinPayment(sql`d.payment_id`)} WHERE p.order_id = o.id`;

/**
 * Reads an order of any firm with everything that happened to it.
 * @throws ServiceError `not_found`; AlteredRecordError, except for receipts
 */
export async function orderHistory(db: Sql, code: string): Promise<OrderHistory> {
  const [order] = await db.query<OrderHistory>(sql`
    SELECT code AS "orderCode@order", status, environment,
      array_remove(ARRAY[CASE WHEN sign THEN 'Sign' END, CASE WHEN notarize THEN 'Notarize' END,
        CASE WHEN ship THEN 'Ship' END, CASE WHEN fax THEN 'Fax' END], NULL) AS services,
      envelope_status AS "envelopeStatus", total_cents AS "totalCents", customer_email AS "customerEmail",
      external_reference AS "externalReference",
      ${documents} AS documents, ${shipments} AS shipments, ${faxes} AS faxes, ${payments} AS payments,
      ${history} AS history, ${verifiedOrder}, ${verifiedShipmentsOf(sql`o.id`)},
      ${verifiedAll(faxState, sql`f`, sql`FROM faxes f WHERE f.order_id = o.id`)},
      ${verifiedAll(paymentState, sql`p`, sql`${fromPayments} WHERE p.order_id = o.id`)},
      ${markedAll(billingDocumentState, sql`d`, receipts, "areReceiptsAuthentic")}
    ${fromOrders} WHERE ${hasOrderCode(code)}`);
  if (!order) throw orderNotFound();
  if (order.areReceiptsAuthentic) return order;
  return { ...order, payments: order.payments.map((each) => ({ ...each, returnedCents: 0, paidOutside: [] })) };
}
