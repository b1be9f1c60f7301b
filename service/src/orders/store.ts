import type { Owner } from "../identity/identity.ts";
import type { Sql } from "../platform/database/database.ts";
import { nothing, type Statement, sql } from "../platform/database/sql.ts";
import { type Marked, marked } from "../platform/database/state-mac.ts";
import { deletedAmong } from "../retention/retention.ts";
import { orderState, verifiedOrders } from "./order-mac.ts";
import type { OrderRow, OrderSummaryRow, PublicOrderRow } from "./views.ts";

/** A document in the blob store; `sha256` in hex, `bytes` its length. */
export type StoredDocument = { sha256: string; bytes: number; blobKey: string };

/** The document that an order was placed with. */
export type OriginalDocument = StoredDocument & { pages: number };

const summaryColumns = sql`code, status, sign, notarize, ship, fax, total_cents AS "totalCents",
  external_reference AS "externalReference", customer_email AS "customerEmail", created_at AS "createdAt"`;

const detailColumns = sql`${summaryColumns}, envelope_status AS "envelopeStatus", fax_to AS "faxTo", lines,
  subtotal_cents AS "subtotalCents", discount_cents AS "discountCents", document_notices AS "documentNotices"`;

export const ownOrderStatement = (code: string, { partnerId, environment }: Owner): Statement => sql`
  SELECT ${detailColumns}, ${verifiedOrders} FROM orders
  WHERE code = ${code} AND partner_id = ${partnerId} AND environment = ${environment}`;

/** An order of this partner in this environment, or undefined. */
export async function findOwnOrder(db: Sql, code: string, owner: Owner): Promise<OrderRow | undefined> {
  const [order] = await db.query<OrderRow>(ownOrderStatement(code, owner));
  return order;
}

/** Whether there is such an order of this partner in this environment. */
export async function isOwnOrder(db: Sql, code: string, { partnerId, environment }: Owner): Promise<boolean> {
  const found = await db.query(sql`
    SELECT FROM orders WHERE code = ${code} AND partner_id = ${partnerId} AND environment = ${environment}`);
  return found.length === 1;
}

/** The same as `whenDocumentsWereDeleted`: a part of a statement. */
export const documentsDeletedAt = (orderId: Statement): Statement =>
  deletedAmong(sql`documents JOIN deleted_blobs USING (blob_key) WHERE order_id = ${orderId}`, "documentsDeletedAt");

/** When the retention plan deleted documents of the order; null when it did not. */
export async function whenDocumentsWereDeleted(db: Sql, orderId: number): Promise<Date | null> {
  const [row] = await db.query<{ documentsDeletedAt: Date | null }>(sql`
    SELECT ${documentsDeletedAt(sql`${orderId}`)}`);
  return row?.documentsDeletedAt ?? null;
}

/** Any order, for anyone who has its code. */
export async function findOrder(db: Sql, code: string): Promise<PublicOrderRow | undefined> {
  const [order] = await db.query<PublicOrderRow>(sql`
    SELECT ${detailColumns}, partner_id AS "partnerId", environment, customer_name AS "customerName", doc_slug AS "docSlug",
      document_name AS "documentName", status_before_hold AS "statusBeforeHold",
      ${documentsDeletedAt(sql`orders.id`)}, parcel.carrier, parcel.tracking_number AS "trackingNumber",
      ${verifiedOrders}
    FROM orders LEFT JOIN LATERAL (
      SELECT carrier, tracking_number FROM shipments WHERE order_id = orders.id ORDER BY id DESC LIMIT 1) parcel ON true
    WHERE code = ${code}`);
  return order;
}

export type ListFilter = {
  status: string | null;
  externalReference: string | null;
  /** The code of the order that the page follows. */
  after: string | null;
  limit: number;
};

const markedOrders = marked(orderState, sql`orders`);

/** Newest first. Each combination of filters has a text of its own, and so the plan of its own index. */
export function listStatement({ partnerId, environment }: Owner, filter: ListFilter): Statement {
  const { status, externalReference, after, limit } = filter;
  return sql`SELECT ${summaryColumns}, ${markedOrders} FROM orders WHERE partner_id = ${partnerId} AND environment = ${environment}
    ${status === null ? nothing : sql`AND status = ${status}`}
    ${externalReference === null ? nothing : sql`AND external_reference = ${externalReference}`}
    ${
      after === null
        ? nothing
        : sql`AND (created_at, id) < (
            SELECT created_at, id FROM orders
            WHERE code = ${after} AND partner_id = ${partnerId} AND environment = ${environment})`
    }
    ORDER BY created_at DESC, id DESC LIMIT ${limit}`;
}

export const listOrders = (db: Sql, owner: Owner, filter: ListFilter) =>
  db.query<OrderSummaryRow & Marked>(listStatement(owner, filter));
