import assert from "node:assert/strict";
import { test } from "node:test";
import { startStripe } from "@signsealship/testing/doubles/stripe";
import { makeJobsDue } from "@signsealship/testing/due-jobs";
import { forTests } from "@signsealship/testing/for-tests";
import { openHarness } from "@signsealship/testing/harness";
import { ownProcess, startService } from "@signsealship/testing/service";
import { until } from "@signsealship/testing/until";
import { sql } from "../../../../src/kernel/platform/database/sql.ts";
import { scheduleReconciliation } from "../../../../src/orders/payments/reconcile/reconcile.ts";
import { newOperator } from "../../../firms/operators/console-people.ts";

const stripe = await forTests(startStripe());
const env = stripe.settings("live");
const running = await forTests(openHarness({ ...env, ...ownProcess }));
const { db } = running;
const hour = 3_600_000;
const operator = await newOperator(running, { roles: ["admin", "approver"] });

// 120 of our charges, about which the processor sent the service no event.
for (let n = 0; n < 120; n++) {
  const id = `cs_${n}`;
  const metadata = { checkout: "x", environment: "live" };
  stripe.sessions.set(id, { id, status: "open", amount_total: 9_900, currency: "usd", metadata });
  stripe.pay(id);
}
for (const transaction of stripe.balance.transactions)
  Object.assign(transaction, { created: Number(transaction["created"]) - (2 * hour) / 1000 });

const listed = () => stripe.requests.filter(({ path }) => path === "/v1/balance_transactions").length;
async function health(): Promise<string> {
  const page = await fetch(`${running.service.baseUrl}/operator/health`, { headers: { cookie: operator.cookie } });
  assert.equal(page.status, 200);
  return page.text();
}
const ended = () =>
  db.query<{ differences: number }>(sql`SELECT differences FROM reconciliations WHERE ended_at IS NOT NULL`);
const tasks = () => db.query<{ reason: string }>(sql`SELECT reason FROM tasks WHERE kind = 'money_difference'`);

test("a node that is killed between two pages leaves a comparison that one of two other nodes makes, once", async () => {
  assert.match(await health(), /Not compared yet/);
  // Schedules the first comparison by a clock that is three hours slow, so that it comes before these charges.
  const clock = () => new Date(Date.now() - 3 * hour);
  stripe.hangAfter(1);
  await Promise.all([scheduleReconciliation({ db, clock }), scheduleReconciliation({ db, clock })]);
  await until(() => listed() === 2);
  await running.service.kill();
  assert.deepEqual([await ended(), await tasks()], [[], []]);
  running.service = await running.service.restart();
  await forTests(startService({ ...env, DATA_DIR: running.service.dataDir, RATE_LIMITS: "off" }));
  // The lease of the dead node expires.
  await makeJobsDue(db, "reconcile");
  await db.query(sql`SELECT pg_notify('jobs', 'reconcile')`);
  await until(async () => (await ended()).length === 1);
  assert.deepEqual(await ended(), [{ differences: 120 }]);
  const found = await tasks();
  assert.equal(new Set(found.map(({ reason }) => reason)).size, 120);
  assert.equal(found.length, 120);
  const page = await health();
  assert.match(page, /120 open/);
  assert.match(
    page,
    /Missing here: the payment processor has the charge ch_test_\w+ of pi_test_\w+ with 9900 cents USD/,
  );
});
