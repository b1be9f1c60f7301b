import assert from "node:assert/strict";
import { test } from "node:test";
import { forTests } from "@signsealship/testing/for-tests";
import { authenticate, authenticatePayments, testRowMac } from "@signsealship/testing/row-mac";
import type { Tx } from "../../../src/kernel/platform/database/database.ts";
import { isSealed, sql } from "../../../src/kernel/platform/database/sql.ts";
import { writeStateMacs } from "../../../src/kernel/platform/database/state-mac.ts";
import type { Log } from "../../../src/kernel/platform/logs.ts";
import {
  checkMonths,
  closeMonths,
  readIssuer,
  registerIssuer,
  statementOf,
  statementsOf,
} from "../../../src/orders/billing/billing.ts";
import { billingDocumentState } from "../../../src/orders/payments/payments.ts";
import { openOrdersDatabase, silent } from "../order/orders-database.ts";

// Five years with 200 payments in each month. The open month then has 100.
const [months, orders] = [60, 200];
const now = new Date("2026-01-15T12:00:00Z");
const clock = () => now;
const stopping = new AbortController().signal;

const database = await forTests(openOrdersDatabase());
const { db } = database;
const issuer = new URL("../../../data/billing.yaml", import.meta.url).pathname;
await registerIssuer(db, readIssuer(issuer), new Date("2021-01-01T00:00:00Z"));
// PostgreSQL finds payments by their order. If all payments were for one order, each line of a statement would read all
// of them.
const orderIds: number[] = [];
let partnerId = "";
for (let n = 0; n < orders; n++) {
  const code = await database.insert("Completed");
  const [row] = await db.query<{ id: number; partnerId: string }>(sql`
    SELECT id, partner_id AS "partnerId" FROM orders WHERE ${isSealed(sql`code`, "order", code)}`);
  assert.ok(row);
  orderIds.push(row.id);
  partnerId = row.partnerId;
}
const owner = { partnerId, environment: "live", firmName: "Acme Title" } as const;
const count = months * orders + orders / 2;
// The time of the n-th payment. A month's payments begin on its second day, one hour apart, so none is near the start
// or end of the month.
const at = sql`'2021-01-02T00:00:00Z'::timestamptz + ((n - 1) / ${orders}::int) * interval '1 month'
  + ((n - 1) % ${orders}::int) * interval '1 hour'`;
await db.query(sql`
  INSERT INTO payments (order_id, payment_intent, session_id, amount_cents, currency, simulated, received_at)
  SELECT (${orderIds}::bigint[])[1 + n % ${orders}::int], 'pi_' || n, 'cs_' || n, 9900, 'usd', false, ${at} FROM generate_series(1, ${count}::int) n`);
await db.query(sql`
  INSERT INTO billing_documents (partner_id, environment, kind, year, number, payment_id, booked_at, buyer_name)
  SELECT ${partnerId}::uuid, 'live', 'receipt', 2021, row_number() OVER (ORDER BY id), id, received_at, 'Acme Title' FROM payments`);
await authenticatePayments(db, sql`true`);
await writeStateMacs(db, billingDocumentState, sql`true`);
await db.query(sql`ANALYZE`);
await closeMonths({ db, clock, log: silent }, stopping);

/** The number of rows of receipts and credit notes that the work read. */
async function rowsRead(work: (tx: Tx) => Promise<unknown>) {
  return db.transaction(async (tx) => {
    const rows = async () => {
      const [read] = await tx.query<{ rows: number }>(sql`
        SELECT (coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0))::int AS rows FROM pg_stat_xact_user_tables
        WHERE relname = 'billing_documents'`);
      return read?.rows ?? 0;
    };
    // The counters may still include reads of earlier transactions, which PostgreSQL adds to its totals later.
    const before = await rows();
    await work(tx);
    return (await rows()) - before;
  });
}

test("a look at the statements of five years reads the documents of the open month alone, and a look at a month its own", async () => {
  // Each document is read three times: for its line, its amount and its MAC. One more read is allowed.
  const max = 4;
  let all: Awaited<ReturnType<typeof statementsOf>> = [];
  const read = await rowsRead(async (tx) => {
    all = await statementsOf({ db: tx, clock }, owner);
  });
  assert.equal(all.length, months + 1);
  assert.ok(read <= (max * orders) / 2, `${read} rows`);
  assert.equal(all.at(-2)?.sums.payments, orders * 9_900);
  assert.equal(
    all.reduce((sum, { sums }) => sum + sums.payments, 0),
    count * 9_900,
  );
  const ofMonth = await rowsRead((tx) => statementOf({ db: tx, clock }, owner, "2023-05"));
  assert.ok(ofMonth <= max * 1.5 * orders, `${ofMonth} rows`);
});

test("stored sums that are not those of the documents are found by the daily look", async () => {
  const logged: { month?: string }[] = [];
  const log = { error: (line: { month?: string }) => logged.push(line) } as unknown as Log;
  const check = () => checkMonths({ db, clock, log }, stopping);
  const open = () =>
    db.query<{ reason: string }>(sql`SELECT reason FROM tasks WHERE kind = 'statement_difference' AND state = 'open'`);
  const set = (sums: object) =>
    db.transaction(async (tx) => {
      await tx.script("ALTER TABLE billing_balances DISABLE TRIGGER billing_balances_append_only");
      await tx.query(sql`
      UPDATE billing_balances SET sums = sums || ${JSON.stringify(sums)}::jsonb WHERE statement_id =
        (SELECT id FROM billing_statements WHERE month = '2024-02')`);
      await tx.script("ALTER TABLE billing_balances ENABLE TRIGGER billing_balances_append_only");
    });
  const [stored] = await db.query<{ payments: number }>(sql`
    SELECT (sums->>'payments')::int AS payments FROM billing_balances
    WHERE statement_id = (SELECT id FROM billing_statements WHERE month = '2024-02')`);
  const payments = stored?.payments ?? 0;
  await check();
  assert.deepEqual(logged, []);
  assert.deepEqual(await open(), []);
  await set({ payments: 1 });
  await check();
  assert.deepEqual(
    logged.map(({ month }) => month),
    [undefined],
    "without the key it is an altered row",
  );
  assert.match((await open())[0]?.reason ?? "", /A row of a closed live month of .+ was altered outside the service/);
  await authenticate({ db, rowMac: testRowMac }, "billing_balances");
  await check();
  assert.deepEqual(
    logged.map(({ month }) => month),
    [undefined, "2024-02"],
  );
  const [task, ...others] = await open();
  assert.deepEqual(others, []);
  assert.match(
    task?.reason ?? "",
    new RegExp(
      `for 2024-02 differs: payments: \\$0\\.01 stored, \\$${(payments / 100).toFixed(2)} by the documents\\.$`,
    ),
  );

  await set({ payments });
  await authenticate({ db, rowMac: testRowMac }, "billing_balances");
  await check();
  assert.deepEqual(await open(), [], "the task ends with the difference");
});
