import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { forTests } from "@signsealship/testing/for-tests";
import { minimal, orderForm } from "@signsealship/testing/inputs/order-form";
import { makePdf } from "@signsealship/testing/inputs/pdf-maker";
import { authenticatePayments, authenticateRooms } from "@signsealship/testing/row-mac";
import type { Sql, Tx } from "../../src/kernel/platform/database/database.ts";
import { Statement, sql } from "../../src/kernel/platform/database/sql.ts";
import { digestOf } from "../../src/kernel/platform/database/state-mac.ts";
import { earlierOrderStates } from "../../src/orders/order/order.ts";
import { seal } from "../evidence/proof-passports/seal-document.ts";
import { openCeremonyService, signBy } from "../signing/envelopes/ceremony/ceremony-service.ts";

const idempotencyKey = randomUUID();

after(() => running.service.stop());
// These tests turn the database of this service into one of the release before codes were encrypted. Then they upgrade
// it.
const running = await forTests(openCeremonyService());
const { client: firm, service, headers } = running;
const { verifyCode: proof } = await seal({ baseUrl: service.baseUrl, headers }, makePdf());
const orderCode = await running.order([{ name: "Jane Doe", email: "jane@example.com" }]);
await signBy(running.ceremony, await running.linkOf("jane@example.com"), "Jane Doe");
const { roomCode } = await firm.ok<{ roomCode: string }>("POST", "/api/rooms", { name: "12 Elm Street" });
await firm.ok("POST", `/api/rooms/${roomCode}/orders`, { orderCode });
await firm.ok("POST", `/api/rooms/${roomCode}/passport`);
const { verifyCode: closing } = await firm.ok<{ verifyCode: string }>("POST", `/api/rooms/${roomCode}/passport`);
const { envelope } = await firm.ok<{ envelope: { verifyCode: string } }>(
  "GET",
  `/api/partner/orders/${orderCode}/signers`,
);
const paths = [
  `/api/passport/verify/${proof}`,
  `/api/passport/verify/${proof}/document`,
  `/api/rooms/${roomCode}`,
  `/api/verify/room/${closing}`,
  `/api/verify/room/${closing}/pdf`,
  `/api/verify/envelope/${envelope.verifyCode}`,
  `/api/partner/orders/${orderCode}`,
  `/api/partner/orders/${orderCode}/signers`,
  "/api/partner/orders",
  `/orders/${orderCode}`,
  `/api/partner/webhooks/deliveries?orderCode=${orderCode}`,
  "/api/partner/events",
];

/** The bodies of the responses to all `paths`, without ids of requests. */
const everything = () =>
  Promise.all(
    paths.map(async (path) => {
      const response = await fetch(running.service.baseUrl + path, { headers: running.headers });
      assert.equal(response.status, 200, path);
      const text = Buffer.from(await response.arrayBuffer()).toString("latin1");
      return text.replace(/"requestId":"[^"]+"/, "");
    }),
  );

async function placeOnce(): Promise<string> {
  const response = await fetch(`${running.service.baseUrl}/api/partner/orders`, {
    method: "POST",
    headers: { ...running.headers, "Idempotency-Key": idempotencyKey },
    body: orderForm({ ...minimal }, makePdf()),
  });
  assert.equal(response.status, 201);
  return response.text();
}

const columns = [
  { table: "passports", column: "verify_code", kind: "proof" },
  { table: "closing_passports", column: "verify_code", kind: "closing" },
  { table: "closing_passports", column: "manifest", kind: "manifest" },
  { table: "rooms", column: "code", kind: "room" },
  { table: "orders", column: "code", kind: "order" },
  { table: "envelopes", column: "verify_code", kind: "envelope" },
  { table: "events", column: "event_id", kind: "event" },
  { table: "events", column: "subject", kind: "event" },
  { table: "idempotency_keys", column: "body", kind: "answer" },
] as const;

const part = (text: string): Statement => new Statement([text], []);

/** Restores the state before the migration, and undoes what the first start after the migration encrypted. */
async function asBefore(tx: Tx): Promise<void> {
  await tx.script("SET LOCAL session_replication_role = replica");
  for (const { table, column } of columns)
    await tx.script(`ALTER TABLE ${table} DROP CONSTRAINT ${table}_${column}_sealed`);
  for (const { table, column, kind } of columns) {
    const rows = await tx.query<{ form: string; text: string }>(
      sql`SELECT ${part(column)} AS form, ${part(`${column} AS "text@${kind}"`)} FROM ${part(table)}`,
    );
    for (const { form, text } of rows.filter((row) => row.form !== row.text)) {
      const plain = kind === "answer" ? text.slice(text.indexOf("\n") + 1) : text;
      await tx.query(sql`UPDATE ${part(table)} SET ${part(column)} = ${plain} WHERE ${part(column)} = ${form}`);
    }
  }
  await tx.script(`
    UPDATE envelope_events t SET record = replace(replace(t.record, '"envelope":null', '"envelope":"' || e.verify_code || '"'),
        '"orderCode":null', '"orderCode":"' || o.code || '"')
      FROM envelopes e JOIN orders o ON o.id = e.order_id WHERE e.id = t.envelope_id;
    ALTER TABLE envelope_events ADD CONSTRAINT envelope_events_check
      CHECK (sha256 = encode(sha256(convert_to(record, 'UTF8')), 'hex'));
    ALTER TABLE passports ADD CONSTRAINT passports_verify_code_check CHECK (verify_code ~ '^[a-z2-7]{26}$');
    ALTER TABLE closing_passports ADD CONSTRAINT closing_passports_verify_code_check CHECK (verify_code ~ '^[a-z2-7]{26}$');
    ALTER TABLE envelopes ADD CONSTRAINT envelopes_verify_code_check CHECK (verify_code ~ '^[a-z2-7]{26}$');
    ALTER TABLE rooms ADD CONSTRAINT rooms_code_check CHECK (code ~ '^[0-9a-f]{40}$');
    DROP TRIGGER events_resealed_only ON events;
    DELETE FROM schema_migrations WHERE name LIKE '%_sealed_texts.sql'`);
  await ordersAsBefore(tx);
}

/**
 * Restores the codes of orders, which a later release encrypted, to plain text. Also restores the MACs and the names of
 * payments that earlier releases wrote.
 */
async function ordersAsBefore(tx: Tx): Promise<void> {
  const [digest] = earlierOrderStates(sql`code`)
    .filter(({ opened }) => !opened)
    .map((state) => digestOf(state, sql`orders`));
  const orders = await tx.query<{ id: number; digest: Buffer }>(sql`SELECT id, ${digest} AS digest FROM orders`);
  for (const { id, digest: state } of orders)
    await tx.query(sql`
      UPDATE orders SET state_mac = ${running.rowMac.of("orders", { state: state.toString("hex") })} WHERE id = ${id}`);
  await tx.query(sql`
    UPDATE payments p SET payment_intent = 'sandbox:' || o.code, session_id = 'sandbox:' || o.code || ':success'
    FROM orders o WHERE o.id = p.order_id`);
  await authenticatePayments(tx, sql`true`);
  await tx.query(sql`
    UPDATE processor_events e SET event_id = 'sandbox:' || o.code || ':1' FROM orders o WHERE o.id = e.order_id`);
  await tx.script(`
    DROP TRIGGER orders_keep_codes ON orders;
    DROP TRIGGER orders_keep_ids ON orders;
    DROP FUNCTION refuse_code_change;
    DROP FUNCTION sandbox_name;
    CREATE TRIGGER orders_keep_codes BEFORE DELETE OR UPDATE OF id, code ON orders
      FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
    ALTER TABLE orders DROP COLUMN code_start, ADD CONSTRAINT orders_code_check CHECK (code ~ '^[0-9a-f]{40}$');
    ALTER TABLE webhook_deliveries ADD COLUMN order_code text;
    UPDATE webhook_deliveries d SET order_code = o.code FROM orders o WHERE o.id = d.order_id;
    ALTER TABLE webhook_deliveries DROP COLUMN order_id;
    DROP TRIGGER events_append_only ON events;
    ALTER TABLE events DROP COLUMN order_id;
    CREATE TRIGGER events_append_only BEFORE DELETE OR TRUNCATE ON events FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
    ALTER TABLE prepared_acts DROP CONSTRAINT prepared_acts_kept_sealed, ADD COLUMN tail bytea;
    ALTER TABLE notary_journal ADD CONSTRAINT notary_journal_check
      CHECK (sha256 = encode(sha256(convert_to(record, 'UTF8')), 'hex'));
    DROP TRIGGER tasks_stay ON tasks;
    DROP TRIGGER tasks_next_state ON tasks;
    ALTER TABLE tasks DROP COLUMN state_version, DROP COLUMN row_mac;
    DELETE FROM row_mac_backfill WHERE filled IN ('codes of orders', 'tasks and payers');
    DELETE FROM schema_migrations WHERE name LIKE '%_order_codes.sql' OR name LIKE '%_task_macs.sql'`);
  for (const name of ["codes", "tasks"]) rmSync(join(running.service.dataDir, `keys/row-macs-filled-${name}`));
}

async function plainTexts(db: Sql = running.db): Promise<string[]> {
  const found: string[] = [];
  for (const { table, column } of columns) {
    const of = table === "events" ? "(topic LIKE 'room.%' OR topic LIKE 'order.%')" : "true";
    const rows = await db.query(sql`SELECT FROM ${part(table)} WHERE ${part(of)} AND ${part(column)} NOT LIKE 'c1.%'`);
    if (rows.length > 0) found.push(`${table}.${column}`);
  }
  return found;
}

async function restarted(change: (tx: Tx) => Promise<unknown>): Promise<void> {
  await running.service.stop();
  await running.db.transaction(change);
  running.service = await running.service.restart({});
}

test("encrypts the codes of an earlier release at the first start, and answers as before, byte for byte", async () => {
  const placed = await placeOnce();
  const before = await everything();
  const [feed] = before.slice(-1);
  assert.match(feed ?? "", /room\.passport_sealed:[0-9a-f]{40}:[a-z2-7]{26}/);
  await restarted(async (tx) => {
    await asBefore(tx);
    assert.deepEqual(
      await plainTexts(tx),
      columns.map(({ table, column }) => `${table}.${column}`),
    );
  });
  assert.deepEqual(await plainTexts(), []);
  const after = await everything();
  assert.deepEqual(after.slice(0, -1), before.slice(0, -1));
  assert.ok(after.at(-1)?.includes((feed ?? "").slice(0, (feed ?? "").indexOf("]") - 1)));
  assert.equal(await placeOnce(), placed);
});

test("continues after an interruption, and prevents plain codes afterwards", async () => {
  const codeOf = (n: number) => String(n).repeat(40);
  const plain = sql`UPDATE rooms SET code = ${codeOf(1)}`;
  await assert.rejects(running.db.query(plain), /rooms_code_sealed/);
  await restarted(async (tx) => {
    await tx.script("ALTER TABLE rooms DROP CONSTRAINT rooms_code_sealed");
    await tx.query(plain);
    await authenticateRooms(tx, sql`true`);
    await tx.script("ALTER TABLE rooms ADD CONSTRAINT rooms_code_sealed CHECK (starts_with(code, 'c1.')) NOT VALID");
  });
  assert.deepEqual(await plainTexts(), []);
  assert.equal((await fetch(`${running.service.baseUrl}/api/rooms/${codeOf(1)}`)).status, 200);
  await assert.rejects(running.db.query(plain), /rooms_code_sealed/);
});
