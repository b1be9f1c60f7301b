import { type Approval, type Operator, requirePerson } from "../../firms/operators/operators.ts";
import type { Clock } from "../../kernel/platform/clock.ts";
import type { Database, Sql, Tx } from "../../kernel/platform/database/database.ts";
import type { Log } from "../../kernel/platform/logs.ts";
import { isCode } from "../../kernel/platform/text.ts";
import type { LockedOrder } from "../order/order.ts";
import { lockOrder, orderNotFound, targetOf } from "../order/order.ts";
import {
  type HeldPayment,
  heldPayments,
  type Processor,
  type RefundRowState,
  refundsOfRequest,
  shareRefundsOf,
  unassignedRefund,
} from "../payments/payments.ts";
import { type ApprovedPart, type Held, type RefundRequest, selectApprovedParts } from "./store.ts";

export type { Held } from "./store.ts";

export type RefundDeps = {
  db: Database;
  clock: Clock;
  log: Log;
  refundApproval: Approval;
  processor: Pick<Processor, "refundsOf"> | null;
};

/** The refusals for an operator who signed in by a command line link. */
export const namesNeeded = "Refunds need people with names. Sign in by email, or use order move at the command line.";
export const bookerNeeded = "Bookings of money need people with names. Sign in by email.";

/**
 * The operator's person id. Refunds need named people.
 * @throws ServiceError for an operator who signed in by a command line link
 */
export const requirePersonOfRefund = (operator: Operator): string => requirePerson(operator, namesNeeded);

/** Locks an order of the operator's environment until the transaction ends. @throws ServiceError */
export async function lockShown(tx: Tx, { environment }: Operator, code: string): Promise<LockedOrder> {
  const order = isCode(code) ? await lockOrder(tx, code) : undefined;
  if (order?.environment !== environment) throw orderNotFound();
  return order;
}

/**
 * The payments that the service still holds for the order. Each has the amount left after refunds, approved partial
 * refunds and losses to a bank. Leaves out a payment if refunds alone have used it up. A payment stays in the list if a
 * bank took back a part of it, even when nothing is left.
 */
export async function heldFor(db: Sql, orderId: number): Promise<Held[]> {
  const held = await heldPayments(db, orderId);
  const parts = await partsOf(db, orderId, held);
  return held.flatMap(({ id, amountCents, lostCents, byHandCents, currency }) => {
    const left = Math.max(0, amountCents - lostCents - byHandCents - (parts.get(id) ?? 0));
    const isReturned = left === 0 && lostCents === 0 && amountCents > 0;
    return isReturned ? [] : [{ id, amountCents: left, currency: currency.toLowerCase() }];
  });
}

/**
 * The cents in the order's approved partial refunds, for each payment by its id. Leaves out a refund that failed at the
 * payer's bank: the service has the money again, even before a job closes the refund's request.
 */
async function partsOf(db: Sql, orderId: number, held: readonly HeldPayment[]): Promise<ReadonlyMap<number, number>> {
  const sums = new Map<number, number>();
  for (const { payments, ...approved } of await selectApprovedParts(db, { orderId }))
    for (const part of payments) {
      const { id, amountCents } = part;
      const paymentIntent = held.find((each) => each.id === id)?.paymentIntent ?? null;
      const states = await refundsOfPart(db, { ...approved, paymentIntent }, part);
      const hasFailed = states.length > 0 && states.every((state) => state === "failed");
      if (!hasFailed) sums.set(id, (sums.get(id) ?? 0) + amountCents);
    }
  return sums;
}

/**
 * The states at the processor of an approved partial refund. The refund of a payment that paid neither its order nor a
 * supplement returns its whole share.
 */
export async function refundsOfPart(
  db: Sql,
  {
    id: request,
    approvedAt,
    paymentIntent,
  }: Pick<ApprovedPart, "id" | "approvedAt"> & Pick<HeldPayment, "paymentIntent">,
  { id: payment, unapplied }: Held,
): Promise<RefundRowState[]> {
  if (paymentIntent === null) return [];
  return unapplied
    ? shareRefundsOf(db, paymentIntent, { payment, part: request, since: approvedAt })
    : refundsOfRequest(db, paymentIntent, request);
}

/** True if approving the request returns only the payments that it names, and at most the amounts that it shows. */
export const isWithin = (
  held: readonly Held[],
  { part, payments }: Pick<RefundRequest, "part" | "payments">,
): boolean =>
  part
    ? payments.every((each) => held.some((own) => own.id === each.id && isEnough(own, each)))
    : held.map(({ id }) => id).join() === payments.map(({ id }) => id).join() &&
      held.every(({ amountCents }, n) => amountCents <= (payments[n]?.amountCents ?? 0));

/**
 * True if the held payment `own` covers the part. The refund of a payment that paid nothing returns all of it, so the
 * amounts must then be equal.
 */
const isEnough = (own: Held, { amountCents, unapplied }: Held): boolean =>
  unapplied ? own.amountCents === amountCents : own.amountCents >= amountCents;

/** The reason why the order can't be refunded; null when it can. Doesn't check for an open request. */
export async function refusalOf(db: Sql, order: LockedOrder, held: readonly Held[]): Promise<string | null> {
  if (targetOf(order, "refund_requested") === null) return `An order in ${order.status} cannot be refunded.`;
  return held.length > 0 ? refusalByHand(db, order) : "No money is held for this order.";
}

/**
 * The reason why the order can't be refunded yet; null without one. Somebody made a refund at the processor that may
 * have returned this order's money, and that is not assigned to orders yet.
 */
export async function refusalByHand(db: Sql, { id }: LockedOrder): Promise<string | null> {
  const refund = await unassignedRefund(db, id);
  if (refund === null) return null;
  return refund.state === "pending"
    ? `Somebody made the refund ${refund.id} at the payment processor. Wait until the bank has confirmed it.`
    : `First say under Payments which orders the refund ${refund.id} was for.`;
}
