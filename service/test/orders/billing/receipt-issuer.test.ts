import assert from "node:assert/strict";
import { test } from "node:test";
import { forTests } from "@signsealship/testing/for-tests";
import { isSealed, sql } from "../../../src/kernel/platform/database/sql.ts";
import { readIssuer, registerIssuer, watchIssuer } from "../../../src/orders/billing/billing.ts";
import { recordPayment } from "../../../src/orders/payments/store.ts";
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
    ...{
      orderId: order?.id ?? 0,
      paymentIntent: `${simulated ? "sandbox:" : ""}pi_${count}`,
      sessionId: `cs_${count}`,
    },
    ...{ amount: 9_900, currency: "usd", simulated, at: clock() },
  };
  await db.transaction((tx) => recordPayment(tx, payment));
}
const states = async () => {
  await watchIssuer({ db, clock });
  const found = await db.query<{ state: string; reason: string }>(
    sql`SELECT state, reason FROM tasks WHERE kind = 'receipt_issuer' ORDER BY id`,
  );
  for (const { reason } of found) assert.match(reason, /name no issuer with an address.*setting BILLING/);
  return found.map(({ state }) => state);
};

test("the first live payment without an issuer's name and address opens a task, which ends when the issuer is named", async () => {
  assert.deepEqual(await states(), []);
  await pay(true);
  assert.deepEqual(await states(), [], "a simulated payment is no money");
  await pay(false);
  assert.deepEqual(await states(), ["open"]);
  await pay(false);
  assert.deepEqual(await states(), ["open"]);
  await registerIssuer(db, { ...shipped, name: "Harbor Services LLC" }, clock());
  assert.deepEqual(await states(), ["open"], "a name alone is no address");
  await registerIssuer(db, { ...shipped, name: "Harbor Services LLC", address: ["1 Pier Street"] }, clock());
  assert.deepEqual(await states(), ["done"]);
});
