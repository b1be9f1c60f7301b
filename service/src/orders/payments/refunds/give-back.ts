/** Refunds of payments, and the search for refunds that were made in the processor's own dashboard. */
import type { Clock } from "../../../kernel/platform/clock.ts";
import type { Database, Sql } from "../../../kernel/platform/database/database.ts";
import { sql } from "../../../kernel/platform/database/sql.ts";
import type { Log } from "../../../kernel/platform/logs.ts";
import { neverOpened, openTask } from "../../../kernel/tasks/tasks.ts";
import { dollars } from "../../dollars.ts";
import { fromOrders, lockOrder, type OrderStatus, ordersTable, verifiedOrder } from "../../order/order.ts";
import { closeCheckouts, OpenElsewhere } from "../checkout/sessions.ts";
import { endLost } from "../events/apply-dispute.ts";
import { applyEvent } from "../events/apply-event.ts";
import { processorOfOrder, requireNewestKey } from "../processor/account.ts";
import { isMissing } from "../processor/charge-requests.ts";
import { type Processor, type RefundOfPayment, shareRequest } from "../processor/processor.ts";
import { isDisputed } from "../records/disputes.ts";
import { wentBackOutside } from "../records/outside-notes.ts";
import { type HeldPayment, heldPayments, isFullyRefunded, isLost, payeesOfIntent } from "../records/payments.ts";
import { refundsOfIntent } from "../records/refunds.ts";
import { awaitsAssignment } from "./by-hand.ts";
import { elsewhereSubject, wholeRefundOf } from "./whole-refund.ts";

export type RefundJobDeps = { db: Database; clock: Clock; log: Log; processor: Processor | null };

/**
 * Refunds all held payments of an order; of a payment for several orders, only this order's share. The order stays in
 * RefundPending until the processor confirms; sandbox money is refunded at once. A forged job refunds nothing, because
 * the order's MAC covers its status.
 *
 * Nothing is refunded while a payment is disputed, or while a refund made at the processor is not assigned to its
 * orders. The bank's decision or the assignment queues the job again. A refund that failed at the payer's bank is not
 * repeated: a task asks a person to pay the money back in another way.
 * @throws OpenElsewhere after the refunds, if a checkout page of an earlier account is still open; OpenWithoutKey
 * before them, if a page is open and this node has no key
 */
export async function refundOrder(deps: RefundJobDeps, orderId: number): Promise<void> {
  const { db } = deps;
  const [order] = await db.query<{ status: OrderStatus; code: string }>(
    sql`SELECT o.status, o.code AS "code@order", ${verifiedOrder} ${fromOrders} WHERE o.id = ${orderId}`,
  );
  if (order?.status !== "RefundPending") return;
  // A checkout page of a supplement would collect money for an order that ends, so it is closed first. A page of an
  // earlier account can't be closed, but must not delay the refund.
  const open = await closeCheckouts(deps, orderId).catch((error: unknown) => {
    if (error instanceof OpenElsewhere) return error;
    throw error;
  });
  await refundHeld(deps, { id: orderId, code: order.code });
  if (open) throw open;
}

async function refundHeld(deps: RefundJobDeps, { id: orderId, code }: { id: number; code: string }): Promise<void> {
  const { db, clock, log } = deps;
  if (await isDisputed(db, orderId)) return;
  const held = await heldPayments(db, orderId);
  if (held.length > 0 && held.every(isLost))
    await db.transaction(async (tx) => {
      const locked = await lockOrder(tx, code);
      const options = { at: clock(), log, actor: "processor" } as const;
      if (locked) await endLost(tx, locked, options);
    });
  if (await awaitsAssignment(deps, orderId)) return;
  for (const payment of held)
    if ((await wholeRefundOf(db, orderId, payment)) !== "failed")
      await giveBack(deps, orderId, payment, { asShare: payment.isShared });
}

/**
 * Refunds the money that the service still holds of one payment, without the part that the bank took back. Sandbox
 * money is refunded at once.
 * @param part the id of the request that returns only this payment; null for a refund of the whole order
 * @param asShare true refunds only this order's share, minus the parts refunded earlier. False refunds everything that
 * the payer paid, unless a part was lost or paid back outside the processor.
 */
export async function giveBack(
  deps: RefundJobDeps,
  orderId: number,
  payment: HeldPayment,
  { asShare, part = null }: { asShare: boolean; part?: string | null },
): Promise<void> {
  const { db, clock, log } = deps;
  const { id, paymentIntent, simulated, lostCents } = payment;
  // Refunds that this service requested are not subtracted here. `processor.refundShare` subtracts them, because the
  // processor's list shows which refunds are ours.
  const amountCents = payment.amountCents - lostCents - payment.byHandCents;
  if (amountCents <= 0 || isLost(payment)) return;
  const isPart = asShare || lostCents > 0 || (await wentBackOutside(db, id));
  if (simulated && isPart)
    return giveSandboxPart(deps, { request: shareRequest(id, part), payment: id, paymentIntent, amountCents });
  if (simulated) {
    const object = { payment_intent: paymentIntent, refunded: true };
    const event = { id: `sandbox:refund:${id}`, type: "charge.refunded", data: { object } };
    const options = { at: clock(), log, actor: "sandbox" } as const;
    await db.transaction((tx) => applyEvent(tx, event, options));
    return;
  }
  // If only an earlier account can make the refund, a person does it, and the task names this amount. `refundShare`
  // doesn't run then, so all earlier refunds are subtracted here.
  const leftCents = payment.amountCents - lostCents - payment.creditedCents;
  await refundAtProcessor(deps, { orderId, paymentIntent, amountCents: leftCents, part }, (processor, intent) =>
    isPart
      ? processor.refundShare({ payment: id, paymentIntent: intent, amountCents, part })
      : processor.refund(String(id), intent),
  );
}

type AskedRefund = {
  orderId: number;
  paymentIntent: string | null;
  amountCents: number;
  /** The id of the request for a partial refund; null for a refund of everything that is left. */
  part: string | null;
};

/**
 * Requests a refund from the processor. If its account doesn't have the payment, opens a task: a person makes the
 * refund in the account that has the payment. That account's event then books the refund here.
 */
export async function refundAtProcessor(
  { db, clock, processor }: RefundJobDeps,
  { orderId, paymentIntent, amountCents, part }: AskedRefund,
  request: (processor: Processor, paymentIntent: string) => Promise<void>,
): Promise<void> {
  const own = await processorOfOrder(db, processor, orderId);
  if (!own) throw new Error("payments are not configured: the refund waits");
  if (paymentIntent === null) throw new Error("the payment has no payment intent: refund it at the processor");
  try {
    await request(own, paymentIntent);
  } catch (error) {
    if (!isMissing(error)) throw error;
    await requireNewestKey({ db, clock, processor });
    const isShared = (await payeesOfIntent(db, paymentIntent)).length > 1;
    const booked = isShared
      ? "The payment is for several orders: when its event has arrived here, say under Payments which order the refund was for. The event arrives"
      : "Its event books the refund here,";
    const reason = `The payment processor’s account doesn’t have the payment ${paymentIntent}. If the account was changed, refund ${dollars(amountCents)} in the earlier one, minus refunds that are already under way there. ${booked} if STRIPE_WEBHOOK_SECRET still has the secret of its endpoint.`;
    const about = { kind: "refund_failed", environment: sql`o.environment`, orderId, reason } as const;
    const task = { ...about, at: clock(), subject: elsewhereSubject(paymentIntent, orderId, part) };
    await db.transaction((tx) => openTask(tx, task, sql`${ordersTable} WHERE o.id = ${orderId}`));
  }
}

/** Refunds a part of sandbox money, by the same code that applies the processor's events. */
export async function giveSandboxPart(
  { db, clock, log }: Omit<RefundJobDeps, "processor">,
  {
    request,
    payment,
    paymentIntent,
    amountCents,
  }: { request: string; payment: number; paymentIntent: string | null; amountCents: number },
): Promise<void> {
  const metadata = { refund_request: request, payment: String(payment) };
  const object = { status: "succeeded", payment_intent: paymentIntent, amount: amountCents, metadata };
  const event = { id: `sandbox:refund:${payment}:${request}`, type: "refund.updated", data: { object } };
  const options = { at: clock(), log, actor: "sandbox" } as const;
  await db.transaction((tx) => applyEvent(tx, event, options));
}

/**
 * A payment's refunds as stored from the processor's events. They replace the processor's list for a payment in an
 * earlier account, whose refunds the present account can't list.
 */
async function refundsOnRecord(db: Sql, paymentIntent: string): Promise<RefundOfPayment[]> {
  const rows = await refundsOfIntent(db, paymentIntent);
  return rows.flatMap(({ id, amountCents, state, request }) =>
    state === "failed" || amountCents === null ? [] : [{ id, amountCents, isOurs: request !== null }],
  );
}

/**
 * Finds partial refunds that were made in the processor's dashboard, without a request here. Opens a task for each, so
 * that a person finds out why the refund was made. If several orders share the payment, the person also assigns the
 * refund to orders. Moves no money.
 */
export async function checkRefunds({ db, clock, processor }: RefundJobDeps, paymentIntent: string): Promise<void> {
  // The processor does not know the payments of the sandbox.
  if (paymentIntent.startsWith("sandbox:")) return;
  const payees = await payeesOfIntent(db, paymentIntent);
  const [first] = payees;
  if (!first || (await isFullyRefunded(db, paymentIntent))) return;
  const own = await processorOfOrder(db, processor, first.orderId);
  if (!own) return;
  const isShared = payees.length > 1;
  const refunds = (await own.refundsOf(paymentIntent)) ?? (await refundsOnRecord(db, paymentIntent));
  for (const { id, amountCents, isOurs } of refunds) {
    if (isOurs) continue;
    const [of, ask] = isShared
      ? [`a payment for ${payees.length} orders`, "Find out which orders it was for, and say so under Payments."]
      : ["the payment", "It has its credit note. Find out why, and note it."];
    const reason = `${dollars(amountCents)} of ${of} went back at the processor (${id}) without a request here. ${ask}`;
    // Opens no task for a refund that a person assigned before this check.
    const from = sql`${ordersTable} WHERE o.id = ${first.orderId} AND ${neverOpened("refund_by_hand", id)}
      AND NOT (${isShared} AND EXISTS (SELECT FROM billing_documents d JOIN payments p ON p.id = d.payment_id
        WHERE p.payment_intent = ${paymentIntent} AND d.kind = 'credit_note' AND d.refund = ${id}))`;
    const { orderId } = first;
    const about = { kind: "refund_by_hand", environment: sql`o.environment`, orderId, subject: id, reason } as const;
    await db.transaction((tx) => openTask(tx, { ...about, at: clock() }, from));
  }
}
