import { auditLine } from "../../kernel/audit/audit.ts";
import type { Database, Sql, Tx } from "../../kernel/platform/database/database.ts";
import { sql } from "../../kernel/platform/database/sql.ts";
import { isServiceError, ServiceError } from "../../kernel/platform/errors.ts";
import { hasJobSoon, type Jobs } from "../../kernel/platform/jobs/jobs.ts";
import { shortCode } from "../../kernel/platform/text.ts";
import { dollars } from "../dollars.ts";
import { fromOrders, joinOrder, type LockedOrder, lockOrder, refundQueue, verifiedOrder } from "../order/order.ts";
import {
  awaitsAssignment,
  fromPayments,
  giveBack,
  giveSandboxPart,
  type HeldPayment,
  heldPayments,
  isDisputed,
  type RefundJobDeps,
  refundAtProcessor,
  refundedFirst,
  restBefore,
  settledRefundQueue,
} from "../payments/payments.ts";
import { heldFor, refundsOfPart, refusalOf } from "./rules.ts";
import { type ApprovedPart, closePart, type Held, selectApprovedParts } from "./store.ts";
import { writeRequest } from "./write-request.ts";

export const partRefundQueue = "part-refund";

type Line = { type: string; amountCents: number };

/**
 * The cents in an order's price for the technology of an online notarization; 0 without it. The amount is that of the
 * quote's line, because the tier's discount applies only to the workflow fee.
 */
export async function technologyFeeOf(db: Sql, orderId: number): Promise<number> {
  const [order] = await db.query<{ lines: Line[]; totalCents: number }>(sql`
    SELECT o.lines, o.total_cents::float8 AS "totalCents", ${verifiedOrder} ${fromOrders} WHERE o.id = ${orderId}`);
  if (!order) return 0;
  const fees = order.lines.filter(({ type }) => type === "TechFee");
  // A discount code can make the order's total smaller than the fee. So the result is at most the total.
  return Math.min(
    fees.reduce((sum, { amountCents }) => sum + amountCents, 0),
    order.totalCents,
  );
}

export type PartRequest = {
  amountCents: number;
  reason: string;
  /** The operator who requests the refund; as a rule, another operator approves it. */
  requestedBy: string;
  actor: string;
  at: Date;
};

/**
 * Requests a refund of a part of the money that is held for a locked order. The order continues.
 * @returns the id of the request, or the reason why none was made: no single payment held in dollars is large enough,
 * another refund of the order is waiting, or `refusalOf` refuses
 */
export async function requestPartRefund(
  tx: Tx,
  order: LockedOrder,
  { amountCents, reason, requestedBy, actor, at }: PartRequest,
): Promise<{ requestId: string } | { refusal: string }> {
  const held = await heldFor(tx, order.id);
  const refusal = await refusalOf(tx, order, held);
  if (refusal !== null) return { refusal };
  const covering = held.filter((each) => each.currency === "usd" && each.amountCents >= amountCents);
  const first = await refundedFirst(tx, order.id);
  const payment = covering.find(({ id }) => first.has(id)) ?? covering[0];
  if (!payment) return { refusal: `No single payment that is held covers ${dollars(amountCents)}.` };
  const part = { payments: [{ ...payment, amountCents }], isPart: true, reason, requestedBy, actor, at };
  return writeRequest(tx, order, part).then(
    (requestId) => ({ requestId }),
    (error: unknown) => {
      if (!isServiceError(error, "conflict")) throw error;
      return { refusal: error.message };
    },
  );
}

/**
 * Requires that no job is about to request an approved refund of the payment from the processor. The processor's list
 * then has every refund that was requested. Later jobs wait until the refund without orders is assigned. A job that is
 * due only in more than a minute doesn't count: it waits, for example, for a node with the processor's key.
 * @throws ServiceError naming the order
 */
export async function requireNoneBeingSent(db: Sql, paymentIntent: string): Promise<void> {
  const parts = sql`SELECT r.id::text FROM refund_requests r WHERE r.order_id = o.id AND r.part AND r.state = 'approved'`;
  const isOfOrder = sql`payload ->> 'orderId' = o.id::text`;
  const [order] = await db.query<{ code: string }>(sql`
    SELECT o.code AS "code@order" ${fromPayments} ${joinOrder(sql`p.order_id`)}
    WHERE p.payment_intent = ${paymentIntent} AND (
      (o.status = 'RefundPending' AND ${hasJobSoon(refundQueue, isOfOrder)})
      OR ${hasJobSoon(partRefundQueue, sql`payload ->> 'requestId' IN (${parts})`)}
      OR (EXISTS (${parts}) AND ${hasJobSoon(settledRefundQueue, isOfOrder)}))
    ORDER BY o.id LIMIT 1`);
  if (!order) return;
  const name = shortCode(order.code);
  const message = `An approved refund of order ${name} is being sent to the payment processor. Try again in a minute.`;
  throw new ServiceError("conflict", message);
}

/**
 * The jobs that request approved partial refunds from the processor. They also resume refunds that waited for a
 * decision of a bank or of people.
 */
export function partRefundJobs(jobs: Jobs, deps: RefundJobDeps): void {
  const giveAll = async (which: { id: string } | { orderId: number }) => {
    for (const part of await selectApprovedParts(deps.db, which)) await givePartBack(deps, part);
  };
  jobs.work<{ requestId: string }>(partRefundQueue, ({ requestId }) => giveAll({ id: requestId }));
  jobs.work<{ orderId: number }>(settledRefundQueue, ({ orderId }) => giveAll({ orderId }));
}

/**
 * Refunds an approved part. The processor refunds real money; sandbox money is refunded at once. A job without an
 * approved request refunds nothing, because the request's MAC must confirm the approval.
 *
 * The part waits while a payment of the order is disputed. It also waits while a refund made at the processor is not
 * assigned to its orders. The bank's decision or the assignment then queues the job again. A part that can't be
 * refunded any more is closed, and so is one that the refund of the whole order returns.
 */
async function givePartBack(deps: RefundJobDeps, part: ApprovedPart): Promise<void> {
  const { db } = deps;
  if ((await isDisputed(db, part.orderId)) || (await awaitsAssignment(deps, part.orderId))) return;
  const held = await heldPayments(db, part.orderId);
  for (const own of part.payments) {
    const { id, amountCents, unapplied } = own;
    // A payment that was fully refunded in the meantime is not held any more: that refund included this part.
    const payment = held.find((each) => each.id === id);
    if (!payment) continue;
    const note = await reasonAgainst(db, part, payment, own);
    if (note !== null) return close(deps, part, note);
    if (unapplied) {
      await giveBack(deps, part.orderId, payment, { asShare: true, part: part.id });
      continue;
    }
    const { paymentIntent } = payment;
    if (payment.simulated) {
      await giveSandboxPart(deps, { request: part.id, payment: id, paymentIntent, amountCents });
      continue;
    }
    await refundAtProcessor(
      deps,
      { orderId: part.orderId, paymentIntent, amountCents, part: part.id },
      (processor, intent) =>
        processor.refundPart({ request: part.id, payment: id, paymentIntent: intent, amountCents }),
    );
  }
}

/** The reason why an approved partial refund can't be made any more; null when it can, and when it was already made. */
async function reasonAgainst(
  db: Database,
  part: ApprovedPart,
  { id, paymentIntent, lostCents, byHandCents }: HeldPayment,
  own: Held,
): Promise<string | null> {
  const { id: request, orderId } = part;
  const { amountCents, unapplied } = own;
  const states = await refundsOfPart(db, { ...part, paymentIntent }, own);
  if (states.some((state) => state !== "failed")) return null;
  if (states.length > 0)
    return "Not refunded: the refund failed at the payer’s bank, and the service has the money. Ask for another refund.";
  // The refund of an unapplied payment returns what is left of it, however much that is.
  if (unapplied) return null;
  const rest = lostCents + byHandCents === 0 ? null : await db.transaction((tx) => restBefore(tx, id, request));
  if (rest === null || rest >= amountCents)
    return (await isBeingRefunded(db, orderId)) && !(await isCredited(db, id, request)) ? returnedWithOrder : null;
  if (lostCents === 0)
    return `Refused: ${dollars(byHandCents)} of the payment went back in another way, and the rest doesn’t cover the part.`;
  return `Refused: the bank took ${dollars(lostCents)} of the payment back, so that refunding the part would pay it twice.`;
}

const returnedWithOrder = "The whole order is being refunded, which includes this part.";

/**
 * True if the partial refund has its credit note. For sandbox money, only the credit note shows that the refund was
 * made.
 */
const isCredited = async (db: Database, payment: number, request: string): Promise<boolean> =>
  (await db.transaction((tx) => restBefore(tx, payment, request))) === null;

/**
 * True if the whole order is being refunded. Then no part may be refunded in addition. If the payment is for several
 * orders, the processor would accept both.
 */
async function isBeingRefunded(db: Sql, orderId: number): Promise<boolean> {
  const [order] = await db.query<Pick<LockedOrder, "status">>(sql`
    SELECT o.status, ${verifiedOrder} ${fromOrders} WHERE o.id = ${orderId}`);
  return order?.status === "RefundPending";
}

/** Closes an approved partial refund, unless it is already closed. */
async function close({ db, clock }: RefundJobDeps, { id, orderId }: ApprovedPart, note: string): Promise<void> {
  const [order] = await db.query<{ code: string }>(sql`
    SELECT o.code AS "code@order", ${verifiedOrder} ${fromOrders} WHERE o.id = ${orderId}`);
  if (!order) return;
  await db.transaction(async (tx) => {
    const locked = await lockOrder(tx, order.code);
    if (locked) await closeApproved(tx, { id, partnerId: locked.partnerId }, { note, actor: "processor", at: clock() });
  });
}

/** Closes an approved partial refund, unless it is already closed. The caller must have locked its order. */
export async function closeApproved(
  tx: Tx,
  { id, partnerId }: { id: string; partnerId: string },
  { note, actor, at }: { note: string; actor: string; at: Date },
): Promise<void> {
  const [part] = await selectApprovedParts(tx, { id });
  if (!part) return;
  await closePart(tx, id, note);
  const { orderId } = part;
  const detail = { requestId: id, note };
  await tx.query(auditLine({ at, action: "refund.closed", actor, partnerId, orderId, detail }));
}
