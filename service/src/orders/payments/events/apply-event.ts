import type { Tx } from "../../../kernel/platform/database/database.ts";
import { maskCode } from "../../../kernel/platform/ids.ts";
import { enqueue } from "../../../kernel/platform/jobs/jobs.ts";
import { maskCodes } from "../../../kernel/platform/logs.ts";
import { closeTasks, openTask } from "../../../kernel/tasks/tasks.ts";
import { closeCheckoutQueue, type LockedOrder, orderPayer } from "../../order/order.ts";
import { applyCharge } from "../charges/charge-events.ts";
import { payerOfCheckout } from "../checkout/payers.ts";
import { currency } from "../checkout/sessions.ts";
import { bindSession, endProcessorSession, hasPendingFunds, sessionPayees } from "../checkout/store.ts";
import { reportFirmsDebit } from "../debts/unpaid.ts";
import { applyCard } from "../methods/card-expiry.ts";
import { applySetup } from "../methods/methods.ts";
import { applyMandate, applyReturnedDebit } from "../methods/unusable.ts";
import { type DisputeMessage, readMessage, type SessionMessage, timeOf } from "../processor/message.ts";
import type { SignedEvent } from "../processor/processor.ts";
import { chargesOfOrder, isOpenCharge } from "../records/charges.ts";
import { disputesOfIntent, recordDispute } from "../records/disputes.ts";
import { recordEvent, recordOutcome, recordParts, refundCheckQueue } from "../records/payments.ts";
import { refundsOfIntent } from "../records/refunds.ts";
import {
  type Applied,
  type ApplyOptions,
  appliedAs,
  applyPartRefund,
  applySession,
  type Outcome,
  type Share,
} from "./apply.ts";
import { applyDispute, bookDispute } from "./apply-dispute.ts";
import { lockPayees } from "./payees.ts";
import { type LockedPayees, type Named, readRefund } from "./refund-events.ts";
import { untilDecided, wrongSum } from "./sum-words.ts";

export type { Applied, Outcome } from "./apply.ts";

/**
 * Applies one verified event to all orders whose money it is about, in the caller's transaction. Nothing else sets an
 * order to Paid. A repeated or foreign event changes nothing; a late one moves no order, but its money is recorded.
 * @returns the result for the order; of several orders, the result that most needs a person
 */
export async function applyEvent(tx: Tx, event: SignedEvent, options: ApplyOptions): Promise<Applied> {
  if (!(await recordEvent(tx, event.id, event.type, options.at))) return appliedAs("repeated");
  const { results, paid } = await read(tx, event, options);
  await concludeAll(tx, event, results, options);
  // `applyEarlier` runs last, because it applies disputes that arrived before their payment. For these it needs the
  // outcome that `concludeAll` records: whether the payment paid an order.
  return mostUrgent(paid === null ? results : await applyEarlier(tx, paid, results, options));
}

const urgencies: Readonly<Partial<Record<Outcome, number>>> = { unapplied: 0, held: 1, moved: 2 };
const urgency = ({ outcome }: Applied): number => urgencies[outcome] ?? 3;

const mostUrgent = (results: readonly Applied[]): Applied =>
  [...results].sort((one, other) => urgency(one) - urgency(other))[0] ?? appliedAs("unknown");

/** Records the results for all orders of an event. */
async function concludeAll(
  tx: Tx,
  event: SignedEvent,
  results: readonly Applied[],
  options: ApplyOptions,
): Promise<void> {
  const [only = appliedAs("unknown")] = results;
  if (results.length <= 1) {
    await recordOutcome(tx, event.id, only.order?.id ?? null, only.outcome);
    await report(tx, event.id, event, only, options);
    return;
  }
  const { outcome } = mostUrgent(results);
  await recordOutcome(tx, event.id, null, outcome === "unapplied" ? "parts" : outcome);
  // If money moved no order, a person decides about it for each order separately. So in addition to the event's own
  // row, each order gets a row.
  const parts = results.map((applied, n) => ({ id: `${event.id}:${n + 1}`, applied }));
  const rows = parts.map(({ id, applied }) => ({ id, orderId: applied.order?.id ?? null, outcome: applied.outcome }));
  await recordParts(tx, rows, event.type, options.at);
  for (const { id, applied } of parts) await report(tx, id, event, applied, options);
}

/** Logs what the event did to one order. If the service holds money that paid no order, also opens a task about it. */
async function report(tx: Tx, id: string, event: SignedEvent, applied: Applied, options: ApplyOptions): Promise<void> {
  const { outcome, order } = applied;
  if (outcome === "unapplied" && order && applied.isHeld) {
    const { id: orderId, environment } = order;
    await openTask(tx, { kind: "payment_unapplied", at: options.at, environment, orderId, subject: id });
  }
  const line = {
    event: maskCodes(id),
    type: event.type,
    outcome,
    order: order && maskCode(order.code),
    status: order?.status,
  };
  if (outcome === "held" || outcome === "unapplied") options.log.error(line, "money of the processor needs a person");
  else if (outcome === "foreign" || outcome === "unknown")
    options.log.warn(line, "an event of the processor is not ours");
  else options.log.info(line, "an event of the processor");
}

type Read = {
  results: Applied[];
  /** The payment that the event reported for the first time; null for none. */
  paid: string | null;
};

const unpaid = (...results: Applied[]): Read => ({ results, paid: null });

async function read(tx: Tx, event: SignedEvent, options: ApplyOptions): Promise<Read> {
  // Ignores events about connected accounts, which have this field. The service has no connected accounts.
  if (event.account !== undefined && event.account !== null) return unpaid(appliedAs("foreign"));
  if (isOnlyTest(event, options.livemode)) return unpaid(appliedAs("foreign"));
  const message = readMessage(event);
  if (!message) return unpaid(appliedAs("irrelevant"));
  if (message.kind === "setup") return unpaid(appliedAs((await applySetup(tx, message)) ? "saved" : "unknown"));
  if (message.kind === "mandate")
    return unpaid(appliedAs((await applyMandate(tx, message, options)) ? "saved" : "unknown"));
  if (message.kind === "card") return unpaid(appliedAs((await applyCard(tx, message, options)) ? "saved" : "unknown"));
  const locked = await lockPayees(tx, message);
  const { orders } = locked;
  // Ignores live money for a test order.
  if (orders.some(({ environment }) => environment === "test") && event.livemode === true)
    return unpaid(appliedAs("foreign", orders[0]));
  if (message.kind === "disputed")
    return unpaid(...(await readDispute(tx, message, orders, { ...options, eventAt: timeOf(event, options.at) })));
  if (message.kind === "refunded") return unpaid(...(await readRefund(tx, message, locked, options)));
  return orders.length === 0 ? unpaid(appliedAs("unknown")) : readSession(tx, message, locked, options);
}

/**
 * Records a dispute, and applies it to every order that the disputed payment paid. The event of the payment itself may
 * arrive later.
 */
async function readDispute(
  tx: Tx,
  message: DisputeMessage,
  orders: readonly LockedOrder[],
  options: ApplyOptions & { eventAt: Date },
): Promise<Applied[]> {
  const { isChange, ...dispute } = await recordDispute(tx, message, options);
  const booked = await bookDispute(tx, dispute, options.at);
  const results: Applied[] = [];
  for (const order of orders) results.push(await applyDispute(tx, order, dispute, { ...options, isChange, booked }));
  // Locks the firm's methods only now, after the receipts of the payment. `applyEarlier` locks in the same sequence, so
  // the two can't deadlock.
  await applyReturnedDebit(tx, dispute, options);
  return orders.length === 0 ? [appliedAs("unknown")] : results;
}

/**
 * True for a test-mode event on a node with a live key. A live event is applied even on a node with a test key, because
 * its money is real. That key may be a mistake, and the processor sends each event to one node only.
 */
const isOnlyTest = ({ livemode }: SignedEvent, isLiveKey: boolean | null | undefined): boolean =>
  livemode === false && isLiveKey === true;

async function readSession(
  tx: Tx,
  message: SessionMessage,
  { payees, orders }: LockedPayees,
  options: ApplyOptions,
): Promise<Read> {
  const { sessionId, checkoutId, kind } = message;
  // The session is read only after its orders are locked, because until then another event may change the session's
  // status.
  if (sessionId !== null && checkoutId !== null) await bindSession(tx, checkoutId, sessionId);
  const session = message.chargeId === null ? await sessionPayees(tx, { sessionId, checkoutId }) : undefined;
  const status = message.chargeId === null ? session?.status : await applyCharge(tx, message, options);
  const isFirms = kind !== "cleared" && session !== undefined && (await payerOfCheckout(tx, session.id)) === "firm";
  const end = kind === "pending" ? "pending_funds" : kind === "cleared" ? "complete" : kind;
  const hasEnded = sessionId !== null && (await endProcessorSession(tx, sessionId, end));
  if (hasEnded && kind !== "pending") await endWait(tx, orders, kind, options);
  // While a bank is moving the money, another open session of the order could also be paid. So such sessions are
  // closed.
  if (hasEnded && kind === "pending")
    for (const { id } of orders) await enqueue(tx, closeCheckoutQueue, { orderId: id });
  const shareOf = sharesOf(message, payees, orders);
  const results: Applied[] = [];
  for (const order of orders) {
    // A failure doesn't move the order in three cases:
    // - A charge failed, and the order waits for another payment.
    // - A charge failed, and the client pays the order by now. The client's mail would report the firm's failure as the
    //   client's.
    // - A card was declined in a checkout that has been closed.
    const isLate =
      kind === "failed" &&
      (message.chargeId === null
        ? sessionId === null && status === "expired"
        : (await orderPayer(tx, order.id)) === "client" || (await isAwaited(tx, order.id)));
    const about = { ...options, share: shareOf(order), status };
    // If the client is to pay the order, a checkout of the firm moves the order only when the money arrives.
    if (isFirms && (await orderPayer(tx, order.id)) === "client") {
      if (kind === "failed" && status !== "failed") await reportFirmsDebit(tx, order, message, about);
      results.push(appliedAs("stale", order));
      continue;
    }
    results.push(isLate ? appliedAs("stale", order) : await applySession(tx, order, message, about));
  }
  const isFirstClearing = kind === "cleared" && results.some(({ outcome }) => outcome !== "repeated");
  return { results, paid: isFirstClearing ? message.paymentIntent : null };
}

/** Applies the refunds and disputes of a payment whose events arrived before that of the payment itself. */
async function applyEarlier(
  tx: Tx,
  paymentIntent: string,
  results: readonly Applied[],
  options: ApplyOptions,
): Promise<Applied[]> {
  const orders = results.flatMap(({ order }) => order ?? []);
  const [only] = orders.length === 1 ? orders : [];
  // A refund that this service requested can't arrive before its payment, because the payment was already stored.
  for (const { id, state, request, amountCents } of only ? await refundsOfIntent(tx, paymentIntent) : [])
    if (only && state === "succeeded" && request === null && amountCents !== null)
      await applyPartRefund(tx, only, { paymentIntent, share: null, refund: id, amountCents }, options);
  // The queued check finds refunds of a payment for several orders, which only a person can assign.
  if (orders.length > 1) await enqueue(tx, refundCheckQueue, { paymentIntent });
  const after = new Map(orders.map((order) => [order.id, order]));
  for (const dispute of await disputesOfIntent(tx, paymentIntent)) {
    const booked = await bookDispute(tx, dispute, options.at);
    for (const order of after.values()) {
      const applied = await applyDispute(tx, order, dispute, { ...options, isChange: false, booked });
      if (applied.order) after.set(order.id, applied.order);
    }
    await applyReturnedDebit(tx, dispute, options);
  }
  return results.map((applied) => ({
    ...applied,
    order: (applied.order && after.get(applied.order.id)) ?? applied.order,
  }));
}

const isAwaited = async (tx: Tx, orderId: number): Promise<boolean> =>
  (await chargesOfOrder(tx, orderId)).some(isOpenCharge) || hasPendingFunds(tx, orderId);

/** Closes the task that asks a person to check with the processor, because the bank has answered. */
async function endWait(tx: Tx, orders: readonly LockedOrder[], outcome: string, { at, actor }: ApplyOptions) {
  const ids = orders.map(({ id }) => id);
  await closeTasks(tx, { orderId: ids, kinds: ["bank_payment"] }, { state: "done", at, by: actor, outcome });
}

/**
 * Divides the money among the orders. If the sum that arrived is not the sum of the parts, no order is paid. The money
 * is then recorded for the first order. Each order whose total the money was meant for is put on hold.
 */
function sharesOf(
  { kind, amount, currency: paidIn }: SessionMessage,
  payees: readonly Named[],
  orders: readonly LockedOrder[],
): (order: LockedOrder) => Share {
  if (payees.length <= 1 && payees.every(({ amountCents }) => amountCents === null))
    return () => ({ amount, mismatch: null, supplementId: null });
  const supplements = new Map(payees.map(({ orderCode, supplementId = null }) => [orderCode, supplementId]));
  const sum = payees.reduce((total, { amountCents }) => total + (amountCents ?? 0), 0);
  if (kind !== "cleared" || (amount === sum && paidIn?.toLowerCase() === currency)) {
    const parts = new Map(payees.map(({ orderCode, amountCents }) => [orderCode, amountCents]));
    return ({ code }) => ({
      amount: parts.get(code) ?? 0,
      mismatch: null,
      supplementId: supplements.get(code) ?? null,
    });
  }
  const mismatch = `${wrongSum({ amount, currency: paidIn }, sum)}, for ${payees.length} orders. All of them wait ${untilDecided}`;
  return ({ id, code }) => ({
    amount: id === orders[0]?.id ? amount : 0,
    mismatch,
    supplementId: supplements.get(code) ?? null,
  });
}
