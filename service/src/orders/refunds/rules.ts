import { type Approval, type Operator, requirePerson } from "../../firms/operators/operators.ts";
import type { Clock } from "../../kernel/platform/clock.ts";
import type { Database, Sql, Tx } from "../../kernel/platform/database/database.ts";
import { ServiceError } from "../../kernel/platform/errors.ts";
import type { Log } from "../../kernel/platform/logs.ts";
import { isCode } from "../../kernel/platform/text.ts";
import { dollars } from "../dollars.ts";
import type { LockedOrder } from "../order/order.ts";
import { lockOrder, targetOf } from "../order/order.ts";
import { heldPayments, type Processor, unassignedRefund } from "../payments/payments.ts";
import { approvedParts, type Held } from "./store.ts";

export type { Held } from "./store.ts";

export type RefundDeps = {
  db: Database;
  clock: Clock;
  log: Log;
  refundApproval: Approval;
  processor: Pick<Processor, "refundsOf"> | null;
};

/** The refusal for an operator who signed in by a command line link. */
export const namesNeeded = "Refunds need people with names. Sign in by email, or use order move at the command line.";

/**
 * The operator's person id. Refunds need named people.
 * @throws ServiceError for an operator who signed in by a command line link
 */
export const requirePersonOfRefund = (operator: Operator): string => requirePerson(operator, namesNeeded);

/** Locks an order of the operator's environment until the transaction ends. @throws ServiceError */
export async function lockShown(tx: Tx, { environment }: Operator, code: string): Promise<LockedOrder> {
  const order = isCode(code) ? await lockOrder(tx, code) : undefined;
  if (order?.environment !== environment) throw new ServiceError("not_found", "Order not found.");
  return order;
}

/**
 * The payments that the service still holds for the order. Each has the amount left after refunds, approved partial
 * refunds and losses to a bank. Leaves out payments of which refunds alone leave nothing. A payment stays in the list
 * if a bank took back a part of it, even when nothing is left.
 */
export async function heldFor(db: Sql, orderId: number): Promise<Held[]> {
  const held = await heldPayments(db, orderId);
  const parts = await approvedParts(db, orderId);
  return held.flatMap(({ id, amountCents, lostCents, byHandCents, currency }) => {
    const left = Math.max(0, amountCents - lostCents - byHandCents - (parts.get(id) ?? 0));
    const isReturned = left === 0 && lostCents === 0 && amountCents > 0;
    return isReturned ? [] : [{ id, amountCents: left, currency: currency.toLowerCase() }];
  });
}

/**
 * Puts the amount before the reason, for the task that asks for the refund's approval. Omits the amount if a payment is
 * not in US dollars.
 */
export const withSum = (held: readonly Held[], reason: string): string =>
  held.every(({ currency }) => currency === "usd")
    ? `${dollars(held.reduce((sum, { amountCents }) => sum + amountCents, 0))}: ${reason}`
    : reason;

export const areSame = (some: readonly Held[], others: readonly Held[]): boolean =>
  some.map(({ id }) => id).join() === others.map(({ id }) => id).join();

/** True if each payment in `part` is still held, with at least the amount that `part` refunds. */
export const covers = (held: readonly Held[], part: readonly Held[]): boolean =>
  part.every(({ id, amountCents }) => held.some((each) => each.id === id && each.amountCents >= amountCents));

/** The reason why the order can't be refunded; null when it can. Doesn't check for an open request. */
export async function refusalOf(db: Sql, order: LockedOrder, held: readonly Held[]): Promise<string | null> {
  if (targetOf(order, "refund_requested") === null) return `An order in ${order.status} cannot be refunded.`;
  return held.length > 0 ? refusalByHand(db, order) : "No money is held for this order.";
}

/**
 * The reason why the order can't be refunded yet: a refund that somebody made at the processor is not assigned to orders
 * yet, and may have returned this order's money. Null when there is no such refund.
 */
export async function refusalByHand(db: Sql, { id }: LockedOrder): Promise<string | null> {
  const refund = await unassignedRefund(db, id);
  if (refund === null) return null;
  return refund.state === "pending"
    ? `Somebody made the refund ${refund.id} at the payment processor. Wait until the bank has confirmed it.`
    : `First say under Payments which orders the refund ${refund.id} was for.`;
}
