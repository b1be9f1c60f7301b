/**
 * Money that an operator returns outside the payment processor, such as by check, after a refund failed. It is booked
 * as a credit note. The note's name contains the way of the payment, so the note's MAC covers it.
 */
import { auditLine } from "../../../kernel/audit/audit.ts";
import type { Tx } from "../../../kernel/platform/database/database.ts";
import { sql } from "../../../kernel/platform/database/sql.ts";
import { verified } from "../../../kernel/platform/database/state-mac.ts";
import { invalid, ServiceError } from "../../../kernel/platform/errors.ts";
import { enqueue } from "../../../kernel/platform/jobs/jobs.ts";
import { finishTask, fromTasks, type TaskDeps } from "../../../kernel/tasks/tasks.ts";
import { dollars } from "../../dollars.ts";
import { fromOrders, type LockedOrder, lockOrder, orderNotFound, refundQueue } from "../../order/order.ts";
import { endPriceTasks } from "../debts/price-debt.ts";
import { tellFirm } from "../mails/money-mail.ts";
import { lockIntent, settledRefundQueue } from "../records/disputes.ts";
import { creditPart, lockedBooks, type Note } from "../records/documents.ts";
import { type OutsideWay, outsideWays } from "../records/outside-notes.ts";
import { payeesOfIntent, paymentState } from "../records/payments.ts";
import { refundsOfIntent } from "../records/refunds.ts";
import { undonePart } from "./undo-outside.ts";
import { elsewhereSubject, requireTaskLeft, wholeRefundOf } from "./whole-refund.ts";

const isOutsideWay = (text: string): text is OutsideWay => Object.hasOwn(outsideWays, text);

/**
 * An approved partial refund that no record shows as made. Its job waits, the processor has not reported it, or the
 * present account can't make it.
 */
export type WaitingPart = { request: string; payment: number; paymentIntent: string | null; amountCents: number };

/** Functions that find the order's waiting partial refunds, and close one. The `refunds` feature stores them. */
type WaitingParts = {
  find: (tx: Tx, orderId: number) => Promise<readonly WaitingPart[]>;
  close: (tx: Tx, part: { id: string; partnerId: string }, note: string) => Promise<void>;
};

/** The operator's answer that the money of a failed refund was not paid back outside the processor. */
const booksNothing = "none";

export type FailedRefundAnswer = {
  outcome: string;
  /** An `OutsideWay`; `none` if nothing is to be booked. */
  how: string;
  /** True if the money was paid back in addition to refunds that succeeded after this one failed. */
  isFurther: boolean;
};

/** True if the answer says that the money was returned outside the processor, so that it is booked. */
export const booksMoney = ({ how }: FailedRefundAnswer): boolean => how !== booksNothing;

/**
 * Ends the task about a failed refund, with a note. Books the money if it was returned outside the processor. Closes
 * the partial refund that only an earlier account can make, because its task would open again otherwise.
 * @throws ServiceError without an answer; when no held money can have been returned; while another refund of the
 * payment is open; and after another refund, unless the answer says that this money is additional. If nothing is
 * booked, also when the order would stay in RefundPending without a task.
 */
export async function endFailedRefund(
  deps: TaskDeps & { parts: WaitingParts },
  id: number,
  by: string,
  { outcome, how, isFurther }: FailedRefundAnswer,
): Promise<void> {
  if (!isOutsideWay(how) && how !== booksNothing) throw invalid("Choose how the money went back.");
  await finishTask(deps, id, by, outcome, async (tx, { orderId, subject }, at) => {
    if (orderId === null) return {};
    const waiting = await deps.parts.find(tx, orderId);
    const own = waiting.find(
      ({ request, paymentIntent }) => subject === elsewhereSubject(paymentIntent, orderId, request),
    );
    if (!own && !isOutsideWay(how)) {
      // An earlier release opened tasks whose subject names no partial refund. The queued job opens a task for the
      // partial refund that still waits.
      if (waiting.length > 0) await enqueue(tx, settledRefundQueue, { orderId });
      else await requireTaskLeft(tx, await lockedOrder(tx, orderId), subject);
      return {};
    }
    const order = await lockedOrder(tx, orderId);
    if (own) {
      const note = isOutsideWay(how) ? `Paid back ${outsideWays[how]}.` : `Ended without a refund: ${outcome.trim()}`;
      await deps.parts.close(tx, { id: own.request, partnerId: order.partnerId }, note);
    }
    if (!isOutsideWay(how)) return {};
    const others = waiting.filter((each) => each !== own);
    const refund = { order, subject, own, others };
    return { how, amountCents: await payBack(tx, refund, { how, isFurther, actor: by, at }) };
  });
}

type Payment = { id: number; paymentIntent: string | null; amountCents: number; isRefunded: boolean };

/** A part of a payment that came back to the service. `name` distinguishes it from other parts. */
type Returned = { payment: number; name: string; cents: number };

/** `own`: the approved partial refund that only an earlier account can make, if any. `others`: other waiting ones. */
type FailedRefund = { order: LockedOrder; subject: string; own: WaitingPart | undefined; others: WaitingPart[] };

async function payBack(
  tx: Tx,
  { order, subject, own, others }: FailedRefund,
  { how, isFurther, actor, at }: { how: OutsideWay; isFurther: boolean; actor: string; at: Date },
): Promise<number> {
  const { id: orderId, partnerId } = order;
  const payments = await tx.query<Payment>(sql`
    SELECT id, payment_intent AS "paymentIntent", amount_cents::float8 AS "amountCents", refunded_at IS NOT NULL AS "isRefunded",
      ${verified(paymentState, sql`payments`)} FROM payments WHERE order_id = ${orderId} ORDER BY id`);
  const intents = [...new Set(payments.flatMap(({ paymentIntent }) => paymentIntent ?? []))].sort();
  for (const intent of intents) await lockIntent(tx, intent);
  // If the task has a partial refund of its own, that refund was closed, so its job refunds nothing. Otherwise, another
  // waiting partial refund might return the same money.
  if (!own && others.length > 0)
    throw new ServiceError(
      "conflict",
      "Another refund of a part of this order was approved, and is under way. Wait until it succeeds or fails, or end its task first.",
    );
  await requireNoOtherRefund(tx, { orderId, payments, intents, subject, isFurther });
  const undone = await undonePart(tx, orderId, subject);
  if (undone && undone.laterNotes > 0 && !isFurther)
    throw new ServiceError(
      "conflict",
      "More of the payment was refunded after the correction. If that was the same money, choose “Nothing to book”. If it was other money, tick “In addition to later refunds”.",
    );
  const returned = own
    ? [{ payment: own.payment, name: own.request, cents: own.amountCents }]
    : undone
      ? [undone.part]
      : await returnedParts(tx, order, payments, subject);
  await requireNoWholeRefund(tx, order, payments, returned);
  const noteOf = (name: string) => `outside:${how}:${name}`;
  let amountCents = 0;
  for (const { payment, name, cents } of returned)
    amountCents += await creditPart(tx, payment, { refund: noteOf(name), partCents: cents }, at);
  if (amountCents === 0)
    throw new ServiceError(
      "conflict",
      "No money of this refund is held for the order, so nothing can be booked. Choose “Nothing to book”, and note why.",
    );
  const detail = { how, amountCents, subject };
  await tx.query(auditLine({ at, action: "refund.paid_outside", actor, partnerId, orderId, detail }));
  const about = noteOf(returned[0]?.name ?? "");
  await tellFirm(tx, order, { moment: "paid_back", cents: amountCents, about, how: outsideWays[how] });
  await endPriceTasks(tx, order, { actor, at });
  await enqueue(tx, settledRefundQueue, { orderId });
  // The refund of the whole order may have waited until this money was booked.
  if (order.status === "RefundPending") await enqueue(tx, refundQueue, { orderId });
  return amountCents;
}

type Refunded = {
  orderId: number;
  payments: readonly Payment[];
  intents: readonly string[];
  subject: string;
  isFurther: boolean;
};

/** Prevents booking the same money twice: another requested refund may have returned it, or may soon do so. */
async function requireNoOtherRefund(
  tx: Tx,
  { orderId, payments, intents, subject, isFurther }: Refunded,
): Promise<void> {
  const asked = await tx.query(sql`
    SELECT 1 ${fromTasks} WHERE t.order_id = ${orderId} AND t.kind = 'refund_approval' AND t.state IN ('open', 'claimed')`);
  if (asked.length > 0)
    throw new ServiceError("conflict", "Another refund of this order waits for its decision. Decide on it first.");
  const ids = new Set(payments.map(({ id }) => String(id)));
  for (const intent of intents) {
    const refunds = (await refundsOfIntent(tx, intent)).filter(({ payment }) => payment === null || ids.has(payment));
    if (refunds.some(({ state }) => state === "pending"))
      throw new ServiceError(
        "conflict",
        "Another refund of this payment is under way. Wait until it succeeds or fails.",
      );
    const failed = refunds.findIndex(({ id }) => id === subject);
    const later = failed === -1 ? [] : refunds.slice(failed + 1).filter(({ state }) => state === "succeeded");
    if (later.length === 0 || isFurther) continue;
    const cents = later.reduce((sum, { amountCents }) => sum + (amountCents ?? 0), 0);
    throw new ServiceError(
      "conflict",
      `After this refund failed, ${dollars(cents)} of the payment was refunded. If that was the same money, choose “Nothing to book”. If it was other money, tick “In addition to later refunds”.`,
    );
  }
}

/**
 * Prevents a booking of money that the refund of the whole order returns, too. Until the processor's event about that
 * refund arrives, nothing here shows whether the processor was asked for it.
 */
async function requireNoWholeRefund(
  tx: Tx,
  { id: orderId, status }: LockedOrder,
  payments: readonly Payment[],
  returned: readonly Returned[],
): Promise<void> {
  if (status !== "RefundPending") return;
  for (const { payment: id, name } of returned) {
    const payment = payments.find((each) => each.id === id);
    // The refund of the whole order leaves out a payment that is already refunded.
    if (payment?.isRefunded) continue;
    // Only an earlier account at the processor could refund this payment, so no other refund returns this money.
    if (name === elsewhereSubject(payment?.paymentIntent ?? null, orderId, null)) continue;
    if (payment && (await wholeRefundOf(tx, orderId, payment)) !== null) continue;
    throw new ServiceError(
      "conflict",
      "The whole order is being refunded, which may return this money, too. Wait until the processor has reported that refund, or resend its event from there. If that refund has a task of its own, end that task instead.",
    );
  }
}

/** The parts of the order's payments that the task is about, and whose money the service has again. */
async function returnedParts(
  tx: Tx,
  { id, status }: LockedOrder,
  payments: readonly Payment[],
  subject: string,
): Promise<Returned[]> {
  const elsewhere = payments.filter(({ paymentIntent }) => subject === elsewhereSubject(paymentIntent, id, null));
  if (elsewhere.length > 0 && status !== "RefundPending")
    throw new ServiceError(
      "conflict",
      "The order is not being refunded as a whole. Choose “Nothing to book”: a refund of a part has a task of its own.",
    );
  const parts: Returned[] = [];
  for (const { id: payment } of elsewhere)
    parts.push({ payment, name: subject, cents: (await lockedBooks(tx, payment)).rest });
  if (parts.length > 0) return parts;
  const reversed = await reversedParts(tx, payments, subject);
  return reversed.length > 0 ? reversed : uncreditedPart(tx, payments, subject);
}

async function lockedOrder(tx: Tx, orderId: number): Promise<LockedOrder> {
  const [found] = await tx.query<{ code: string }>(
    sql`SELECT o.code AS "code@order" ${fromOrders} WHERE o.id = ${orderId}`,
  );
  const order = found && (await lockOrder(tx, found.code));
  if (!order) throw orderNotFound();
  return order;
}

/** The credit notes that were reversed because the refund failed, or because the bank decided for the service. */
async function reversedParts(tx: Tx, payments: readonly Payment[], subject: string): Promise<Returned[]> {
  const dispute = /^(.+):won$/.exec(subject)?.[1];
  const isOfSubject = ({ kind, refund }: Note) =>
    kind === "credit_reversal" &&
    (refund === `reversed:${subject}` ||
      (dispute !== undefined && `${refund}:`.startsWith(`reversed:settled:${dispute}:`)));
  const parts: Returned[] = [];
  for (const { id } of payments) {
    const { notes } = await lockedBooks(tx, id);
    const reversal = notes.findLast(isOfSubject);
    if (reversal && !isPaidBack(notes, reversal.refund))
      parts.push({ payment: id, name: reversal.refund, cents: reversal.partCents ?? 0 });
  }
  return parts;
}

const isPaidBack = (notes: readonly Note[], name: string): boolean =>
  notes.some(({ refund }) => refund.startsWith("outside:") && refund.endsWith(`:${name}`));

/**
 * The part that a refund was to return, if the refund failed before it got a credit note. Empty if the payment is for
 * several orders and the refund names none of them, because only people can divide it.
 */
async function uncreditedPart(tx: Tx, payments: readonly Payment[], subject: string): Promise<Returned[]> {
  for (const { id, paymentIntent } of payments) {
    if (paymentIntent === null) continue;
    const refund = (await refundsOfIntent(tx, paymentIntent)).find((each) => each.id === subject);
    if (refund?.state !== "failed" || refund.amountCents === null) continue;
    const isShared = (await payeesOfIntent(tx, paymentIntent)).length > 1;
    if (refund.payment === null ? isShared : refund.payment !== String(id)) continue;
    const { notes } = await lockedBooks(tx, id);
    if (isPaidBack(notes, subject)) continue;
    return [{ payment: id, name: subject, cents: refund.amountCents }];
  }
  return [];
}
