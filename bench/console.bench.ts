import { connectionTo } from "@signsealship/testing/database";
import { openHarness } from "@signsealship/testing/harness";
import { authenticateOrders } from "@signsealship/testing/row-mac";
import { sealMadeCodes } from "@signsealship/testing/sealed-orders";
import { newPartner } from "@signsealship/testing/service";
import pg from "pg";
import { sql } from "../service/src/kernel/platform/database/sql.ts";
import { newOperator } from "../service/test/firms/operators/console-people.ts";
import { atMost, type Result } from "./result.ts";
import { p95 } from "./support/times.ts";

const [orders, tasks, rounds] = [1_000_000, 50_000, 60];

/**
 * SQL that inserts orders with different names, references and email addresses, and open tasks for the newest of them.
 */
const fill = (partnerId: string) => `
SET session_replication_role = replica;
INSERT INTO price_books (sha256, content) VALUES ('bench', '{}') ON CONFLICT DO NOTHING;
INSERT INTO orders (code, code_start, partner_id, environment, status, sign, notarize, ship, fax, external_reference, customer_email,
  customer_name, lines, subtotal_cents, discount_cents, total_cents, price_book_version, created_at, updated_at)
SELECT 'c1.' || encode(sha256(n::text::bytea), 'hex')::char(40), 'c1.', '${partnerId}', 'live',
  (ARRAY['Completed', 'QuoteReady', 'EsignPending', 'NotarizationPending', 'OnHold'])[1 + (n % 97) % 5],
  true, true, false, false, 'FILE-' || n, 'client' || n || '@example.com',
  substr(md5(n::text), 1, 7) || ' ' || substr(md5((n * 7)::text), 1, 9), '[]', 0, 0, 0, 1, t, t
FROM (SELECT n, timestamptz '2026-01-01' + n * interval '10 seconds' AS t FROM generate_series(1, ${orders}) n) s;
INSERT INTO tasks (kind, environment, order_id, due_at, created_at)
SELECT (ARRAY['quote', 'notarize', 'label_print', 'fax_send', 'order_on_hold'])[1 + id % 5], 'live', id,
  now() + (id % 1000 - 500) * interval '1 minute', now()
FROM orders WHERE id > (SELECT max(id) - ${tasks} FROM orders);
RESET session_replication_role;`;

/** The console with a million orders and fifty thousand open tasks: the time of each page, one request at a time. */
export async function run(): Promise<Result[]> {
  const running = await openHarness();
  const { partnerId } = await newPartner(running.service);
  const session = new pg.Client(connectionTo(running.service.dataDir, "owner"));
  await session.connect();
  try {
    await session.query(fill(partnerId));
    await session.query("VACUUM ANALYZE");
    const some = sql`id IN (SELECT id FROM orders ORDER BY id OFFSET 500000 LIMIT 60)`;
    await sealMadeCodes(running.db, some);
    // The page of an order needs its MAC, so the orders whose pages are timed get MACs. A list needs none.
    await authenticateOrders(running.db, some);
    const rows = await running.db.query<{ code: string; name: string }>(sql`
      SELECT code AS "code@order", customer_name AS name FROM orders WHERE ${some} ORDER BY id`);
    const { cookie } = await newOperator(running, { roles: ["agent", "notary", "shipper"] });
    const timed = async (path: string): Promise<number> => {
      const start = performance.now();
      const answer = await fetch(running.service.baseUrl + path, { headers: { cookie }, redirect: "manual" });
      await answer.arrayBuffer();
      if (answer.status >= 400) throw new Error(`${path}: ${answer.status}`);
      return performance.now() - start;
    };
    const pages: [string, number, (round: number) => string][] = [
      ["Today", 60, () => "/operator"],
      ["search by name", 80, (n) => `/operator/orders/search?q=${encodeURIComponent(rows[n]?.name ?? "")}`],
      ["search by reference", 80, (n) => `/operator/orders/search?q=FILE-${1000 + n * 1013}`],
      ["search by email", 80, (n) => `/operator/orders/search?q=client${n * 999 + 1}@example.com`],
      ["orders that need attention", 60, () => "/operator/orders?status=attention"],
      ["an order's page", 40, (n) => `/operator/orders/${rows[n]?.code}`],
    ];
    const results: Result[] = [];
    for (const [name, budget, path] of pages) {
      for (let round = 0; round < 10; round++) await timed(path(round));
      const times: number[] = [];
      for (let round = 0; round < rounds; round++) times.push(await timed(path(round)));
      results.push(atMost(`console: ${name}, 95th percentile of ${rounds}`, [p95(times)], [budget], "ms", 1));
    }
    return results;
  } finally {
    await session.end();
    await running.close();
  }
}
