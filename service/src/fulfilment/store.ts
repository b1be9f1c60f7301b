import type { Sql, Tx } from "../platform/database.ts";

export type StoredDocument = { sha256: string; bytes: number; blobKey: string };

export const insertDocument = (
  tx: Tx,
  orderId: number,
  kind: "sealed" | "notarized",
  document: StoredDocument,
  at: Date,
) =>
  tx.rows(
    "INSERT INTO documents (order_id, kind, sha256, bytes, blob_key, created_at) VALUES ($1, $2, $3, $4, $5, $6)",
    [orderId, kind, document.sha256, document.bytes, document.blobKey, at],
  );

/** The furthest document of the order: notarized, sealed or original; the latest of its kind. */
export async function furthestDocument(sql: Sql, orderId: number) {
  const [document] = await sql.rows<{ kind: string; sha256: string; blobKey: string }>(
    `SELECT kind, sha256, blob_key AS "blobKey" FROM documents
     WHERE order_id = $1 AND kind IN ('original', 'sealed', 'notarized')
     ORDER BY array_position(ARRAY['notarized', 'sealed', 'original'], kind), id DESC LIMIT 1`,
    [orderId],
  );
  return document;
}

export const insertShipment = (tx: Tx, orderId: number, carrier: string, trackingNumber: string, at: Date) =>
  tx.rows(
    `INSERT INTO shipments (order_id, status, carrier, tracking_number, shipped_at) VALUES ($1, 'Shipped', $2, $3, $4)`,
    [orderId, carrier, trackingNumber, at],
  );

const latest = (table: "shipments" | "faxes") => `id = (SELECT max(id) FROM ${table} WHERE order_id = $1)`;

export const endShipment = (tx: Tx, orderId: number, status: "Delivered" | "Failed", deliveredAt: Date | null) =>
  tx.rows(`UPDATE shipments SET status = $2, delivered_at = $3 WHERE ${latest("shipments")} AND status = 'Shipped'`, [
    orderId,
    status,
    deliveredAt,
  ]);

export const insertFax = (tx: Tx, orderId: number, faxTo: string, at: Date) =>
  tx.rows("INSERT INTO faxes (order_id, status, fax_to, sent_at) VALUES ($1, 'Sent', $2, $3)", [orderId, faxTo, at]);

export const endFax = (tx: Tx, orderId: number, status: "Delivered" | "Failed", deliveredAt: Date | null) =>
  tx.rows(`UPDATE faxes SET status = $2, delivered_at = $3 WHERE ${latest("faxes")} AND status = 'Sent'`, [
    orderId,
    status,
    deliveredAt,
  ]);

export type OrderFacts = {
  id: number;
  orderCode: string;
  environment: "live" | "test";
  partnerId: string;
  status: string;
  statusBeforeHold: string | null;
  sign: boolean;
  notarize: boolean;
  ship: boolean;
  fax: boolean;
};

/** What a plan of moves starts from; not locked. */
export async function findFacts(sql: Sql, code: string): Promise<OrderFacts | undefined> {
  const [order] = await sql.rows<OrderFacts>(
    `SELECT id, code AS "orderCode", environment, partner_id AS "partnerId", status,
       status_before_hold AS "statusBeforeHold", sign, notarize, ship, fax FROM orders WHERE code = $1`,
    [code],
  );
  return order;
}

/** The milestones that the order has passed. */
export const milestonesOf = async (sql: Sql, orderId: number): Promise<Set<string>> =>
  new Set(
    (await sql.rows<{ name: string }>("SELECT name FROM workflow_events WHERE order_id = $1", [orderId])).map(
      ({ name }) => name,
    ),
  );
