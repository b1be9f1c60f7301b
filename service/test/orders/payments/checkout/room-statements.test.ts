import assert from "node:assert/strict";
import { test } from "node:test";
import { forTests } from "@signsealship/testing/for-tests";
import type { Database, Tx } from "../../../../src/kernel/platform/database/database.ts";
import type { Statement } from "../../../../src/kernel/platform/database/sql.ts";
import { newUuid } from "../../../../src/kernel/platform/ids.ts";
import { sharedCheckout } from "../../../../src/orders/payments/checkout/checkout.ts";
import { applyEvent } from "../../../../src/orders/payments/events/apply-event.ts";
import { silent } from "../../order/orders-database.ts";
import { openMoneyWorld } from "../money-world.ts";

const world = await forTests(openMoneyWorld());
const { db, deps, stripe, clock } = world;
const firm = await world.newFirm();

/** A database that counts the statements of its transactions. */
function counting(): { db: Database; count: () => number } {
  let statements = 0;
  const counted = (tx: Tx): Tx => ({
    ...tx,
    query: <Row>(statement: Statement) => {
      statements += 1;
      return tx.query<Row>(statement);
    },
  });
  return { db: { ...db, transaction: (work) => db.transaction((tx) => work(counted(tx))) }, count: () => statements };
}

/**
 * Counts the statements that open a checkout of this many orders, and the statements that apply the event of its
 * payment.
 */
async function statementsFor(orders: number): Promise<{ minting: number; paying: number }> {
  const members: { id: number; code: string }[] = [];
  for (let n = 0; n < orders; n++) {
    const code = await world.orders.insert("QuoteReady", { partnerId: firm.owner.partnerId, notarize: n % 2 === 0 });
    members.push({ id: await world.orderIdOf(code), code });
  }
  const minting = counting();
  const group = { groupId: newUuid(), environment: "live" } as const;
  const { checkoutUrl } = await sharedCheckout({ ...deps, db: minting.db }, group, async () => members);
  const event = stripe.pay(stripe.sessionOf(checkoutUrl));
  const paying = counting();
  const options = { at: clock(), log: silent, actor: "processor" } as const;
  const { outcome } = await paying.db.transaction((tx) => applyEvent(tx, event, options));
  assert.equal(outcome, "moved");
  return { minting: minting.count(), paying: paying.count() };
}

test("opens and settles the checkout of a room with few statements for each further order", async () => {
  const [few, many] = [await statementsFor(2), await statementsFor(12)];
  // For each further order, at most four reads, which decide whether the order can be paid.
  assert.ok(many.minting - few.minting <= 10 * 4, `${many.minting} statements mint a checkout of twelve orders`);
  // For each further order, at most 19 statements: the payment with its receipt, and two transitions with their jobs.
  assert.ok(many.paying - few.paying <= 10 * 19, `${many.paying} statements apply the payment of twelve orders`);
});
