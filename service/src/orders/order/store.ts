import { lastReason } from "../../kernel/audit/audit.ts";
import type { Environment, Owner } from "../../kernel/identity/identity.ts";
import type { Sql, Tx } from "../../kernel/platform/database/database.ts";
import { isSealed, listed, nothing, quoted, type Statement, sql } from "../../kernel/platform/database/sql.ts";
import { type Marked, marked, writeStateMacs } from "../../kernel/platform/database/state-mac.ts";
import { invalid } from "../../kernel/platform/errors.ts";
import { deletedAmong, joinMark } from "../../kernel/retention/retention.ts";
import { dollars, minPaymentCents } from "../dollars.ts";
import type { StoredDocument } from "./documents.ts";
import type { Payer } from "./form/form.ts";
import { senderTextNames, senderTexts } from "./form/sender-texts.ts";
import { orderState, verifiedOrders, verifiedShipmentsOf } from "./order-mac.ts";
import { isFailureOfFirm } from "./reads.ts";
import { templateOf } from "./template-use.ts";
import type { OrderStatus } from "./transitions/statuses.ts";
import type { LockedOrder } from "./transitions/transitions.ts";
import type { OrderRow, OrderSummaryRow, PublicOrderRow } from "./views.ts";

/** The document that an order was placed with. */
export type OriginalDocument = StoredDocument & { pages: number };

const listedColumns = sql`code AS "code@order", status, sign, notarize, ship, fax, total_cents AS "totalCents",
  customer_email AS "customerEmail", created_at AS "createdAt"`;

const summaryColumns = sql`${listedColumns}, external_reference AS "externalReference"`;

const senderColumns = listed(
  senderTextNames.map((name) => sql`${quoted(name)} AS ${quoted(senderTexts[name].member)}`),
);

const detailColumns = sql`${listedColumns}, ${senderColumns}, envelope_status AS "envelopeStatus", fax_to AS "faxTo", lines,
  subtotal_cents AS "subtotalCents", discount_cents AS "discountCents", pay_by AS "payBy", document_notices AS "documentNotices",
  ${templateOf(sql`orders.id`)} AS template,
  CASE WHEN status = 'ManualQuoteRequired' THEN ${lastReason(sql`orders.id`, sql`orders.status`)} END AS "manualQuoteReason"`;

export const ownOrderStatement = (code: string, { partnerId, environment }: Owner): Statement => sql`
  SELECT ${detailColumns}, ${verifiedOrders} FROM orders
  WHERE ${isSealed(sql`code`, "order", code)} AND partner_id = ${partnerId} AND environment = ${environment}`;

export async function findOwnOrder(db: Sql, code: string, owner: Owner): Promise<OrderRow | undefined> {
  const [order] = await db.query<OrderRow>(ownOrderStatement(code, owner));
  return order;
}

export async function isOwnOrder(db: Sql, code: string, { partnerId, environment }: Owner): Promise<boolean> {
  const found = await db.query(sql`
    SELECT FROM orders WHERE ${isSealed(sql`code`, "order", code)} AND partner_id = ${partnerId} AND environment = ${environment}`);
  return found.length === 1;
}

/** The payer of the order. @throws ServiceError `unavailable` for an order whose MAC is invalid */
export async function orderPayer(db: Sql, orderId: number): Promise<Payer | undefined> {
  const [order] = await db.query<{ payBy: Payer }>(
    sql`SELECT pay_by AS "payBy", ${verifiedOrders} FROM orders WHERE id = ${orderId}`,
  );
  return order?.payBy;
}

/** The FROM clause with which other features read orders' milestones, one row for each. The alias is `w`. */
export const fromMilestones: Statement = sql`FROM workflow_events w`;

export const joinMilestones = (orderId: Statement): Statement => sql`JOIN workflow_events w ON w.order_id = ${orderId}`;

/** The FROM clause for the status changes that are queued for the next mail to a member. The alias is `n`. */
export const fromNotedStatuses: Statement = sql`FROM order_news n`;

/** An order of any firm in one environment. */
export async function findOrderOfEnvironment(db: Sql, code: string, environment: Environment) {
  const [order] = await db.query<{ id: number; status: OrderStatus }>(
    sql`SELECT id, status FROM orders WHERE ${isSealed(sql`code`, "order", code)} AND environment = ${environment}`,
  );
  return order;
}

/** SQL expression: when the retention plan deleted documents of the order; null when it has not. */
export const documentsDeletedAt = (orderId: Statement): Statement =>
  deletedAmong(sql`documents d ${joinMark(sql`d.blob_key`)} WHERE d.order_id = ${orderId}`, "documentsDeletedAt");

/** The time when the retention plan deleted documents of the order; null when it has not. */
export async function whenDocumentsWereDeleted(db: Sql, orderId: number): Promise<Date | null> {
  const [row] = await db.query<{ documentsDeletedAt: Date | null }>(sql`
    SELECT ${documentsDeletedAt(sql`${orderId}`)}`);
  return row?.documentsDeletedAt ?? null;
}

/** Finds an order of any firm, for a caller who knows the order's code. */
export async function findOrder(db: Sql, code: string): Promise<PublicOrderRow | undefined> {
  const [order] = await db.query<PublicOrderRow>(sql`
    SELECT ${detailColumns}, partner_id AS "partnerId", environment, customer_name AS "customerName", doc_slug AS "docSlug",
      document_name AS "documentName", status_before_hold AS "statusBeforeHold", ${isFailureOfFirm(sql`orders.id`)} AS "isFailureOfFirm",
      ${documentsDeletedAt(sql`orders.id`)}, parcel.carrier, parcel.tracking_number AS "trackingNumber",
      ${verifiedOrders}, ${verifiedShipmentsOf(sql`orders.id`)}
    FROM orders LEFT JOIN LATERAL (
      SELECT carrier, tracking_number FROM shipments WHERE order_id = orders.id ORDER BY id DESC LIMIT 1) parcel ON true
    WHERE ${isSealed(sql`code`, "order", code)}`);
  return order;
}

export type ListFilter = {
  status: string | null;
  externalReference: string | null;
  /** The code of the last order of the previous page. */
  after: string | null;
  limit: number;
};

const markedOrders = marked(orderState, sql`orders`);

/**
 * The owner's orders, newest first. Each combination of filters gives a different statement text, so that PostgreSQL
 * plans each with its own index.
 */
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
            WHERE ${isSealed(sql`code`, "order", after)} AND partner_id = ${partnerId} AND environment = ${environment})`
    }
    ORDER BY created_at DESC, id DESC LIMIT ${limit}`;
}

export const listOrders = (db: Sql, owner: Owner, filter: ListFilter) =>
  db.query<OrderSummaryRow & Marked>(listStatement(owner, filter));

/**
 * Adds a line to the quote of a locked order that a person is pricing.
 * @param amountCents may be negative
 * @throws ServiceError when the total would be neither zero nor enough for a payment
 */
export async function addAdjustment(tx: Tx, orderId: number, amountCents: number, label: string): Promise<void> {
  const line = JSON.stringify([{ type: "ServiceAdjustment", label, amountCents }]);
  const adjusted = await tx.query(sql`
    UPDATE orders SET lines = lines || ${line}::jsonb, subtotal_cents = subtotal_cents + ${amountCents},
      total_cents = total_cents + ${amountCents}
    WHERE id = ${orderId} AND (total_cents + ${amountCents} = 0 OR total_cents + ${amountCents} >= ${minPaymentCents})
    RETURNING 1`);
  if (adjusted.length === 0)
    throw invalid(`The adjusted total must be $0.00, or at least ${dollars(minPaymentCents)}, the smallest payment.`);
  await writeStateMacs(tx, orderState, sql`id = ${orderId}`);
}

/** Records that an operator handed in a document of this kind for a locked order. */
export async function markHandedIn(tx: Tx, orderId: number, kind: string): Promise<void> {
  await tx.query(sql`
    UPDATE orders SET taken_in = array_append(taken_in, ${kind}) WHERE id = ${orderId} AND ${kind} <> ALL (taken_in)`);
  await writeStateMacs(tx, orderState, sql`id = ${orderId}`);
}

/**
 * Sets the envelope status that partners see. Never moves it backward, and changes no envelope that is not open.
 */
export async function setEnvelopeStatus(
  tx: Tx,
  order: Pick<LockedOrder, "id">,
  status: "Viewed" | "PartiallySigned",
  at: Date,
): Promise<void> {
  const changed = await tx.query(sql`
    UPDATE orders SET envelope_status = ${status}, updated_at = ${at}
    WHERE id = ${order.id} AND envelope_status <> ${status}
      AND (envelope_status = 'Sent' OR ${status} = 'PartiallySigned' AND envelope_status = 'Viewed') RETURNING 1`);
  if (changed.length > 0) await writeStateMacs(tx, orderState, sql`id = ${order.id}`);
}

/**
 * Deletes the names and notices of deleted documents, and the firm's notes on the orders of these documents. The caller
 * must have locked and verified the orders.
 */
export async function forgetDocumentNames(tx: Tx, blobKeys: readonly string[]): Promise<void> {
  const orders = await tx.query<{ id: number }>(sql`
    UPDATE orders SET document_name = NULL, document_notices = NULL FROM documents d
    WHERE d.order_id = orders.id AND d.kind = 'original' AND d.blob_key = ANY (${blobKeys}::text[])
      AND (document_name IS NOT NULL OR document_notices IS NOT NULL) RETURNING orders.id`);
  if (orders.length > 0) await writeStateMacs(tx, orderState, sql`id = ANY (${orders.map(({ id }) => id)}::bigint[])`);
  // The notes are deleted with an order's first deleted document, because from then on the order's page shows no notes.
  await tx.query(sql`
    DELETE FROM firm_notes USING documents d
    WHERE d.order_id = firm_notes.order_id AND d.blob_key = ANY (${blobKeys}::text[])`);
}
