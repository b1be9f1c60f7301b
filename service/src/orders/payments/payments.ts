import type { Clock } from "../../kernel/platform/clock.ts";
import type { Database } from "../../kernel/platform/database/database.ts";
import { sql } from "../../kernel/platform/database/sql.ts";
import type { Jobs } from "../../kernel/platform/jobs/jobs.ts";
import type { Log } from "../../kernel/platform/logs.ts";
import { neverOpened, openTask } from "../../kernel/tasks/tasks.ts";
import { dollars } from "../dollars.ts";
import { closeCheckoutQueue, firmChargeQueue, lockOrder, refundQueue, verifiedOrders } from "../order/order.ts";
import { awaitsAssignment } from "./by-hand.ts";
import { watchPending } from "./checkout/pending.ts";
import { closeCheckouts } from "./checkout/sessions.ts";
import { checkoutRows } from "./checkout/store.ts";
import { isDisputed } from "./disputes.ts";
import { chargeRows } from "./firm/charge-store.ts";
import type { ChargeDeps } from "./firm/charges.ts";
import { detachMethod, detachQueue, methodQueue, saveMethod } from "./firm/methods.ts";
import { takeSandboxSteps } from "./firm/sandbox-bank.ts";
import { sandboxQueue, sandboxRows } from "./firm/sandbox-steps.ts";
import { type ChargeJob, sendCharges } from "./firm/send-charges.ts";
import { methodRows } from "./firm/store.ts";
import { watchCharges } from "./firm/stuck.ts";
import { isLost } from "./processor/apply.ts";
import { takeEvent } from "./processor/events.ts";
import { type Processor, shareRequest } from "./processor/processor.ts";
import { endLost } from "./processor/take-dispute.ts";
import { reconcileRows } from "./reconcile/store.ts";
import { type HeldPayment, heldPayments, isGivenBack, moneyRows, payeesOfIntent, refundCheckQueue } from "./store.ts";
import { supplementRows } from "./supplements.ts";
import { watchSupplements } from "./unpaid-supplements.ts";

export {
  type AssignedPart,
  awaitsAssignment,
  bookRefundByHand,
  intentOfRefund,
  isOnItsWay,
  lockRefundByHand,
  missingRefunds,
  type RefundByHand,
  refundsByHand,
  refundsOnPage,
  unassignedRefund,
} from "./by-hand.ts";
export {
  type CheckoutDeps,
  checkoutUrl,
  type Member,
  type RefusalKind,
  refusalOf,
  type SharedCheckout,
  sharedCheckout,
  takesPayment,
} from "./checkout/checkout.ts";
export { endPendingPayment, type PendingPayment, pendingPayments } from "./checkout/pending.ts";
export { isPaymentInProcess } from "./checkout/store.ts";
export { isDisputed, openDisputes, partNewsQueue } from "./disputes.ts";
export { billingDocumentState, lockBilling, restBefore } from "./documents.ts";
export {
  type ChargeOfOrder,
  type ChargeState,
  chargesOfCode,
  type FirmCharge,
  type FirmMethod,
  firmPaysColumns,
  isOpenCharge,
  listedPayments,
  type OverdueCharge,
  type PayingMethod,
  type PaymentOfFirm,
  payingMethod,
  paymentsOfFirm,
  sumOfCharges,
  unpaidPayments,
} from "./firm/charge-store.ts";
export { type ChargeDeps, chargeByMember } from "./firm/charges.ts";
export { chargeGroup, chargeOfOrder, type GroupCharge, type GroupChargeEnd } from "./firm/group.ts";
export { listSpenders, type Spender, setLimit, spentThisMonth } from "./firm/limits.ts";
export { chargeMail, methodMail, methodName, reasonWords } from "./firm/mail.ts";
export { askForMethod, type FirmPaysDeps, finishTestSetup, removeMethod, takesMethods } from "./firm/methods.ts";
export { moneyMail } from "./firm/money-mail.ts";
export { testMethods } from "./firm/sandbox-account.ts";
export { takeSandboxSteps } from "./firm/sandbox-bank.ts";
export { testMethodRoute } from "./firm/sandbox-route.ts";
export { bringSandboxMoneyNearer } from "./firm/sandbox-steps.ts";
export { activeMethod, type PaymentMethod, selectMethods } from "./firm/store.ts";
export { endCharge, endOwnCharge, isOverdueCharge, stuckCharges } from "./firm/stuck.ts";
export {
  allowPayAgain,
  type PayAgain,
  payAgainOf,
  refundedFirst,
  type TakesPayment,
  unpaidLossOf,
} from "./pay-again.ts";
export { isTestModeKey, openProcessor, type Processor } from "./processor/processor.ts";
export { webhookPath } from "./processor/webhook-endpoints.ts";
export { reconcileJobs, scheduleReconciliation, wordsOf } from "./reconcile/reconcile.ts";
export { lastReconciliation, type Reconciliation, selectDifferences } from "./reconcile/store.ts";
export { sumsAgree } from "./reconcile/sums.ts";
export { refundsOfRequest } from "./refund-rows.ts";
export { checkoutRoute, processorWebhook } from "./routes.ts";
export { renameSandboxPayments, type SandboxOutcome, sandboxPayment } from "./sandbox.ts";
export { type HeldPayment, heldPayments, paymentState, processorEventState } from "./store.ts";
export {
  askSupplement,
  dueCents,
  dueLossOf,
  dueOf,
  endsDebt,
  heldSupplements,
  leastSupplementCents,
  type Supplement,
  supplementCents,
  supplementReplacesLoss,
  supplementState,
  supplementsOf,
  supplementsOfCode,
  supplementsPaid,
  verifiedSupplementsOf,
  withdrawSupplement,
} from "./supplements.ts";
export {
  isUnapplied,
  resolveUnapplied,
  type UnappliedPayment,
  unappliedOf,
  unappliedPayments,
  verifiedSimultaneous,
  verifiedUnapplied,
} from "./unapplied.ts";
export { billingPartyState, defaultZone, zoneOf, zoneOrDefault } from "./zone.ts";

export const protectedTables = [
  ...moneyRows,
  ...checkoutRows,
  ...methodRows,
  chargeRows,
  ...reconcileRows,
  supplementRows,
  sandboxRows,
];

type JobDeps = { db: Database; clock: Clock; log: Log; processor: Processor | null };

/** The jobs that call the processor after an order has moved: they close sessions and refund payments. */
export function paymentJobs(jobs: Jobs, deps: JobDeps): void {
  jobs.work<{ orderId: number }>(closeCheckoutQueue, ({ orderId }) => closeCheckouts(deps, orderId));
  jobs.work<{ orderId: number }>(refundQueue, ({ orderId }) => refund(deps, orderId));
  jobs.work<{ paymentIntent: string }>(refundCheckQueue, ({ paymentIntent }) => checkRefunds(deps, paymentIntent));
}

/** Opens tasks for payments that a bank, the processor or a payer has not answered in time. */
export async function watchPayments(deps: { db: Database; clock: Clock; log: Log }): Promise<void> {
  await watchPending(deps);
  await watchCharges(deps);
  await watchSupplements(deps);
}

/** The jobs that call the processor about firms' own payment methods. */
export function firmPaysJobs(jobs: Jobs, deps: ChargeDeps & { log: Log }): void {
  jobs.work<ChargeJob>(firmChargeQueue, (job, { attempt }) => sendCharges(deps, job, attempt > 1));
  jobs.work<{ id: string }>(methodQueue, ({ id }) => saveMethod(deps, id));
  jobs.work<{ id: string }>(detachQueue, ({ id }) => detachMethod(deps, id));
  jobs.work<{ partnerId: string }>(sandboxQueue, ({ partnerId }, { signal }) =>
    takeSandboxSteps(deps, signal, partnerId),
  );
}

/**
 * Refunds all held payments of an order. Of a payment for several orders, refunds only this order's share. The order
 * stays in RefundPending until the processor confirms; sandbox money is refunded at once. A forged job refunds nothing,
 * because the order's MAC covers the status RefundPending. While a payment is disputed, nothing is refunded; the bank's
 * decision queues the job again. The same holds while a refund made at the processor is not assigned to its orders,
 * unless nothing is left to refund.
 */
async function refund(deps: JobDeps, orderId: number): Promise<void> {
  const { db, clock, log } = deps;
  const [order] = await db.query<{ status: string; code: string }>(
    sql`SELECT status, code AS "code@order", ${verifiedOrders} FROM orders WHERE id = ${orderId}`,
  );
  if (order?.status !== "RefundPending") return;
  // A page on which a supplement could be paid would take money for an order that ends.
  await closeCheckouts(deps, orderId);
  if (await isDisputed(db, orderId)) return;
  const held = await heldPayments(db, orderId);
  if (held.length > 0 && held.every(isLost))
    await db.transaction(async (tx) => {
      const locked = await lockOrder(tx, order.code);
      const options = { at: clock(), log, actor: "processor", simulated: false, livemode: null } as const;
      if (locked) await endLost(tx, locked, options);
    });
  if (await awaitsAssignment(deps, orderId)) return;
  for (const payment of held) await giveBack(deps, payment, payment.isShared);
}

/**
 * Refunds what the service still holds of one payment, without the part that the bank took back. Sandbox money is
 * refunded at once.
 * @param asShare refunds only this order's share, minus earlier refunds of it; otherwise everything that the payer paid
 */
export async function giveBack(deps: JobDeps, payment: HeldPayment, asShare: boolean): Promise<void> {
  const { db, clock, log, processor } = deps;
  const { id, paymentIntent, simulated, lostCents } = payment;
  // The processor's list of refunds names the parts that were requested here, and the adapter subtracts those.
  const amountCents = payment.amountCents - lostCents - payment.byHandCents;
  if (amountCents <= 0 || isLost(payment)) return;
  if (simulated && (asShare || lostCents > 0))
    return giveSandboxPart(deps, { request: shareRequest(id), payment: id, paymentIntent, amountCents });
  if (simulated) {
    const object = { payment_intent: paymentIntent, refunded: true };
    const event = { id: `sandbox:refund:${id}`, type: "charge.refunded", data: { object } };
    const options = { at: clock(), log, actor: "sandbox", simulated: true, livemode: null } as const;
    await db.transaction((tx) => takeEvent(tx, event, options));
    return;
  }
  if (!processor) throw new Error("payments are not configured: the refund waits");
  if (paymentIntent === null) throw new Error("the payment has no payment intent: refund it at the processor");
  if (asShare || lostCents > 0) await processor.refundShare({ payment: id, paymentIntent, amountCents });
  else await processor.refund(String(id), paymentIntent);
}

/** Refunds a part of sandbox money, by the same code that applies the processor's events. */
export async function giveSandboxPart(
  { db, clock, log }: Omit<JobDeps, "processor">,
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
  const options = { at: clock(), log, actor: "sandbox", simulated: true, livemode: null } as const;
  await db.transaction((tx) => takeEvent(tx, event, options));
}

/**
 * Finds partial refunds that somebody made at the processor without a request here. Opens a task for each: a person
 * finds out why it was made and, if several orders share the payment, which of them it was for. Moves nothing.
 */
async function checkRefunds({ db, clock, processor }: JobDeps, paymentIntent: string): Promise<void> {
  // The processor does not know the payments of the sandbox.
  if (paymentIntent.startsWith("sandbox:")) return;
  const payees = await payeesOfIntent(db, paymentIntent);
  const [first] = payees;
  if (!processor || !first || (await isGivenBack(db, paymentIntent))) return;
  const isShared = payees.length > 1;
  for (const { id, amountCents, isOurs } of await processor.refundsOf(paymentIntent)) {
    if (isOurs) continue;
    const [of, ask] = isShared
      ? [`a payment for ${payees.length} orders`, "Find out which orders it was for, and say so under Payments."]
      : ["the payment", "It has its credit note. Find out why, and note it."];
    const reason = `${dollars(amountCents)} of ${of} went back at the processor (${id}) without a request here. ${ask}`;
    // People may have assigned the refund before this check.
    const from = sql`orders o WHERE o.id = ${first.orderId} AND ${neverOpened("refund_by_hand", id)}
      AND NOT (${isShared} AND EXISTS (SELECT FROM billing_documents d JOIN payments p ON p.id = d.payment_id
        WHERE p.payment_intent = ${paymentIntent} AND d.kind = 'credit_note' AND d.refund = ${id}))`;
    const environment = sql`o.environment`;
    const task = {
      kind: "refund_by_hand",
      at: clock(),
      environment,
      orderId: first.orderId,
      subject: id,
      reason,
    } as const;
    await db.transaction((tx) => openTask(tx, task, from));
  }
}
