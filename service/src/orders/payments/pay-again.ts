/**
 * An order whose payment a bank took back can be paid again after an operator allowed it. The amount is a supplement:
 * it uses the same checkouts and charges, and only the processor's event settles it. No order moves by it.
 */
import type { Environment } from "../../kernel/identity/identity.ts";
import type { Clock } from "../../kernel/platform/clock.ts";
import type { Database, Sql, Tx } from "../../kernel/platform/database/database.ts";
import { sql } from "../../kernel/platform/database/sql.ts";
import { ServiceError } from "../../kernel/platform/errors.ts";
import { isCode } from "../../kernel/platform/text.ts";
import { closeTasks, openTask } from "../../kernel/tasks/tasks.ts";
import { dollars } from "../dollars.ts";
import { isPayable, type LockedOrder, lockOrder, mailClient } from "../order/order.ts";
import { isDisputed } from "./disputes.ts";
import { tellFirm } from "./firm/money-mail.ts";
import { heldPayments } from "./store.ts";
import {
  endsDebt,
  insertSupplement,
  leastSupplementCents,
  supplementPayments,
  supplementsOf,
  withdrawSupplement,
} from "./supplements.ts";

/** The line of the receipt. */
const label = "Payment in place of one that a bank took back";

/**
 * The cents of the order's price that banks took back and nobody has paid again. Below zero when it was paid again and
 * the bank then returned the first payment. A refund of the second payment counts as if it had not been paid.
 * @throws ServiceError `unavailable` for an altered row
 */
async function lossOf(db: Sql, orderId: number): Promise<number> {
  const replacements = await supplementPayments(db, orderId, true);
  return (await heldPayments(db, orderId)).reduce(
    (sum, { id, amountCents, lostCents, creditedCents }) =>
      sum + lostCents - (replacements.has(id) ? amountCents - creditedCents : 0),
    0,
  );
}

export type PayAgain = {
  /** The cents to pay again. */
  cents: number;
  /** Why an operator can't allow it now; null when they can. */
  refusal: string | null;
};

/** The amount that could be paid again for an order; null when no bank took anything back, or it was paid again. */
export async function payAgainOf(db: Sql, { id, status }: { id: number; status: string }): Promise<PayAgain | null> {
  const cents = await lossOf(db, id);
  if (cents <= 0) return null;
  return { cents, refusal: await refusalOf(db, { id, status }, cents) };
}

async function refusalOf(db: Sql, { id, status }: { id: number; status: string }, cents: number) {
  if (endsDebt.has(status) || isPayable(status)) return `An order in ${status} can’t be paid again.`;
  if (await isDisputed(db, id)) return "A bank still decides on a payment of this order. Wait for its answer.";
  if (cents < leastSupplementCents) return "The payment processor accepts no payment below $0.50.";
  const isAsked = (await supplementsOf(db, id)).some(({ state, replacesLoss }) => state === "asked" && replacesLoss);
  return isAsked ? "The order can be paid again already." : null;
}

/**
 * Lets the payer of an order pay again what a bank took back, and mails them.
 * @throws ServiceError `not_found` for an order that is unknown or in the other environment; `conflict` when nothing is
 * to be paid again, or not now
 */
export async function allowPayAgain(
  { db, clock }: { db: Database; clock: Clock },
  { code, environment, actor }: { code: string; environment: Environment; actor: string },
): Promise<void> {
  await db.transaction(async (tx) => {
    const order = isCode(code) ? await lockOrder(tx, code) : undefined;
    if (order?.environment !== environment) throw new ServiceError("not_found", "Order not found.");
    const cents = await lossOf(tx, order.id);
    if (cents <= 0) throw new ServiceError("conflict", "No money of this order is to be paid again.");
    const refusal = await refusalOf(tx, order, cents);
    if (refusal !== null) throw new ServiceError("conflict", refusal);
    const at = clock();
    const id = await insertSupplement(tx, order, { amountCents: cents, label, replacesLoss: true, actor, at });
    await mailClient(tx, order.id, "pay_again", at);
    await tellFirm(tx, order, { moment: "pay_again", cents, about: String(id) });
  });
}

/**
 * After an event of a dispute: withdraws what was to be paid again, if the amount has changed or a bank decides again.
 * If the order was paid again and the first payment came back as well, opens a task, because the money is here twice.
 */
export async function reviseLoss(
  tx: Tx,
  order: LockedOrder,
  { dispute, actor, at }: { dispute: string; actor: string; at: Date },
): Promise<void> {
  const { id: orderId, environment } = order;
  const [asked, cents] = [
    (await supplementsOf(tx, orderId)).find(({ state, replacesLoss }) => state === "asked" && replacesLoss),
    await lossOf(tx, orderId),
  ];
  if (asked && (asked.amountCents !== cents || (await isDisputed(tx, orderId))))
    await withdrawSupplement(tx, order, { actor, at, ofLoss: true });
  const subject = `${dispute}:${orderId}:twice`;
  const task = { kind: "dispute", at, environment, orderId, subject } as const;
  if (cents < 0)
    await openTask(tx, {
      ...task,
      reason: `The bank decided for the service (${dispute}), and the order had been paid again: ${dollars(-cents)} is here twice. Refund that much of the order.`,
    });
  else {
    const end = { state: "dropped", at, by: actor, outcome: "nothing is here twice any more" } as const;
    await closeTasks(tx, { orderId, kinds: ["dispute"], subject }, end);
  }
}

/**
 * After the payment of a supplement: if it replaced a loss, closes the tasks that a person would settle the loss by, and
 * tells the firm. An order on hold stays so until an operator releases it, for which there is a task.
 */
export async function endLoss(
  tx: Tx,
  order: LockedOrder,
  { supplementId, cents, actor, at }: { supplementId: number; cents: number; actor: string; at: Date },
): Promise<void> {
  const { id: orderId, environment, status } = order;
  const paid = (await supplementsOf(tx, orderId)).find(({ id }) => id === supplementId);
  if (!paid?.replacesLoss) return;
  const lost = await tx.query<{ subject: string }>(sql`
    SELECT d.id || ':' || ${orderId}::bigint || ':lost' AS subject FROM disputes d WHERE d.state = 'lost'
      AND d.payment_intent IN (SELECT payment_intent FROM payments WHERE order_id = ${orderId})`);
  const end = { state: "done", at, by: actor, outcome: "the order was paid again" } as const;
  for (const { subject } of lost) await closeTasks(tx, { orderId, kinds: ["dispute"], subject }, end);
  const reason = `${dollars(cents)} was paid again for this order, whose payment a bank had taken back. The order is on hold: release it.`;
  if (status === "OnHold")
    await openTask(tx, { kind: "dispute", at, environment, orderId, subject: `paid-again:${supplementId}`, reason });
  await tellFirm(tx, order, { moment: "paid_again", cents, about: String(supplementId) });
}
