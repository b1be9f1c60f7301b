import { newDatabase } from "@signsealship/testing/database";
import { authenticate, authenticateFirms, authenticateOrders, testRowMac } from "@signsealship/testing/row-mac";
import { pino } from "pino";
import type { Database } from "../../../src/kernel/platform/database/database.ts";
import { isSealed, sealed, sql } from "../../../src/kernel/platform/database/sql.ts";
import { newCode, newUuid } from "../../../src/kernel/platform/ids.ts";
import { codeStart } from "../../../src/kernel/platform/text.ts";
import { type DocumentOwner, documentOwnerColumns } from "../../../src/orders/order/order.ts";

export const silent = pino({ level: "silent" });

/** A separate migrated database, with orders that a test inserts. */
export type OrdersDatabase = {
  db: Database;
  /** Inserts an order in this status, with the documents that the status requires. @returns its code */
  insert: (status: string, more?: Partial<OrderFacts>) => Promise<string>;
  /** The fields of the order that its documents' MACs cover. */
  ownerOf: (code: string) => Promise<DocumentOwner>;
  /** The order's status, its envelope, and the rows that were written with them. */
  look: (code: string) => Promise<Look>;
  close: () => Promise<void>;
};

export type OrderFacts = {
  environment: "live" | "test";
  sign: boolean;
  notarize: boolean;
  ship: boolean;
  fax: boolean;
  statusBeforeHold: string | null;
  totalCents: number;
  /** The id of the firm that places the order; by default the firm that was created with the database. */
  partnerId: string;
  payBy: "client" | "firm";
};

type Look = {
  status: string;
  statusBeforeHold: string | null;
  envelopeStatus: string | null;
  updatedAt: Date;
  moves: string[];
  milestones: string[];
  events: string[];
  jobs: string[];
};

export async function openOrdersDatabase(): Promise<OrdersDatabase> {
  const db = await newDatabase();
  const partnerId = newUuid();
  await db.query(sql`INSERT INTO partners (id, name, tier) VALUES (${partnerId}, 'Acme Title', 'trial')`);
  await authenticateFirms(db);
  await db.query(sql`INSERT INTO price_books (sha256, content) VALUES ('x', '{}')`);
  return {
    db,
    async insert(status, more = {}) {
      const order = { environment: "live", sign: true, notarize: true, ship: true, fax: true, ...more };
      const { totalCents = 9_900, statusBeforeHold = null, partnerId: firm = partnerId, payBy = "client" } = more;
      const code = newCode();
      const [row] = await db.query<{ id: number }>(sql`
        INSERT INTO orders (code, code_start, partner_id, environment, status, status_before_hold, sign, notarize, ship, fax,
          envelope_status, customer_email, fax_to, lines, subtotal_cents, discount_cents, total_cents,
          price_book_version, pay_by, created_at, updated_at)
        VALUES (${sealed("order", code)}, ${sealed("orderStart", codeStart(code))}, ${firm}, ${order.environment}, ${status}, ${statusBeforeHold}, ${order.sign},
          ${order.notarize}, ${order.ship}, ${order.fax}, ${order.sign ? "Created" : null}, 'signer@example.com',
          ${order.fax ? "+12125550123" : null}, '[]', ${totalCents}, 0, ${totalCents}, 1, ${payBy}, '2026-01-01', '2026-01-01')
        RETURNING id`);
      await authenticateOrders(db, isSealed(sql`code`, "order", code));
      for (const kind of ["original", "sealed", "notarized"])
        await db.query(sql`
          INSERT INTO documents (order_id, kind, sha256, bytes, blob_key, created_at)
          VALUES (${row?.id}, ${kind}, ${"0".repeat(64)}, 1, ${`2026-01-01/${newCode()}`}, now())`);
      await authenticate({ db, rowMac: testRowMac }, "documents");
      return code;
    },
    async ownerOf(code) {
      const [owner] = await db.query<DocumentOwner>(
        sql`SELECT ${documentOwnerColumns} FROM orders o WHERE ${isSealed(sql`o.code`, "order", code)}`,
      );
      if (!owner) throw new Error("no such order");
      return owner;
    },
    async look(code) {
      const [look] = await db.query<Look>(sql`
        SELECT status, status_before_hold AS "statusBeforeHold", envelope_status AS "envelopeStatus",
          updated_at AS "updatedAt",
          ARRAY(SELECT from_status || ' -> ' || to_status FROM audit_log a
            WHERE a.order_id = o.id AND action = 'order.transition' ORDER BY id) AS moves,
          ARRAY(SELECT name FROM workflow_events w WHERE w.order_id = o.id ORDER BY id) AS milestones,
          ARRAY(SELECT queue FROM jobs WHERE payload ->> 'orderId' = o.id::text ORDER BY id) AS jobs
        FROM orders o WHERE ${isSealed(sql`code`, "order", code)}`);
      if (!look) throw new Error("no such order");
      const events = await db.query<{ eventId: string }>(sql`
        SELECT event_id AS "eventId@event" FROM events WHERE ${isSealed(sql`subject`, "event", code)} ORDER BY id`);
      return { ...look, events: events.map(({ eventId }) => eventId) };
    },
    close: db.close,
  };
}
