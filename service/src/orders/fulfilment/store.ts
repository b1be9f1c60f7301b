import type { Environment } from "../../kernel/identity/identity.ts";
import { changeRow } from "../../kernel/platform/database/change-rows.ts";
import type { Sql, Tx } from "../../kernel/platform/database/database.ts";
import { nothing, type Statement, sql } from "../../kernel/platform/database/sql.ts";
import { type StateMac, verified, writeStateMacs } from "../../kernel/platform/database/state-mac.ts";
import { stateRows } from "../../kernel/platform/protected-data.ts";
import {
  fromDocuments,
  fromMilestones,
  fromOrders,
  hasOrderCode,
  type NewDocument,
  type OrderStatus,
  shipmentState,
  verifiedOrder,
  verifiedShipmentsOf,
} from "../order/order.ts";
import type { BoughtServices } from "../pricing/pricing.ts";

type DocumentKind =
  | "sealed"
  | "notarized"
  | "custody_certificate"
  | "delivery_receipt"
  | "mail_receipt"
  | "fax_certificate";

export type SealedDocument = NewDocument & { kind: DocumentKind };

/** The document to work on next: the notarized one, else the sealed one, else the original. Of several, the newest. */
export async function furthestDocument(db: Sql, orderId: number) {
  const [document] = await db.query<{ kind: string; sha256: string; blobKey: string; mac: Buffer | null }>(sql`
    SELECT kind, sha256, blob_key AS "blobKey", row_mac AS mac ${fromDocuments}
    WHERE order_id = ${orderId} AND kind IN ('original', 'sealed', 'notarized')
    ORDER BY array_position(ARRAY['notarized', 'sealed', 'original'], kind), id DESC LIMIT 1`);
  return document;
}

/** True if the order has a document with these bytes. */
export async function hasDocumentBytes(db: Sql, orderId: number, sha256: string): Promise<boolean> {
  const rows = await db.query(sql`SELECT ${fromDocuments} WHERE order_id = ${orderId} AND sha256 = ${sha256} LIMIT 1`);
  return rows.length > 0;
}

/** The columns of a fax that its MAC covers: all those that an order shows. */
export const faxState: StateMac = {
  table: sql`faxes`,
  key: sql`id`,
  mac: sql`row_mac`,
  covered: (f) => sql`${f}.id, ${f}.order_id, ${f}.status, ${f}.fax_to, ${f}.sent_at AT TIME ZONE 'UTC',
    ${f}.delivered_at AT TIME ZONE 'UTC', ${f}.state_version`,
};

export const protectedTables = [shipmentState, faxState].map((state) =>
  stateRows(state, { backfill: { set: "carriers" } }),
);

/** Selects the `order_id` of each order with a shipment that has this tracking number. */
export const ordersTrackedBy = (trackingNumber: string): Statement =>
  sql`SELECT order_id FROM shipments WHERE tracking_number = ${trackingNumber}`;

/** Selects the `order_id` of each order with a fax to one of these numbers. */
export const ordersFaxedTo = (numbers: readonly string[]): Statement =>
  sql`SELECT order_id FROM faxes WHERE fax_to = ANY (${numbers}::text[])`;

/**
 * Records a shipment of an order.
 * @param trackingNumber null for mail that has none
 */
export async function insertShipment(
  tx: Tx,
  orderId: number,
  carrier: string,
  trackingNumber: string | null,
  at: Date,
) {
  const rows = await tx.query<{ id: number }>(sql`
    INSERT INTO shipments (order_id, status, carrier, tracking_number, shipped_at)
    VALUES (${orderId}, 'Shipped', ${carrier}, ${trackingNumber}, ${at}) RETURNING id`);
  for (const { id } of rows) await writeStateMacs(tx, shipmentState, sql`id = ${id}`);
}

type FaxOnRecord = { status: "Sent" | "Delivered" | "Failed"; deliveredAt: Date | null };

/** The last fax of an order, with its MAC verified. */
export async function lastFax(db: Sql, orderId: number): Promise<FaxOnRecord | undefined> {
  const [last] = await db.query<FaxOnRecord>(sql`
    SELECT status, delivered_at AS "deliveredAt", ${verified(faxState, sql`faxes`)} FROM faxes
    WHERE order_id = ${orderId} ORDER BY id DESC LIMIT 1`);
  return last;
}

/**
 * Records that a fax was sent, if the order has no fax yet or its last one failed. Otherwise that fax is already
 * stored.
 */
export async function sendFax(tx: Tx, orderId: number, faxTo: string, at: Date): Promise<void> {
  const last = await lastFax(tx, orderId);
  if (last && last.status !== "Failed") return;
  const rows = await tx.query<{ id: number }>(sql`
    INSERT INTO faxes (order_id, status, fax_to, sent_at) VALUES (${orderId}, 'Sent', ${faxTo}, ${at}) RETURNING id`);
  for (const { id } of rows) await writeStateMacs(tx, faxState, sql`id = ${id}`);
}

type Ended = { status: "Delivered" | "Failed"; deliveredAt: Date | null };

/** Records the end of the order's latest shipment or fax, unless its end is already stored. */
async function endLast(tx: Tx, state: StateMac, orderId: number, sent: string, { status, deliveredAt }: Ended) {
  const [last] = await tx.query<{ id: number; status: string }>(sql`
    SELECT id, status FROM ${state.table} WHERE order_id = ${orderId} ORDER BY id DESC LIMIT 1`);
  if (last?.status !== sent) return;
  await changeRow(tx, state, last.id, sql`status = ${status}, delivered_at = ${deliveredAt}`);
}

export const endShipment = (tx: Tx, orderId: number, status: Ended["status"], deliveredAt: Date | null) =>
  endLast(tx, shipmentState, orderId, "Shipped", { status, deliveredAt });

export const endFax = (tx: Tx, orderId: number, status: Ended["status"], deliveredAt: Date | null) =>
  endLast(tx, faxState, orderId, "Sent", { status, deliveredAt });

/** The facts from which a path of transitions is planned. */
export type OrderFacts = BoughtServices & {
  id: number;
  orderCode: string;
  environment: Environment;
  partnerId: string;
  status: OrderStatus;
  statusBeforeHold: OrderStatus | null;
};

/** Reads an order's `OrderFacts` without locking the order. */
export async function findFacts(db: Sql, code: string): Promise<OrderFacts | undefined> {
  const [order] = await db.query<OrderFacts>(sql`
    SELECT o.id, o.code AS "orderCode@order", o.environment, o.partner_id AS "partnerId", o.status,
      o.status_before_hold AS "statusBeforeHold", o.sign, o.notarize, o.ship, o.fax, ${verifiedOrder}
    ${fromOrders} WHERE ${hasOrderCode(code)}`);
  return order;
}

export async function milestonesOf(db: Sql, orderId: number): Promise<Set<string>> {
  const passed = await db.query<{ name: string }>(sql`SELECT w.name ${fromMilestones} WHERE w.order_id = ${orderId}`);
  return new Set(passed.map(({ name }) => name));
}

/** SQL condition: true if an order was shipped. */
export const hasShipment = (orderId: number): Statement =>
  sql`EXISTS (SELECT FROM shipments WHERE order_id = ${orderId})`;

export const hasFax = (orderId: number): Statement => sql`EXISTS (SELECT FROM faxes WHERE order_id = ${orderId})`;

type LastShipment = { trackingNumber: string | null; shippedAt: Date; deliveredAt: Date | null };

/** The last shipment of an order. With `trackingNumber`, the last one that has this number. */
export async function lastShipment(
  db: Sql,
  orderId: number,
  trackingNumber?: string,
): Promise<LastShipment | undefined> {
  const [shipment] = await db.query<LastShipment>(sql`
    SELECT tracking_number AS "trackingNumber", shipped_at AS "shippedAt", delivered_at AS "deliveredAt",
      ${verifiedShipmentsOf(sql`${orderId}`)}
    FROM shipments WHERE order_id = ${orderId}
      ${trackingNumber === undefined ? nothing : sql`AND tracking_number = ${trackingNumber}`} ORDER BY id DESC LIMIT 1`);
  return shipment;
}
