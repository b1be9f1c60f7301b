import assert from "node:assert/strict";
import { test } from "node:test";
import { forTests } from "@signsealship/testing/for-tests";
import { isSealed, sql } from "../../../src/kernel/platform/database/sql.ts";
import { finishTask } from "../../../src/kernel/tasks/tasks.ts";
import { readIssuer, registerIssuer, watchIssuer } from "../../../src/orders/billing/billing.ts";
import { recordPayment } from "../../../src/orders/payments/records/payments.ts";
import { openOrdersDatabase } from "../order/orders-database.ts";

const orders = await forTests(openOrdersDatabase());
const { db } = orders;
const clock = () => new Date();
const shipped = readIssuer(new URL("../../../data/billing.yaml", import.meta.url).pathname);
await registerIssuer(db, shipped, clock());

let count = 0;
async function pay(simulated: boolean): Promise<void> {
  const code = await orders.insert("Paid");
  const [order] = await db.query<{ id: number }>(
    sql`SELECT id FROM orders WHERE ${isSealed(sql`code`, "order", code)}`,
  );
  count += 1;
  const payment = {
    orderId: order?.id ?? 0,
    paymentIntent: `${simulated ? "sandbox:" : ""}pi_${count}`,
    sessionId: `cs_${count}`,
    amount: 9_900,
    currency: "usd",
    simulated,
    at: clock(),
  };
  await db.transaction((tx) => recordPayment(tx, payment));
}
const states = async (processor: { testMode: boolean } | null = { testMode: false }) => {
  await watchIssuer({ db, clock }, processor);
  const found = await db.query<{ state: string; reason: string }>(
    sql`SELECT state, reason FROM tasks WHERE kind = 'receipt_issuer' ORDER BY id`,
  );
  for (const { reason } of found) assert.match(reason, /name no issuer with an address.*setting BILLING/);
  return found.map(({ state }) => state);
};

test("a receipt that named its issuer opens no task, also when the file names none later", async () => {
  await registerIssuer(db, { ...shipped, name: "Harbor Services LLC", address: ["1 Pier Street"] }, clock());
  await pay(false);
  await registerIssuer(db, shipped, clock());
  assert.deepEqual(await states(), []);
});

test("the first live payment without an issuer's name and address opens a task, which ends when the issuer is named", async () => {
  assert.deepEqual(await states(), []);
  await pay(true);
  assert.deepEqual(await states(), [], "a simulated payment is no money");
  await pay(false);
  assert.deepEqual(await states({ testMode: true }), [], "a key of the test mode moves no money");
  assert.deepEqual(await states(), ["open"]);
  await pay(false);
  assert.deepEqual(await states(), ["open"]);
  await registerIssuer(db, { ...shipped, name: "Harbor Services LLC" }, clock());
  assert.deepEqual(await states(), ["open"], "a name alone is no address");
  await registerIssuer(db, { ...shipped, name: "Harbor Services LLC", address: ["1 Pier Street"] }, clock());
  assert.deepEqual(await states(), ["done"]);
});

test("after somebody ended the task, the next receipt without an issuer opens another one", async () => {
  await registerIssuer(db, shipped, clock());
  assert.deepEqual(await states(), ["done", "open"]);
  const [task] = await db.query<{ id: number }>(sql`SELECT max(id) AS id FROM tasks WHERE kind = 'receipt_issuer'`);
  await finishTask({ db, clock }, task?.id ?? 0, "operator:a", "Our lawyer looks into it.");
  assert.deepEqual(await states(), ["done", "done"]);
  await pay(true);
  assert.deepEqual(await states(), ["done", "done"]);
  await pay(false);
  assert.deepEqual(await states(), ["done", "done", "open"]);
});
