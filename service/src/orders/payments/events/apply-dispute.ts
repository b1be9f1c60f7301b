import type { Environment } from "../../../kernel/identity/identity.ts";
import type { Tx } from "../../../kernel/platform/database/database.ts";
import { sql } from "../../../kernel/platform/database/sql.ts";
import { verified } from "../../../kernel/platform/database/state-mac.ts";
import { enqueue } from "../../../kernel/platform/jobs/jobs.ts";
import { closeTasks, neverOpened, openTask } from "../../../kernel/tasks/tasks.ts";
import { dollars } from "../../dollars.ts";
import { joinOrder, type LockedOrder, refundQueue, targetOf, transition } from "../../order/order.ts";
import { reviseLoss } from "../debts/pay-again.ts";
import { tellFirm } from "../mails/money-mail.ts";
import { type Dispute, settledRefundQueue } from "../records/disputes.ts";
import { restOf } from "../records/documents.ts";
import { bookLoss, lossBy, reverseLoss } from "../records/loss-documents.ts";
import { type HeldPayment, heldPayments, isLost, paymentState } from "../records/payments.ts";
import { type Applied, type ApplyOptions, appliedAs, appliedMove, endRefunded } from "./apply.ts";
import { sumText } from "./sum-words.ts";

/** The part of a dispute that concerns one order. */
type Part = {
  /**
   * The order's share of the disputed cents. Null if the bank named no amount in dollars, or if the share is 0. An open
   * dispute puts the order on hold even then.
   */
  cents: number | null;
  /** The cents that were returned to the service for an order that is already refunded. */
  owed: number;
};

/**
 * The sum that the bank claims for one order, as the order's tasks name it. The sums of all orders of a payment add up
 * to the dispute, even if the bank claims money that was already refunded.
 */
type Wanted = {
  /** The cents that the bank claims; null when it named no amount in dollars. */
  cents: number | null;
  /** The part of the claim that is already refunded. */
  twiceCents: number;
};

type BookedDispute = {
  /**
   * The part of each order, by order id. If a lost dispute is about a payment for several orders, an order that lost
   * nothing has no part.
   */
  parts: ReadonlyMap<number, Part>;
  /** The sum that the bank claims for each order of the payment, by order id. */
  wanted: ReadonlyMap<number, Wanted>;
};

/**
 * One payment of the intent. `restCents`: the cents of the payment that are left. `lostCents`: its part of this
 * dispute's loss; null for none.
 */
type Open = { restCents: number; lostCents: number | null };

/**
 * Divides a disputed sum among the orders of a payment, in proportion to the rest of each. Divides at most the sum of
 * these rests. The cents that remain after rounding are charged to the last orders that still have a rest. A repeated
 * event gives each order the same share.
 */
export function sharesOf(amountCents: number, open: readonly Open[]): number[] {
  const lostCentsSum = open.reduce((sum, { lostCents }) => sum + (lostCents ?? 0), 0);
  const rests = open.map(({ restCents, lostCents }) => (lostCents === null ? restCents : 0));
  const total = rests.reduce((sum, cents) => sum + cents, 0);
  const wanted = Math.max(0, Math.min(amountCents - lostCentsSum, total));
  // Cents of two sums are multiplied. The product can exceed the integers that a JavaScript number represents exactly.
  const shares = rests.map((cents) => (total === 0 ? 0 : Number((BigInt(wanted) * BigInt(cents)) / BigInt(total))));
  let remaining = wanted - shares.reduce((sum, cents) => sum + cents, 0);
  for (let index = shares.length - 1; index >= 0 && remaining > 0; index--) {
    const more = Math.min(remaining, (rests[index] ?? 0) - (shares[index] ?? 0));
    shares[index] = (shares[index] ?? 0) + more;
    remaining -= more;
  }
  return shares.map((cents, index) => open[index]?.lostCents ?? cents);
}

/**
 * Books the loss from a lost dispute: each payment that the dispute concerns gets its share (`sharesOf`). If the bank
 * later decides for the service, reverses the loss. If an order was refunded by then, opens a task, because the service
 * owes the money. For an open dispute, books nothing.
 */
export async function bookDispute(tx: Tx, dispute: Dispute, at: Date): Promise<BookedDispute> {
  const { id, paymentIntent, amountCents, state } = dispute;
  const parts = new Map<number, Part>();
  const all = await paymentsOf(tx, paymentIntent);
  const payments = all.filter(({ hasReceipt }) => hasReceipt);
  const isShared = payments.length > 1;
  const owedBefore = new Map<number, number>();
  if (state === "won")
    for (const { id: paymentId } of payments) owedBefore.set(paymentId, await reverseLoss(tx, paymentId, id, at));
  const open: Open[] = [];
  for (const { id: paymentId } of payments)
    open.push({ restCents: await restOf(tx, paymentId), lostCents: await lossBy(tx, paymentId, id) });
  const shares = sharesOf(amountCents ?? Number.MAX_SAFE_INTEGER, open);
  for (const [index, { id: paymentId, orderId, environment }] of payments.entries()) {
    const of = { orderId, environment };
    const task = { kind: "refund_failed", subject: `${id}:won`, ...of } as const;
    const owed = owedBefore.get(paymentId) ?? 0;
    const reason = `The bank decided for the service (${id}), and ${dollars(owed)} of a refunded order came back. The service owes it: pay it back in another way, and note how.`;
    if (owed > 0) await openTask(tx, { ...task, at, reason });
    let cents = isShared ? (shares[index] ?? 0) : 0;
    if (state === "lost") {
      cents = await bookLoss(tx, paymentId, { dispute: id, cents: shares[index] ?? 0 }, at);
      const end = { state: "dropped", at, by: "processor", outcome: "the bank took it back again" } as const;
      await closeTasks(tx, { orderId: task.orderId, kinds: [task.kind], subject: task.subject }, end);
    }
    const own = isShared && amountCents !== null ? cents : amountCents;
    if (!isShared || state !== "lost" || cents > 0) parts.set(orderId, { cents: own || null, owed });
  }
  const shareOf = new Map(payments.map(({ id: paymentId }, index) => [paymentId, shares[index] ?? 0]));
  return { parts, wanted: wantedOf(amountCents, all, shareOf) };
}

/**
 * Divides the disputed sum among all orders of a payment. The bank may claim more than the sum of the orders' shares,
 * because money was already refunded. The difference is divided among the orders that got refunds.
 */
function wantedOf(
  amountCents: number | null,
  all: readonly PaymentOfIntent[],
  shareOf: ReadonlyMap<number, number>,
): ReadonlyMap<number, Wanted> {
  const receipted = new Set(all.flatMap(({ orderId, hasReceipt }) => (hasReceipt ? [orderId] : [])));
  // A refund that arrived before its payment left a placeholder without money of its own. It is left out once its order
  // has a receipt.
  const counted = all.filter(({ orderId, hasReceipt }) => hasReceipt || !receipted.has(orderId));
  const shares = counted.map(({ id }) => shareOf.get(id) ?? 0);
  const above = Math.max(0, (amountCents ?? 0) - shares.reduce((sum, cents) => sum + cents, 0));
  const returned = counted.map((payment, index) => payment.amountCents - (shares[index] ?? 0));
  const twice = sharesOf(
    above,
    returned.map((restCents) => ({ restCents, lostCents: null })),
  );
  // The cents that the bank claims in addition to everything that was paid.
  const beyond = above - twice.reduce((sum, cents) => sum + cents, 0);
  return new Map(
    counted.map(({ orderId }, index) => {
      const twiceCents = (twice[index] ?? 0) + (index === 0 ? beyond : 0);
      const cents = amountCents === null ? null : (shares[index] ?? 0) + twiceCents;
      return [orderId, { cents, twiceCents: cents === null ? 0 : twiceCents }];
    }),
  );
}

type PaymentOfIntent = {
  id: number;
  orderId: number;
  environment: Environment;
  amountCents: number;
  /** False for the placeholder of a refund that arrived before its payment. */
  hasReceipt: boolean;
};

/** The payments of a payment intent, oldest first. @throws ServiceError `unavailable` for an altered payment */
const paymentsOf = (tx: Tx, paymentIntent: string) =>
  tx.query<PaymentOfIntent>(sql`
    SELECT p.id, o.id AS "orderId", o.environment, p.amount_cents::float8 AS "amountCents", ${verified(paymentState, sql`p`)},
      EXISTS (SELECT FROM billing_documents d WHERE d.payment_id = p.id AND d.kind = 'receipt') AS "hasReceipt"
    FROM payments p ${joinOrder(sql`p.order_id`)} WHERE p.payment_intent = ${paymentIntent} ORDER BY p.id`);

const isNeverOpened = async (tx: Tx, subject: string): Promise<boolean> =>
  (await tx.query(sql`SELECT WHERE ${neverOpened("dispute", subject)}`)).length === 1;

/**
 * Applies a dispute to one of the orders that the disputed money paid. An open dispute puts the order on hold and opens
 * a task with the amount. A loss opens another task. The order is then put on hold or stays on hold, unless it is being
 * refunded. An order that can't be held, such as a completed one, stays unchanged. After either decision, refunds that
 * waited continue.
 * @param options `isChange`: true if the event changed the dispute, so that the firm is notified. The firm is also
 * notified if the order never had a task about the dispute: the dispute may have arrived before the payment. `booked`:
 * the result of `bookDispute`
 */
export async function applyDispute(
  tx: Tx,
  order: LockedOrder,
  dispute: Dispute,
  options: ApplyOptions & { isChange: boolean; booked: BookedDispute },
): Promise<Applied> {
  const { at, actor, isChange, booked } = options;
  const part = booked.parts.get(order.id);
  const { id: orderId, environment } = order;
  const { id: disputeId, state } = dispute;
  // If the payment was for several orders, each order gets its own task.
  const subject = `${disputeId}:${orderId}`;
  const unpaid = await reviseLoss(tx, order, { dispute: disputeId, actor, at });
  const lostSubject = `${subject}:lost`;
  const moment = state === "opened" ? "disputed" : state;
  const isFirst = await isNeverOpened(tx, subject);
  if ((isChange || isFirst) && (part || state !== "lost")) {
    const mail = { moment, cents: part?.cents ?? null, isOwed: (part?.owed ?? 0) > 0, isDue: unpaid > 0 } as const;
    await tellFirm(tx, order, { ...mail, about: `${disputeId}:${at.getTime()}` });
  }
  const isNew = state === "lost" ? await isNeverOpened(tx, lostSubject) : isFirst;
  const { sum, ofSum, twice } = sumsFor(order, dispute, booked);
  const task = { kind: "dispute", at, environment, orderId } as const;
  if (isNew && isFirst) {
    const reason = `The bank wants ${ofSum} back (${disputeId}).${twice} Answer at the payment processor. Refund nothing while it is open.`;
    await openTask(tx, { ...task, subject, reason });
  }
  if (state === "opened") return isNew ? hold(tx, order, sum, options) : appliedAs("stale", order);
  const end = { state: "done", at, by: actor, outcome: `the bank decided: ${state}` } as const;
  await closeTasks(tx, { orderId, kinds: ["dispute"], subject }, end);
  await enqueue(tx, settledRefundQueue, { orderId });
  if (state === "won") {
    await closeTasks(tx, { orderId, kinds: ["dispute"], subject: lostSubject }, end);
    if (order.status === "RefundPending") await enqueue(tx, refundQueue, { orderId });
    return appliedAs("stale", order);
  }
  if (!isNew) return appliedAs("stale", order);
  const ended = order.status === "RefundPending" ? await endLost(tx, order, options) : null;
  const words = ended
    ? "The order is refunded with it. Note this loss."
    : "Decide on the order: let it be paid again, book what the firm pays by check or wire, or refund the order, after which the firm owes nothing for it. A refund returns only money that the service still holds.";
  // Opens another task for the loss, because a person may have closed the first one after answering the bank.
  const reason = `The bank took ${ofSum} back for good (${disputeId}).${twice} ${words}`;
  await openTask(tx, { ...task, subject: lostSubject, reason });
  if (ended) return ended;
  if (order.status !== "RefundPending") return hold(tx, order, sum, options);
  await enqueue(tx, refundQueue, { orderId });
  return appliedAs("stale", order);
}

/**
 * An order's part of a dispute in words. `sum`: the part alone. `ofSum`: the part and, if the payment was for several
 * orders, the whole sum. `twice`: a sentence about money that was already refunded; empty for none. The parts of all
 * orders add up to the dispute.
 */
function sumsFor({ id }: LockedOrder, { amountCents, foreign }: Dispute, { wanted }: BookedDispute) {
  const { cents = amountCents, twiceCents = 0 } = wanted.get(id) ?? {};
  if (cents === null || amountCents === null) {
    const sum = foreign ? sumText(foreign.amount, foreign.currency) : "money";
    return { sum, ofSum: sum, twice: "" };
  }
  const sum = dollars(cents);
  const whole = `${dollars(amountCents)} for ${wanted.size} orders`;
  const ofSum = wanted.size <= 1 ? sum : `${sum} of this order (a part of ${whole})`;
  const twice = twiceCents > 0 ? ` ${dollars(twiceCents)} of it went back before: the payer would have it twice.` : "";
  return { sum, ofSum, twice };
}

async function hold(tx: Tx, order: LockedOrder, sum: string, options: ApplyOptions): Promise<Applied> {
  if (targetOf(order, "held") === null) return appliedAs("stale", order);
  return appliedMove(await transition(tx, order, "held", { ...options, reason: `${sum} disputed at the bank` }));
}

/**
 * Ends an order in RefundPending when nothing is left to refund: the bank took the money back, partial refunds returned
 * it, or the order cost nothing.
 * @returns null if the order was not ended: some money is left, no payment is stored, or the order has another status
 */
export async function endLost(tx: Tx, order: LockedOrder, options: ApplyOptions): Promise<Applied | null> {
  const held = await heldPayments(tx, order.id);
  if (order.status !== "RefundPending" || held.length === 0 || !held.every(isLost)) return null;
  return endRefunded(tx, order, { ...options, reason: whyNothingIsLeft(held) });
}

function whyNothingIsLeft(held: readonly HeldPayment[]): string {
  if (held.some(({ lostCents }) => lostCents > 0)) return "The bank returned the money to the payer.";
  if (held.every(({ amountCents }) => amountCents === 0)) return "No money is left to refund.";
  return "All of the money was refunded in parts.";
}
