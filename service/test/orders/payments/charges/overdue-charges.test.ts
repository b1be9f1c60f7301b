import assert from "node:assert/strict";
import { test } from "node:test";
import { forTests } from "@signsealship/testing/for-tests";
import type { Environment, Owner } from "../../../../src/kernel/identity/identity.ts";
import { isSealedAny, sql } from "../../../../src/kernel/platform/database/sql.ts";
import { writeStateMacs } from "../../../../src/kernel/platform/database/state-mac.ts";
import { enqueue } from "../../../../src/kernel/platform/jobs/jobs.ts";
import { stuckCharges } from "../../../../src/orders/payments/charges/stuck.ts";
import { detachQueue } from "../../../../src/orders/payments/methods/methods.ts";
import { chargeByMember, chargesOfCode, overdueOf, watchPayments } from "../../../../src/orders/payments/payments.ts";
import { chargeState } from "../../../../src/orders/payments/records/charges.ts";
import { activeMethod, updateMethod } from "../../../../src/orders/payments/records/methods.ts";
import { openMoneyWorld } from "../money-world.ts";

const world = await forTests(openMoneyWorld());
const { db, deps, stripe, orders } = world;

/** An order with a charge that the processor has created. The event about the charge has not arrived. */
async function answered() {
  const firm = await world.newFirm();
  await db.query(sql`DELETE FROM jobs`);
  stripe.firm.outcomes.set(firm.method, "succeeded");
  const code = await orders.insert("QuoteReady", { partnerId: firm.owner.partnerId, payBy: "firm" });
  await chargeByMember(deps, firm.principal, code);
  for (const job of await world.waitingJobs()) assert.equal(await world.run(job), true);
  const [charge] = await chargesOfCode(db, code);
  assert.equal(charge?.state, "answered");
  return { code, firm, charge };
}

/** Inserts charges that have been stuck for a long time, each of an order of its own. */
async function stuck(environment: Environment, count: number): Promise<Owner> {
  const { owner } = await world.newFirm();
  const { partnerId } = owner;
  const codes: string[] = [];
  for (let n = 0; n < count; n++)
    codes.push(await orders.insert("QuoteReady", { partnerId, payBy: "firm", environment }));
  await db.transaction(async (tx) => {
    await tx.query(sql`
      INSERT INTO firm_charges (id, order_id, partner_id, environment, method_id, amount_cents, asked_by, asked_at, state, changed_at)
      SELECT gen_random_uuid(), o.id, o.partner_id, o.environment, (SELECT m.id FROM payment_methods m WHERE m.partner_id = o.partner_id),
        o.total_cents, 'member:x', '2026-01-01', 'answered', '2026-01-01'
      FROM orders o WHERE ${isSealedAny(sql`o.code`, "order", codes)}`);
    await writeStateMacs(tx, chargeState, sql`partner_id = ${partnerId}`);
  });
  return { partnerId, environment };
}

test("a method is not removed at the processor while the event about its charge is missing", async () => {
  const { firm } = await answered();
  const id = (await activeMethod(db, firm.owner))?.id ?? "";
  await db.transaction(async (tx) => {
    await updateMethod(tx, id, { state: "removed", endedBy: "system" });
    await enqueue(tx, detachQueue, { id });
  });
  for (const job of await world.waitingJobs()) assert.equal(await world.run(job), true);
  assert.equal(stripe.firm.methods.get(firm.method)?.customer, firm.customer);
});

test("a hundred older charges that are stuck, in either environment, hide no later one in the tasks or the list", async () => {
  const { code, charge } = await answered();
  await stuck("test", 100);
  await stuck("live", 100);
  world.advance(11 * 60_000);
  await watchPayments(deps);
  const tasks = await db.query(sql`SELECT state FROM tasks WHERE kind = 'firm_charge' AND subject = ${charge?.id}`);
  assert.deepEqual(tasks, [{ state: "open" }], code);
  const shown = await stuckCharges(deps, "live");
  assert.ok(shown.charges.length === 100 && shown.charges.every(({ environment }) => environment === "live"));
  const rest = await stuckCharges(deps, "live", shown.next);
  assert.ok(rest.charges.some(({ id }) => id === charge?.id));
  assert.equal(rest.next, null);
});

test("a firm sees all of its overdue payments, even more than a hundred", async () => {
  const owner = await stuck("test", 101);
  const { payments, orderIds } = await overdueOf(deps, owner);
  assert.deepEqual([payments, new Set(orderIds).size], [101, 101]);
});
