import assert from "node:assert/strict";
import { test } from "node:test";
import { databaseOfRunning } from "@signsealship/testing/database";
import { forTests } from "@signsealship/testing/for-tests";
import { until } from "@signsealship/testing/until";
import { isSealed, type Statement, sealed, sql } from "../../../src/kernel/platform/database/sql.ts";
import { textOf } from "../../../src/kernel/platform/database/state-mac.ts";
import { lockOrder, lockOrders, lockUnalteredOrders } from "../../../src/orders/order/order.ts";
import { type Client, openRoomsService } from "../../closing/rooms/rooms-service.ts";

// The attacker in these tests has the service's own PostgreSQL role, but not its keys or its process.
const running = await forTests(openRoomsService());
const role = await forTests(databaseOfRunning(running.service.dataDir));
const acme = await running.partner("ClosingDesk", "Acme Title");
const mallory = await running.partner("ClosingDesk", "Mallory");

const path = (code: string) => `/api/partner/orders/${code}`;
const refusal = { status: 503, body: { error: /^This record is not what the service wrote/ } };

async function isRefused(client: Client, method: string, at: string, form?: unknown): Promise<void> {
  const { status, body } = await client.call(method, at, form as object);
  assert.equal(status, refusal.status, `${method} ${at}: ${JSON.stringify(body)}`);
  assert.match(String(body["error"]), refusal.body.error);
}

const attack = (statement: Statement) => role.query(statement);

const changes: readonly [string, Statement][] = [
  ["the price", sql`total_cents = 1, subtotal_cents = 1, discount_cents = 0`],
  ["a line of the quote", sql`lines = '[]'`],
  ["the status", sql`status = 'Paid'`],
  ["the status before a hold", sql`status_before_hold = 'Paid'`],
  ["a test order made live", sql`environment = 'live'`],
  ["the fax number", sql`fax_to = '+12125559999'`],
  ["the client's address", sql`customer_email = 'eve@example.com'`],
  ["where it is shipped", sql`ship_to = '{"name": "Eve"}'`],
  ["a service that was not bought", sql`notarize = true`],
  ["the status of its envelope", sql`envelope_status = 'Completed'`],
  ["the time of its last change", sql`updated_at = '2020-01-01'`],
  ["its document's name", sql`document_name = CASE WHEN document_name IS NULL THEN 'x'::bytea END`],
  ["what its document has that people may not see", sql`document_notices = 'x'`],
  ["a document that an operator did not take in", sql`taken_in = '{sealed}'`],
  ["no MAC", sql`state_mac = NULL`],
  [
    "the MAC of another order",
    sql`state_mac = (SELECT state_mac FROM orders other WHERE other.id <> orders.id LIMIT 1)`,
  ],
];

for (const [name, change] of changes)
  test(`an order is neither shown, paid nor moved once its row was altered: ${name}`, async () => {
    const code = await acme.order({ fax_to: "2125550123" });
    const other = await acme.order();
    await attack(sql`UPDATE orders SET ${change} WHERE ${isSealed(sql`code`, "order", code)}`);
    const reader = name === "a test order made live" ? await acme.withKey("live") : acme;
    await isRefused(reader, "GET", path(code));
    await assert.rejects(
      running.db.transaction((tx) => lockOrder(tx, code)),
      /not what the service wrote/,
    );
    await running.db.transaction(async (tx) => {
      const unaltered = await lockUnalteredOrders(tx, [code, other]);
      assert.deepEqual(unaltered, await lockOrders(tx, [other]));
    });
    if (reader === acme) await isRefused(acme, "POST", `/api/partner/sandbox/orders/${code}/checkout`);
    const page = await fetch(`${running.service.baseUrl}/orders/${code}`);
    assert.equal(page.status, 503);
    const { orders } = await reader.ok<{ orders: { orderCode: string }[] }>("GET", "/api/partner/orders");
    assert.equal(
      orders.some(({ orderCode }) => orderCode === code),
      false,
    );
    assert.equal((await acme.call("GET", path(other))).status, 200);
    const [row] = await role.query<{ id: number }>(
      sql`SELECT id FROM orders WHERE ${isSealed(sql`code`, "order", code)}`,
    );
    const logged = () =>
      `${running.service.stdout()}\n${running.service.stderr()}`
        .split("\n")
        .filter((line) => line.includes("is not vouched for") && line.includes(`id=${row?.id} `));
    await until(async () => logged().length > 0);
    assert.equal(logged().length, 1, "once, however often it is read");
  });

test("a list can be read to its end past altered orders", async () => {
  const firm = await running.partner("ClosingDesk", "Long list");
  const codes: string[] = [];
  for (let n = 0; n < 5; n++) codes.push(await firm.order());
  await attack(
    sql`UPDATE orders SET total_cents = 1, subtotal_cents = 1, discount_cents = 0 WHERE partner_id = ${firm.partnerId} AND NOT (${isSealed(sql`code`, "order", codes[0] ?? "")} OR ${isSealed(sql`code`, "order", codes[4] ?? "")})`,
  );
  const read: string[] = [];
  for (let cursor = ""; ; ) {
    const { orders, nextCursor } = await firm.ok<{ orders: { orderCode: string }[]; nextCursor: string | null }>(
      "GET",
      `/api/partner/orders?limit=2${cursor}`,
    );
    read.push(...orders.map(({ orderCode }) => orderCode));
    if (nextCursor === null) break;
    cursor = `&cursor=${nextCursor}`;
  }
  assert.deepEqual(read, [codes[4], codes[0]]);
});

test("an order that was moved to another firm, alone or with its documents, gives that firm no document", async () => {
  const code = await acme.order();
  const mine = await mallory.order();
  const { documents } = await acme.ok<{ documents: { documentId: string }[] }>("GET", `${path(code)}/documents`);
  const [document] = documents;
  assert.ok(document);
  const bytes = (client: Client, order: string) =>
    client.call("GET", `${path(order)}/documents/${document.documentId}`);
  const byMallory = async (order: string) => {
    const { status } = await bytes(mallory, order);
    assert.ok(status >= 400, `${status}`);
  };
  await byMallory(code);
  const firmOf = (firm: Client) =>
    sql`UPDATE orders SET partner_id = ${firm.partnerId} WHERE ${isSealed(sql`code`, "order", code)}`;
  await attack(firmOf(mallory));
  await byMallory(code);
  await isRefused(mallory, "GET", path(code));
  await attack(firmOf(acme));

  // Moves only the document to the attacker's order, in place of that order's own document.
  await attack(sql`
    UPDATE documents SET order_id = (SELECT id FROM orders WHERE ${isSealed(sql`code`, "order", code)})
    WHERE order_id = (SELECT id FROM orders WHERE ${isSealed(sql`code`, "order", mine)})`);
  await attack(sql`
    UPDATE documents SET order_id = (SELECT id FROM orders WHERE ${isSealed(sql`code`, "order", mine)})
    WHERE id = (SELECT min(id) FROM documents WHERE order_id = (SELECT id FROM orders WHERE ${isSealed(sql`code`, "order", code)}))`);
  await byMallory(mine);
  await byMallory(code);
});

test("an earlier row that is restored with its earlier MAC is not authentic", async () => {
  const code = await acme.order();
  const [before] = await role.query<{ status: string; mac: Buffer; version: number }>(
    sql`SELECT status, state_mac AS mac, state_version AS version FROM orders WHERE ${isSealed(sql`code`, "order", code)}`,
  );
  assert.ok(before);
  await acme.ok("POST", `/api/partner/sandbox/orders/${code}/checkout`, { outcome: "success" });
  const { status } = await acme.ok<{ status: string }>("GET", path(code));
  assert.notEqual(status, before.status);
  for (const set of [
    sql`status = ${before.status}, state_mac = ${before.mac}, state_version = ${before.version}`,
    sql`state_version = ${before.version}`,
  ]) {
    await attack(sql`UPDATE orders SET ${set} WHERE ${isSealed(sql`code`, "order", code)}`);
    await isRefused(acme, "GET", path(code));
  }
});

test("an order's code stays in its row, so an earlier row can't be restored under another id", async () => {
  const [code, mine] = [await acme.order(), await mallory.order()];
  const [earlier] = await role.query<{ row: object }>(
    sql`SELECT to_jsonb(o) AS row FROM orders o WHERE ${isSealed(sql`code`, "order", code)}`,
  );
  await assert.rejects(
    attack(
      sql`UPDATE orders SET code = ${sealed("order", "e".repeat(40))} WHERE ${isSealed(sql`code`, "order", code)}`,
    ),
    /codes of orders stay/,
  );
  await assert.rejects(
    attack(sql`UPDATE orders SET id = DEFAULT WHERE ${isSealed(sql`code`, "order", mine)}`),
    /append-only/,
  );
  await assert.rejects(attack(sql`DELETE FROM orders WHERE ${isSealed(sql`code`, "order", code)}`), /append-only/);
  const copy = { ...earlier?.row, id: 900_001 };
  await assert.rejects(
    attack(sql`
      INSERT INTO orders OVERRIDING SYSTEM VALUE SELECT * FROM jsonb_populate_record(NULL::orders, ${copy}::jsonb)`),
    /duplicate key/,
  );
});

test("the service's role can't disable the trigger that counts an order's versions", async () => {
  for (const statement of [
    sql`ALTER TABLE orders DISABLE TRIGGER orders_next_state`,
    sql`SET session_replication_role = replica`,
    sql`DROP TRIGGER orders_next_state ON orders`,
    sql`CREATE OR REPLACE FUNCTION next_state_version() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'`,
  ])
    await assert.rejects(role.query(statement), /permission denied|must be owner/, statement.text);
});

test("the text that the MAC of a new order covers equals PostgreSQL's text of its row", async () => {
  const values = ['a\u0001\u007f"\\/é\u2028', null, true, 12, [{ bb: "x", a: null, ccc: [1, { z: "\n" }] }], {}, []];
  const [row] = await role.query<{ text: string }>(sql`
    SELECT json_build_array(${values[0]}::text, ${null}::text, ${true}::boolean, ${12}::int, ${JSON.stringify(values[4])}::jsonb,
      '{}'::jsonb, '[]'::jsonb)::text AS text`);
  assert.equal(textOf(values), row?.text);
});
