import type { Environment } from "../../kernel/identity/identity.ts";
import type { Sql, Tx } from "../../kernel/platform/database/database.ts";
import { isSealed, sql } from "../../kernel/platform/database/sql.ts";
import { type NewDocument, verifiedOrders } from "../order/order.ts";
import type { BoughtServices } from "../pricing/pricing.ts";

type DocumentKind =
  | "sealed"
  | "notarized"
  | "custody_certificate"
  | "delivery_receipt"
  | "mail_receipt"
  | "fax_certificate";

export type SealedDocument = NewDocument & { kind: DocumentKind };

/** The furthest document of the order: notarized, else sealed, else original; the latest of its kind. */
export async function furthestDocument(db: Sql, orderId: number) {
  const [document] = await db.query<{ kind: string; sha256: string; blobKey: string; mac: Buffer | null }>(sql`
    SELECT kind, sha256, blob_key AS "blobKey", row_mac AS mac FROM documents
    WHERE order_id = ${orderId} AND kind IN ('original', 'sealed', 'notarized')
    ORDER BY array_position(ARRAY['notarized', 'sealed', 'original'], kind), id DESC LIMIT 1`);
  return document;
}

export const insertShipment = (tx: Tx, orderId: number, carrier: string, trackingNumber: string, at: Date) =>
  tx.query(sql`
    INSERT INTO shipments (order_id, status, carrier, tracking_number, shipped_at)
    VALUES (${orderId}, 'Shipped', ${carrier}, ${trackingNumber}, ${at})`);

export const endShipment = (tx: Tx, orderId: number, status: "Delivered" | "Failed", deliveredAt: Date | null) =>
  tx.query(sql`
    UPDATE shipments SET status = ${status}, delivered_at = ${deliveredAt}
    WHERE id = (SELECT max(id) FROM shipments WHERE order_id = ${orderId}) AND status = 'Shipped'`);

export const insertFax = (tx: Tx, orderId: number, faxTo: string, at: Date) =>
  tx.query(sql`
    INSERT INTO faxes (order_id, status, fax_to, sent_at) VALUES (${orderId}, 'Sent', ${faxTo}, ${at})`);

export const endFax = (tx: Tx, orderId: number, status: "Delivered" | "Failed", deliveredAt: Date | null) =>
  tx.query(sql`
    UPDATE faxes SET status = ${status}, delivered_at = ${deliveredAt}
    WHERE id = (SELECT max(id) FROM faxes WHERE order_id = ${orderId}) AND status = 'Sent'`);

/** The facts from which a path of transitions is planned. */
export type OrderFacts = BoughtServices & {
  id: number;
  orderCode: string;
  environment: Environment;
  partnerId: string;
  status: string;
  statusBeforeHold: string | null;
};

/** Without a lock. */
export async function findFacts(db: Sql, code: string): Promise<OrderFacts | undefined> {
  const [order] = await db.query<OrderFacts>(sql`
    SELECT id, code AS "orderCode@order", environment, partner_id AS "partnerId", status,
      status_before_hold AS "statusBeforeHold", sign, notarize, ship, fax, ${verifiedOrders}
    FROM orders WHERE ${isSealed(sql`code`, "order", code)}`);
  return order;
}

export async function milestonesOf(db: Sql, orderId: number): Promise<Set<string>> {
  const passed = await db.query<{ name: string }>(sql`SELECT name FROM workflow_events WHERE order_id = ${orderId}`);
  return new Set(passed.map(({ name }) => name));
}
