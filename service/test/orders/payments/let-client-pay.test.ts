import assert from "node:assert/strict";
import { test } from "node:test";
import { forTests } from "@signsealship/testing/for-tests";
import { sql } from "../../../src/kernel/platform/database/sql.ts";
import { chargesOfCode, endCharge, letClientPay, letClientsPay } from "../../../src/orders/payments/payments.ts";
import { groupsOf } from "./charged-group.ts";
import { openMoneyWorld } from "./money-world.ts";

const world = await forTests(openMoneyWorld());
const { db, deps, stripe } = world;
const day = 24 * 60 * 60_000;
const { charged, membersOf, states, statuses } = groupsOf(world);
const all = <Value>(value: Value) => [value, value, value];

/** The moments of all mails to the clients of the orders. */
async function mailed(codes: readonly string[]): Promise<string[]> {
  const orderIds = await Promise.all(codes.map(world.orderIdOf));
  const found = await db.query<{ moment: string }>(sql`
    SELECT payload ->> 'moment' AS moment FROM jobs
    WHERE queue = 'order-mail' AND (payload ->> 'orderId')::bigint = ANY (${orderIds}::bigint[])`);
  return found.map(({ moment }) => moment);
}

test("doesn't blame the client for a declined charge of the firm whose event comes after the client became the payer", async () => {
  const { firm, codes, intent } = await charged("card_declined");
  assert.deepEqual(await states(codes), all(["declined"]));
  await letClientsPay(deps, firm.principal, membersOf(codes));
  assert.equal(await world.take(stripe.chargeEvent(intent)), true);
  assert.deepEqual(await states(codes), all(["failed"]), "the firm still sees its own failure");
  assert.deepEqual(await statuses(codes), all("QuoteReady"));
  assert.deepEqual(await mailed(codes), all("quote_ready"));
});

test("doesn't blame the client for a charge that a person ended before the client became the payer", async () => {
  const { firm, codes, intent } = await charged("processing");
  world.advance(11 * day);
  const [charge] = await chargesOfCode(db, codes[0]);
  await endCharge(deps, { id: charge?.id ?? "", environment: "live", actor: "operator:test" });
  await letClientPay(deps, firm.principal, codes[0]);
  assert.equal(await world.take(stripe.chargeEvent(intent)), true);
  assert.deepEqual(await statuses(codes), ["QuoteReady", "PaymentFailed", "PaymentFailed"]);
  assert.deepEqual(await mailed([codes[0]]), ["quote_ready"]);
});
