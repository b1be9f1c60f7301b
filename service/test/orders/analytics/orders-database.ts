import { newDatabase } from "@signsealship/testing/database";
import { authenticateFirms } from "@signsealship/testing/row-mac";
import type { Database } from "../../../src/kernel/platform/database/database.ts";
import { sealed, sql } from "../../../src/kernel/platform/database/sql.ts";
import { newCode, newUuid } from "../../../src/kernel/platform/ids.ts";

/** A database with a price book. */
export async function openData() {
  const db = await newDatabase();
  await db.query(sql`INSERT INTO price_books (sha256, content) VALUES ('x', '{}')`);
  return { db, close: db.close };
}

export async function newPartnerRow(db: Database): Promise<string> {
  const id = newUuid();
  await db.query(sql`INSERT INTO partners (id, name, tier) VALUES (${id}, 'Acme Title', 'ClosingDesk')`);
  await authenticateFirms(db);
  return id;
}

export type OrderFacts = {
  status: string;
  createdAt: Date;
  updatedAt?: Date;
  environment?: "live" | "test";
  sign?: boolean;
  notarize?: boolean;
  ship?: boolean;
  fax?: boolean;
  totalCents?: number;
  documents?: ("original" | "sealed" | "notarized" | "custody_certificate")[];
  shipments?: ("Shipped" | "Delivered" | "Failed")[];
  /** The instants of the events `payment.cleared`. */
  paidAt?: Date[];
};

/** Writes an order with its records directly, in any state. */
export async function addOrder(db: Database, partnerId: string, order: OrderFacts): Promise<void> {
  const { createdAt, status, environment = "live", totalCents = 1200 } = order;
  const { sign = false, notarize = false, ship = false, fax = false } = order;
  const [row] = await db.query<{ id: number }>(sql`
    INSERT INTO orders (code, code_start, partner_id, environment, status, sign, notarize, ship, fax, customer_email, lines,
      subtotal_cents, discount_cents, total_cents, price_book_version, created_at, updated_at)
    VALUES (${sealed("order", newCode())}, ${sealed("orderStart", newCode())}, ${partnerId}, ${environment}, ${status}, ${sign}, ${notarize}, ${ship}, ${fax},
      'a@example.com', '[]', ${totalCents}, 0, ${totalCents}, 1, ${createdAt}, ${order.updatedAt ?? createdAt})
      RETURNING id`);
  for (const kind of order.documents ?? [])
    await db.query(sql`
      INSERT INTO documents (order_id, kind, sha256, bytes, blob_key, created_at)
      VALUES (${row?.id}, ${kind}, ${"0".repeat(64)}, 1, 'k', ${createdAt})`);
  for (const shipment of order.shipments ?? [])
    await db.query(sql`
      INSERT INTO shipments (order_id, status, carrier, tracking_number, shipped_at)
      VALUES (${row?.id}, ${shipment}, 'USPS', '1', ${createdAt})`);
  for (const at of order.paidAt ?? [])
    await db.query(sql`
      INSERT INTO workflow_events (order_id, name, occurred_at) VALUES (${row?.id}, 'payment.cleared', ${at})`);
}
