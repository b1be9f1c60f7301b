import assert from "node:assert/strict";
import { test } from "node:test";
import { newDatabase } from "@signsealship/testing/database";
import { explain } from "@signsealship/testing/explain";
import { forTests } from "@signsealship/testing/for-tests";
import { isSealed, type Statement, sql } from "../../../src/kernel/platform/database/sql.ts";
import { type TaskKind, taskKinds } from "../../../src/kernel/tasks/kinds.ts";
import { listStatement } from "../../../src/orders/order/store.ts";
import { codeStartStatement } from "../../../src/orders/search/find-orders.ts";
import { firmOrdersStatement } from "../../../src/orders/search/firm-orders.ts";
import { ordersStatement } from "../../../src/upkeep/console/orders-list.ts";
import { searchStatement } from "../../../src/upkeep/console/search-records.ts";
import {
  claimedStatement,
  countsStatement,
  dueStatement,
  queueStatement,
} from "../../../src/upkeep/console/task-lists.ts";

const partnerId = "00000000-0000-4000-8000-000000000001";
const otherId = "00000000-0000-4000-8000-000000000002";

const db = await forTests(newDatabase());
await db.query(sql`
  INSERT INTO partners (id, name, tier) VALUES (${partnerId}, 'Large', 'ClosingDesk'), (${otherId}, 'Other', 'ClosingDesk')`);
await db.query(sql`INSERT INTO price_books (sha256, content) VALUES ('x', '{}')`);
await db.transaction(async (tx) => {
  // Disables triggers, which would take most of the time.
  await tx.script("SET LOCAL session_replication_role = replica");
  await tx.query(sql`
    INSERT INTO orders (code, code_start, partner_id, environment, status, sign, notarize, ship, fax, external_reference,
      customer_email, lines, subtotal_cents, discount_cents, total_cents, price_book_version, created_at, updated_at)
    SELECT 'c1.' || encode(sha256(n::text::bytea), 'hex')::char(40), 'c1.' || encode(sha256(n::text::bytea), 'hex')::char(6),
      CASE WHEN n % 20 = 0 THEN ${partnerId}::uuid ELSE ${otherId}::uuid END, 'live',
      CASE WHEN n % 10 = 0 THEN 'Completed' ELSE 'QuoteReady' END, true, false, false, false, 'ref-' || n / 4, 'a@example.com', '[]', 0, 0, 0, 1, t, t
    FROM (SELECT n, timestamptz '2026-01-01' + n * interval '10 seconds' AS t FROM generate_series(1, 50000) n) s`);
});
await db.query(sql`
  INSERT INTO tasks (kind, environment, order_id, due_at, created_at)
  SELECT (ARRAY['quote', 'notarize', 'fax_send'])[1 + id % 3], 'live', id, created_at, created_at FROM orders WHERE id % 20 = 0`);
await db.query(sql`
  INSERT INTO tasks (kind, environment, order_id, state, due_at, created_at, ended_at, ended_by)
  SELECT 'quote', 'live', id, 'done', created_at, created_at, created_at, 'system' FROM orders`);
await db.query(sql`ANALYZE orders, tasks`);

const of = { partnerId, environment: "live" } as const;
const noFilter = { status: null, externalReference: null, after: null, limit: 21 };

test("with many orders every list uses its index and reads few pages", async () => {
  const [middle] = await db.query<{ code: string }>(sql`SELECT substr(code, 4) AS code FROM orders WHERE id = 25000`);
  const lists = {
    newest: [noFilter, "orders_newest"],
    "a later page": [{ ...noFilter, after: middle?.code ?? "" }, "orders_newest"],
    "by status": [{ ...noFilter, status: "Completed" }, "orders_by_status"],
    "by an unknown status": [{ ...noFilter, status: "Nonsense" }, "orders_by_status"],
    "by reference": [{ ...noFilter, externalReference: "ref-7000" }, "orders_by_reference"],
  } as const;
  for (const [name, [filter, index]] of Object.entries(lists)) {
    const plan = await explain(db, listStatement(of, filter));
    // If no order has the status, PostgreSQL may also use the index over all firms, which finds just as few rows.
    const same = plan.indexes.some(
      (each) => each === index || (each === "orders_of_all_by_status" && index === "orders_by_status"),
    );
    assert.ok(same, `${name}: ${plan.indexes}`);
    assert.equal(plan.types.includes("Seq Scan") || plan.types.includes("Sort"), false, `${name}: ${plan.types}`);
    assert.ok(plan.blocks < 60, `${name}: ${plan.blocks} pages`);
  }
});

test("with many orders a firm's list uses its indexes, with any filters", async () => {
  const whole = {
    text: null,
    statuses: null,
    from: null,
    until: null,
    sort: "newest",
    place: null,
    side: "after",
  } as const;
  const [middle] = await db.query<{ code: string; at: Date }>(
    sql`SELECT substr(code, 4) AS code, created_at AS at FROM orders WHERE id = 25000`,
  );
  const place = `${middle?.at.getTime()}-${middle?.code}`;
  const lists = {
    newest: [whole, "orders_newest"],
    oldest: [{ ...whole, sort: "oldest" }, "orders_newest"],
    "last changed": [{ ...whole, sort: "changed" }, "orders_by_change"],
    "a later page": [{ ...whole, place }, "orders_newest"],
    "a page before": [{ ...whole, place, side: "before" }, "orders_newest"],
    "a group": [{ ...whole, statuses: ["Completed", "Refunded"] }, "orders_by_status"],
    "a day": [{ ...whole, from: new Date("2026-01-03"), until: new Date("2026-01-04") }, "orders_newest"],
    "found by a word": [{ ...whole, text: "ref-12345" }, "orders_by_words"],
    "found by the code": [{ ...whole, text: middle?.code ?? "" }, "orders_code_key"],
  } as const;
  for (const [name, [query, index]] of Object.entries(lists)) {
    const plan = await explain(db, firmOrdersStatement(of, query, 26));
    assert.ok(plan.indexes.includes(index), `${name}: ${plan.indexes}`);
    assert.equal(plan.types.includes("Seq Scan"), false, `${name}: ${plan.types}`);
    assert.ok(plan.blocks < 200, `${name}: ${plan.blocks} pages`);
  }
});

test("with many orders those found by their documents' names are looked up by index, a few as well as a thousand", async () => {
  const asked = { text: "affidavit", statuses: null, from: null, until: null, sort: "newest", place: null } as const;
  for (const count of [0, 3, 1000]) {
    const found = Array.from({ length: count }, (_, n) => 50_000 - 20 * n);
    for (const statuses of [null, ["Completed", "Refunded"] as const]) {
      const query = { ...asked, statuses, found, side: "after" } as const;
      const plan = await explain(db, firmOrdersStatement(of, query, 26));
      assert.equal(plan.types.includes("Seq Scan"), false, `${count}: ${plan.types}`);
      assert.ok(plan.blocks < 300 + 4 * count, `${count}: ${plan.blocks} pages`);
    }
  }
});

test("with many orders one is found by its code in one index look-up", async () => {
  const [order] = await db.query<{ code: string }>(sql`SELECT substr(code, 4) AS code FROM orders WHERE id = 37777`);
  const plan = await explain(
    db,
    sql`
    SELECT * FROM orders WHERE ${isSealed(sql`code`, "order", order?.code ?? "")} AND partner_id = ${partnerId} AND environment = 'live'`,
  );
  assert.deepEqual(plan.indexes, ["orders_code_key"]);
  assert.ok(plan.blocks < 10);
});

test("with many orders and tasks the console's lists and searches use their indexes", async () => {
  const kinds = Object.keys(taskKinds) as TaskKind[];
  const [order] = await db.query<{ code: string }>(sql`SELECT substr(code, 4) AS code FROM orders WHERE id = 37777`);
  const all = { environment: "live", status: null, partnerId: null, service: null, after: null } as const;
  const now = new Date("2026-01-02T00:00:00Z");
  const statements: Record<string, readonly [Statement, string]> = {
    "all orders": [ordersStatement(all, 51), "orders_of_all"],
    "all orders, a later page": [ordersStatement({ ...all, after: order?.code ?? "" }, 51), "orders_of_all"],
    "those of a group": [ordersStatement({ ...all, status: "complete" }, 51), "orders_of_all_by_status"],
    "those of a firm": [ordersStatement({ ...all, partnerId }, 51), "orders_newest"],
    "found by the first digits of the code": [
      codeStartStatement({ environment: "live", partnerId: null }, (order?.code ?? "").slice(0, 8)),
      "orders_by_code_start",
    ],
    "found by a word of the reference": [searchStatement("live", "ref-12345", []), "orders_by_words"],
    "found by a label’s tracking number": [searchStatement("live", "9400100000000000000000", []), "labels_by_tracking"],
    "found by a letter’s tracking number": [
      searchStatement("live", "9407100000000000000000", []),
      "letters_by_tracking",
    ],
    "found by a hash": [searchStatement("live", "0".repeat(64), []), "documents_by_sha256"],
    "counts of the queues": [countsStatement("live", kinds, now), "tasks_"],
    "a later page of a queue": [queueStatement("live", "quote", 5, 51), "tasks_due"],
    "what is due first": [dueStatement("live", kinds, 20), "tasks_due"],
    "one's own": [claimedStatement("live", "operator:x", 50), "tasks_claimed"],
  };
  for (const [name, [statement, index]] of Object.entries(statements)) {
    const plan = await explain(db, statement);
    assert.ok(
      plan.indexes.some((each) => each.startsWith(index)),
      `${name}: ${plan.indexes}`,
    );
    assert.ok(plan.blocks < 700, `${name}: ${plan.blocks} pages`);
  }
});
