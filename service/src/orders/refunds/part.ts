import { auditLine } from "../../kernel/audit/audit.ts";
import type { Sql, Tx } from "../../kernel/platform/database/database.ts";
import { sql } from "../../kernel/platform/database/sql.ts";
import { ServiceError } from "../../kernel/platform/errors.ts";
import { newUuid } from "../../kernel/platform/ids.ts";
import type { Jobs } from "../../kernel/platform/jobs/jobs.ts";
import { openTask } from "../../kernel/tasks/tasks.ts";
import { type LockedOrder, verifiedOrders } from "../order/order.ts";
import { giveBack, giveSandboxPart, heldPayments, requireNoDispute } from "../payments/payments.ts";
import { heldFor, refusalOf } from "./rules.ts";
import { type Held, insertRequest, selectApprovedPart } from "./store.ts";

export const partRefundQueue = "part-refund";

type Line = { type: string; amountCents: number };

/**
 * The cents paid for the technology of an online notarization, from its line. The tier's discount applies only to the
 * workflow fee.
 */
export async function technologyFeeOf(db: Sql, orderId: number): Promise<number> {
  const [order] = await db.query<{ lines: Line[]; totalCents: number }>(sql`
    SELECT lines, total_cents::float8 AS "totalCents", ${verifiedOrders} FROM orders WHERE id = ${orderId}`);
  if (!order) return 0;
  const fees = order.lines.filter(({ type }) => type === "TechFee");
  // With a discount code, the total can be less than the fee.
  return Math.min(
    fees.reduce((sum, { amountCents }) => sum + amountCents, 0),
    order.totalCents,
  );
}

export type PartRequest = {
  amountCents: number;
  reason: string;
  /** The operator who requests the refund; another operator approves it. */
  requestedBy: string;
  actor: string;
  at: Date;
};

/**
 * Requests a refund of part of the money held for an order that the transaction has locked. The order continues.
 * @returns the request's id, or why it is impossible: no held payment covers the part, or another refund of the order
 * is waiting
 */
export async function requestPartRefund(
  tx: Tx,
  order: LockedOrder,
  { amountCents, reason, requestedBy, actor, at }: PartRequest,
): Promise<{ requestId: string } | { refusal: string }> {
  const held = await heldFor(tx, order.id);
  const refusal = refusalOf(order, held);
  if (refusal !== null) return { refusal };
  const payment = held.find((each) => each.currency === "usd" && each.amountCents >= amountCents);
  if (!payment) return { refusal: `No single payment that is held covers ${dollars(amountCents)}.` };
  const part = { payment: { ...payment, amountCents }, reason, requestedBy, actor, at };
  return insertPart(tx, order, part).then(
    (requestId) => ({ requestId }),
    (error: unknown) => {
      if (!(error instanceof ServiceError) || error.code !== "conflict") throw error;
      return { refusal: error.message };
    },
  );
}

type NewPart = Omit<PartRequest, "amountCents"> & { payment: Held };

/**
 * Writes a request for a part, with its task and audit line. @throws ServiceError while another request of the order is
 * waiting
 */
export async function insertPart(
  tx: Tx,
  { id: orderId, environment, partnerId }: LockedOrder,
  { payment, reason, requestedBy, actor, at }: NewPart,
): Promise<string> {
  const id = newUuid();
  const payments = [payment];
  if (!(await insertRequest(tx, { id, orderId, reason, payments, part: true, requestedBy, at })))
    throw new ServiceError("conflict", "Another refund of this order waits for its decision.");
  await openTask(tx, { kind: "refund_approval", at, environment, orderId, reason });
  const detail = { requestId: id, reason, payments, part: true };
  await tx.query(auditLine({ at, action: "refund.requested", actor, partnerId, orderId, detail }));
  return id;
}

const dollars = (cents: number): string => `$${(cents / 100).toFixed(2)}`;

type JobDeps = Parameters<typeof giveBack>[0];

/** Requests approved partial refunds from the processor. */
export function partRefundJobs(jobs: Jobs, deps: JobDeps): void {
  jobs.work<{ requestId: string }>(partRefundQueue, ({ requestId }) => givePartBack(deps, requestId));
}

/**
 * Refunds sandbox money at once. The job first verifies the request's MAC, because a queued job alone does not prove
 * the approval.
 */
async function givePartBack(deps: JobDeps, requestId: string): Promise<void> {
  const { db, processor } = deps;
  const request = await selectApprovedPart(db, requestId);
  if (!request) return;
  await requireNoDispute(db, request.orderId);
  const held = await heldPayments(db, request.orderId);
  for (const { id, amountCents, unapplied } of request.payments) {
    // A payment that was fully refunded in the meantime includes this part.
    const payment = held.find((each) => each.id === id);
    if (!payment) continue;
    if (unapplied) {
      await giveBack(deps, payment, true);
      continue;
    }
    const { paymentIntent } = payment;
    if (payment.simulated) {
      await giveSandboxPart(deps, { request: requestId, payment: id, paymentIntent, amountCents });
      continue;
    }
    if (!processor) throw new Error("payments are not configured: the refund waits");
    if (paymentIntent === null) throw new Error("the payment has no payment intent: refund it at the processor");
    await processor.refundPart({ request: requestId, payment: id, paymentIntent, amountCents });
  }
}
