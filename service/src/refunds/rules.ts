import { type Approval, type Operator, requirePerson } from "../operators/operators.ts";
import type { LockedOrder } from "../orders/orders.ts";
import { lockOrder, targetOf } from "../orders/orders.ts";
import { heldPayments } from "../payments/payments.ts";
import type { Clock } from "../platform/clock.ts";
import type { Database, Sql, Tx } from "../platform/database/database.ts";
import { ServiceError } from "../platform/errors.ts";
import type { Log } from "../platform/logs.ts";
import { isCode } from "../platform/text.ts";

export type RefundDeps = { db: Database; clock: Clock; log: Log; refundApproval: Approval };

/** The person, by id. @throws ServiceError for whoever came by a link of the command line: refunds are between people with names */
export const requirePersonOfRefund = (operator: Operator): string =>
  requirePerson(operator, "Refunds need people with names. Sign in by email, or use order move at the command line.");

/** An order of the environment that the operator sees, locked until the transaction ends. @throws ServiceError */
export async function lockShown(tx: Tx, { environment }: Operator, code: string): Promise<LockedOrder> {
  const order = isCode(code) ? await lockOrder(tx, code) : undefined;
  if (order?.environment !== environment) throw new ServiceError("not_found", "Order not found.");
  return order;
}

/** A payment that the service holds; its amount is in the smallest unit of the currency. */
export type Held = { id: number; amountCents: number; currency: string };

/** The payments that the service holds for the order. */
export async function heldFor(db: Sql, orderId: number): Promise<Held[]> {
  const held = await heldPayments(db, orderId);
  return held.map(({ id, amountCents, currency }) => ({ id, amountCents, currency: currency.toLowerCase() }));
}

export const areSame = (some: readonly Held[], others: readonly Held[]): boolean =>
  some.map(({ id }) => id).join() === others.map(({ id }) => id).join();

/** Why no refund can be asked for; null when it can. */
export function refusalOf(order: LockedOrder, held: readonly Held[]): string | null {
  if (targetOf(order, "refund_requested") === null) return `An order in ${order.status} cannot be refunded.`;
  return held.length > 0 ? null : "No money is held for this order.";
}
