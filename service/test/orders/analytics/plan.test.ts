import assert from "node:assert/strict";
import { test } from "node:test";
import { forTests } from "@signsealship/testing/for-tests";
import { sql } from "../../../src/kernel/platform/database/sql.ts";
import { figuresSettings, figuresStatement } from "../../../src/orders/analytics/figures.ts";
import { explain } from "../../explain.ts";
import { newPartnerRow, openData } from "./orders-database.ts";

const data = await forTests(openData());
const { db } = data;
const large = await newPartnerRow(db);
const small = await newPartnerRow(db);
await db.transaction(async (tx) => {
  // Disables triggers, which would take half a minute.
  await tx.script("SET LOCAL session_replication_role = replica");
  // Every thousandth order belongs to the small partner.
  await tx.query(sql`
    INSERT INTO orders (code, code_start, partner_id, environment, status, sign, notarize, ship, fax, customer_email, lines,
      subtotal_cents, discount_cents, total_cents, price_book_version, created_at, updated_at)
    SELECT 'c1.' || encode(sha256(n::text::bytea), 'hex')::char(40), 'c1.',
      CASE n % 1000 WHEN 0 THEN ${small} ELSE ${large} END::uuid, 'live',
      CASE WHEN n % 4 = 0 THEN 'QuoteReady' ELSE 'Completed' END, true, false, true, false, 'a@example.com', '[]',
      0, 0, 0, 1, t, t
    FROM (SELECT n, now() - n * interval '5 minutes' AS t FROM generate_series(1, 60000) n) s`);
  await tx.query(sql`
    INSERT INTO documents (order_id, kind, sha256, bytes, blob_key, created_at)
    SELECT id, 'sealed', repeat('0', 64), 1, 'k', created_at FROM orders`);
  await tx.query(sql`
    INSERT INTO shipments (order_id, status, carrier, tracking_number, shipped_at)
    SELECT id, 'Delivered', 'USPS', '1', created_at FROM orders`);
  await tx.query(sql`
    INSERT INTO workflow_events (order_id, name, occurred_at) SELECT id, 'payment.cleared', created_at FROM orders`);
});
await db.query(sql`VACUUM ANALYZE`);

async function explainFigures(partnerId: string) {
  const to = new Date();
  const from = new Date(to.getTime() - 366 * 86_400_000);
  const statement = figuresStatement({ partnerId, environment: "live", from, to });
  const nodes = await explain(data.db, statement, { settings: figuresSettings, analyze: true });
  return { nodes, blocks: (nodes[0]?.["Shared Hit Blocks"] ?? 0) + (nodes[0]?.["Shared Read Blocks"] ?? 0) };
}

test("the figures of a small partner cost only its own orders, however large the other partners are", async () => {
  const { nodes: all, blocks } = await explainFigures(small);
  assert.deepEqual(
    all.filter((node) => node["Node Type"] === "Seq Scan"),
    [],
  );
  assert.ok(blocks < 1500, `${blocks} pages for 60 orders`);
});

test("the figures of a large partner are read through indexes, documents and events only through them", async () => {
  const { nodes: all } = await explainFigures(large);
  const tables = all.filter((node) => node["Relation Name"] !== undefined);
  assert.ok(tables.length > 0);
  for (const node of tables)
    assert.ok(
      node["Node Type"] === "Index Only Scan" ||
        (node["Relation Name"] === "orders" && node["Node Type"] === "Index Scan"),
      JSON.stringify(node),
    );
});
