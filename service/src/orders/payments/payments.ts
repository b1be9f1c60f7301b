import { type Clock, minuteMs } from "../../kernel/platform/clock.ts";
import type { Database, Sql } from "../../kernel/platform/database/database.ts";
import { type Statement, sql } from "../../kernel/platform/database/sql.ts";
import { markedAll } from "../../kernel/platform/database/state-mac.ts";
import { enqueueAfter, type Jobs } from "../../kernel/platform/jobs/jobs.ts";
import type { Log } from "../../kernel/platform/logs.ts";
import {
  closeCheckoutQueue,
  firmChargeQueue,
  firmWaitQueue,
  joinOrder,
  type Payable,
  refundQueue,
} from "../order/order.ts";
import type { ChargeDeps } from "./charges/charges.ts";
import { type ChargeJob, sendCharges } from "./charges/send-charges.ts";
import { watchCharges } from "./charges/stuck.ts";
import { payerRows } from "./checkout/payers.ts";
import { watchPending } from "./checkout/pending.ts";
import { closeCheckouts, OpenElsewhere, OpenWithoutKey } from "./checkout/sessions.ts";
import { checkoutRows, lastCheckoutEnd } from "./checkout/store.ts";
import { watchSupplements } from "./debts/unpaid.ts";
import { watchCards } from "./methods/card-expiry.ts";
import { detachMethod, detachQueue, methodQueue, saveMethod } from "./methods/methods.ts";
import { leaveMethods } from "./methods/unusable.ts";
import { accountQueue } from "./processor/account.ts";
import { reconcileRows } from "./reconcile/store.ts";
import { chargeRows } from "./records/charges.ts";
import { lossPaymentRows } from "./records/loss-payments.ts";
import { methodRows } from "./records/methods.ts";
import { moneyRows, paymentState, refundCheckQueue } from "./records/payments.ts";
import { sandboxQueue, sandboxRows } from "./records/sandbox-steps.ts";
import { supplementRows } from "./records/supplements.ts";
import { checkRefunds, type RefundJobDeps, refundOrder } from "./refunds/give-back.ts";
import { resumeFreeRefunds } from "./refunds/whole-refund.ts";
import { applySandboxSteps } from "./sandbox/bank.ts";

export { chargeWaiting, type LeftOrder, leftText, maxAtOnce } from "./charges/charge-waiting.ts";
export { type ChargeDeps, chargeByMember, type ExpectedCharge } from "./charges/charges.ts";
export { listedPayments, type PaymentOfFirm, paymentsOfFirm } from "./charges/firm-payments.ts";
export { chargeGroup, chargeOfOrder, type GroupCharge, type GroupChargeEnd } from "./charges/group.ts";
export {
  expectedRefusal,
  type LimitRefusal,
  listSpenders,
  type Spender,
  setLimit,
  spentThisMonth,
} from "./charges/limits.ts";
export {
  endCharge,
  endOwnCharge,
  isOverdueCharge,
  overdueOf,
  type StuckCharges,
  stuckCharges,
} from "./charges/stuck.ts";
export { queuedForCharge, sumOfWaiting, type Waiting, waitingMail, waitingOrders } from "./charges/waiting.ts";
export {
  acceptsPayment,
  type CheckoutDeps,
  checkoutOfNewOrder,
  checkoutUrl,
  type Member,
  type SharedCheckout,
  sharedCheckout,
} from "./checkout/checkout.ts";
export { letClientPay, letClientsPay, type ShownOrder, whyClientsCantPay } from "./checkout/let-client-pay.ts";
export {
  clientSupplement,
  isByClient,
  isFirmPaying,
  isLossOfFirm,
  isPaidByFirm,
  mayBePaidByFirm,
  payerInProcess,
  payerOnPage,
  wasPaidByFirm,
} from "./checkout/payers.ts";
export { endPendingPayment, type PendingPayment, pendingPayments } from "./checkout/pending.ts";
export { mayBeRefused, type RefusalKind, refusalsOf } from "./checkout/refusals.ts";
export { isBeingPaid, isPaymentInProcess } from "./checkout/store.ts";
export { bookLossPayment, reverseLossPayment, type TypedLossPayment } from "./debts/book-loss-payment.ts";
export {
  debtsOfFirms,
  type LossToBook,
  lossesToBook,
  type OpenLoss,
  openLossesOfFirm,
  openLossesOfOrder,
} from "./debts/open-losses.ts";
export {
  type AcceptsPayment,
  allowPayAgain,
  type PayAgain,
  payAgainOf,
  refundedFirst,
  unpaidLossOf,
} from "./debts/pay-again.ts";
export { chargeMail, methodMail, methodName, reasonWords } from "./mails/charge-mail.ts";
export { moneyMail } from "./mails/money-mail.ts";
export { acceptsMethods, askForMethod, type FirmPaysDeps, finishTestSetup, removeMethod } from "./methods/methods.ts";
export { testMethods } from "./methods/sandbox-account.ts";
export { howToReplace, isRefused, presentAccount, whyUnreadIsRefused } from "./processor/account.ts";
export { isTestModeKey, openProcessor, type Processor } from "./processor/processor.ts";
export { webhookPath } from "./processor/webhook-endpoints.ts";
export { lastReconciliation, type OpenDifferences, openDifferences, type Reconciliation } from "./reconcile/days.ts";
export { processorTasks, reconcileJobs } from "./reconcile/reconcile.ts";
export { sumsAgree } from "./reconcile/sums.ts";
export {
  type ChargeOfOrder,
  type ChargeState,
  chargesOfCode,
  type FirmCharge,
  type FirmMethod,
  firmPaysColumns,
  isOpenCharge,
  type PayingMethod,
  payingMethod,
  type SpendingRefusal,
  sumOfCharges,
  unpaidPayments,
} from "./records/charges.ts";
export { isDisputed, openDisputes, settledRefundQueue } from "./records/disputes.ts";
export { billingDocumentState, lockBilling, restBefore } from "./records/documents.ts";
export {
  type LossPaymentWay,
  lossPaymentState,
  lossPaymentWays,
  paidAtInBooks,
  wayText,
} from "./records/loss-payments.ts";
export { accountChange, activeMethod, expiryOf, type PaymentMethod, selectMethods } from "./records/methods.ts";
export { isPaidOutside, type OutsideWay, outsideWay, outsideWays } from "./records/outside-notes.ts";
export { type HeldPayment, heldPayments, paymentState } from "./records/payments.ts";
export { type RefundRowState, refundsOfRequest, shareRefundsOf } from "./records/refunds.ts";
export { bringSandboxMoneyNearer } from "./records/sandbox-steps.ts";
export {
  askSupplement,
  dueCents,
  dueLossOf,
  dueOf,
  endsDebt,
  heldSupplements,
  isPostageDue,
  type Supplement,
  supplementCents,
  supplementReplacesLoss,
  supplementState,
  supplementsOf,
  supplementsOfCode,
  supplementsPaid,
  verifiedSupplementsOf,
  withdrawSupplement,
} from "./records/supplements.ts";
export {
  type ExtraPayment,
  extraPaymentsOf,
  isUnapplied,
  resolveUnapplied,
  type UnappliedPayment,
  unappliedOf,
  unappliedPayments,
  verifiedSimultaneous,
  verifiedUnapplied,
} from "./records/unapplied.ts";
export { billingPartyState, defaultZone, zoneOf, zoneOrDefault } from "./records/zone.ts";
export {
  type AssignedPart,
  awaitsAssignment,
  bookRefundByHand,
  intentOfRefund,
  isOnItsWay,
  isRefundIn,
  isUnassignedRefund,
  lockRefundByHand,
  missingRefunds,
  type RefundByHand,
  refundsByHand,
  refundsOnPage,
  unassignedRefund,
} from "./refunds/by-hand.ts";
export { giveBack, giveSandboxPart, type RefundJobDeps, refundAtProcessor } from "./refunds/give-back.ts";
export { booksMoney, endFailedRefund, type FailedRefundAnswer, type WaitingPart } from "./refunds/paid-outside.ts";
export { undoPaidOutside } from "./refunds/undo-outside.ts";
export { checkoutRoute, processorWebhook } from "./routes.ts";
export { applySandboxSteps } from "./sandbox/bank.ts";
export { testMethodRoute } from "./sandbox/method-route.ts";
export { renameSandboxPayments, sandboxPayment } from "./sandbox/payment.ts";

/** SQL expression: the firm of a payment. */
export const partnerOfPayment = (id: Statement): Statement =>
  sql`(SELECT o.partner_id FROM payments p ${joinOrder(sql`p.order_id`)} WHERE p.id = ${id})`;

/**
 * SQL fragments with which other features read payments (alias `p`), the documents about them (alias as passed), and
 * the supplements that they pay (alias `u`).
 */
export const fromPayments: Statement = sql`FROM payments p`;

export const joinPayment = (id: Statement): Statement => sql`JOIN payments p ON p.id = ${id}`;

export const billingDocuments = (as: Statement): Statement => sql`billing_documents ${as}`;

/** Money that firms paid outside the processor for lost payments, and the reversals of such bookings. */
export const lossPayments = (as: Statement): Statement => sql`loss_payments ${as}`;

export const fromSupplements: Statement = sql`FROM supplements u`;

/** The join of the supplement that a payment pays, if any. */
export const leftJoinSupplement = (paymentId: Statement): Statement =>
  sql`LEFT JOIN supplements u ON u.payment_id = ${paymentId}`;

/** Selects the `order_id` of each order that this payment paid. @param intent the processor's id of the payment */
export const ordersPaidBy = (intent: string): Statement =>
  sql`SELECT order_id FROM payments WHERE payment_intent = ${intent}`;

/**
 * For the retention plan, which needs to know if an order's documents are still needed. They are needed while a
 * checkout of the order may still be paid, or while a payment was not refunded.
 */
export const payable: Payable = {
  lastCheckoutEnd,
  isPaid: (orderId) => sql`EXISTS (SELECT FROM payments WHERE order_id = ${orderId} AND refunded_at IS NULL)`,
  authentic: (orderId) => markedAll(paymentState, sql`p`, sql`FROM payments p WHERE p.order_id = ${orderId}`),
};

export const protectedTables = [
  ...moneyRows,
  lossPaymentRows,
  ...checkoutRows,
  payerRows,
  ...methodRows,
  chargeRows,
  ...reconcileRows,
  supplementRows,
  sandboxRows,
];

const otherNodeMs = 5 * minuteMs;

/**
 * Runs a job's work. If a checkout page can't be closed here, queues the job again. The page may stay open for a day,
 * but a job's retries end within minutes. For a page of an earlier account, queues the job in the queue `ended` for the
 * time when the page expires. On a node without the processor's key, queues the job every few minutes, until a node
 * with the key runs it.
 */
async function afterOpenPage(
  db: Sql,
  { queue, job, ended = queue }: { queue: string; job: object; ended?: string },
  work: () => Promise<void>,
): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (error instanceof OpenWithoutKey) await enqueueAfter(db, queue, job, otherNodeMs);
    else if (error instanceof OpenElsewhere) await enqueueAfter(db, ended, job, error.endsInMs);
    else throw error;
  }
}

/** The jobs that close checkouts, refund payments, and find refunds made at the processor without a request here. */
export function paymentJobs(jobs: Jobs, deps: RefundJobDeps): void {
  const { db } = deps;
  jobs.work<{ orderId: number }>(closeCheckoutQueue, (job) =>
    afterOpenPage(db, { queue: closeCheckoutQueue, job }, () => closeCheckouts(deps, job.orderId)),
  );
  jobs.work<{ orderId: number }>(refundQueue, (job) =>
    // When only a page of an earlier account is still open, `refundOrder` has made the refund or opened its task. So
    // the job moves to the queue that closes pages.
    afterOpenPage(db, { queue: refundQueue, job, ended: closeCheckoutQueue }, () => refundOrder(deps, job.orderId)),
  );
  jobs.work<{ paymentIntent: string }>(refundCheckQueue, ({ paymentIntent }) => checkRefunds(deps, paymentIntent));
}

/**
 * Opens tasks for payments when an answer of a bank, the processor or a payer is overdue. Mails firms whose card
 * expires. Queues refunds of $0.00 again, because no event ends them. The signal stops the work between two payments.
 */
export async function watchPayments(
  deps: { db: Database; clock: Clock; log: Log },
  stopping?: AbortSignal,
): Promise<void> {
  const resume = () => resumeFreeRefunds(deps.db);
  const watches = [watchPending, watchCharges, watchSupplements, watchCards, resume];
  for (const watch of watches) {
    if (stopping?.aborted) return;
    await watch(deps, stopping);
  }
}

/** The jobs of charges to firms and of firms' payment methods, and the simulated bank's steps. */
export function firmPaysJobs(jobs: Jobs, deps: ChargeDeps & { log: Log }): void {
  jobs.work<ChargeJob>(firmChargeQueue, (job, { attempt }) =>
    afterOpenPage(deps.db, { queue: firmChargeQueue, job }, () => sendCharges(deps, job, attempt > 1)),
  );
  jobs.work<ChargeJob>(firmWaitQueue, (job) => sendCharges(deps, { ...job, methodId: null }, false));
  jobs.work<{ id: string }>(methodQueue, ({ id }) => saveMethod(deps, id));
  jobs.work(accountQueue, () => leaveMethods(deps));
  jobs.work<{ id: string }>(detachQueue, ({ id }) => detachMethod(deps, id));
  jobs.work<{ partnerId: string }>(sandboxQueue, ({ partnerId }, { signal }) =>
    applySandboxSteps(deps, signal, partnerId),
  );
}
