/**
 * Checks a payment by a firm's method a last time before it is sent to the processor, and ends a payment that is no
 * longer allowed.
 */
import type { Tx } from "../../../kernel/platform/database/database.ts";
import { dollars } from "../../dollars.ts";
import type { LockedOrder } from "../../order/order.ts";
import { partOf } from "../checkout/checkout.ts";
import { paymentRefusal } from "../checkout/refusals.ts";
import { currentSessions, type Part } from "../checkout/store.ts";
import { requireLastAccount } from "../processor/account.ts";
import { type AlteredOrder, lockSorted, orderNames, reportAltered } from "../records/altered.ts";
import * as charges from "../records/charges.ts";
import { selectMethod } from "../records/methods.ts";
import { endChargeTasks, notify } from "./charge-events.ts";
import type { ChargeDeps } from "./charges.ts";
import { spendingRefusal } from "./limits.ts";

/** The charges of one payment: at least one. */
export type Payment = readonly [charges.FirmCharge, ...charges.FirmCharge[]];

type Ready = { customer: string; method: string; kind: "card" | "bank" };

/** A payment that is no longer allowed, but for which an earlier request may have reached the processor. */
export type Unsettled = { customer: string; reason: string };

/**
 * Checks all conditions again just before the request to the processor, and records that the payment is sent. Ends a
 * payment that is no longer allowed and was never sent. Ends the whole payment even if the reason concerns only one
 * order, because the requester agreed to the whole sum.
 * @param maySent true if an earlier attempt may have sent the payment
 * @returns null if the payment has ended, or if the processor has answered in the meantime
 */
export async function confirm(
  tx: Tx,
  deps: ChargeDeps,
  payment: Payment,
  { maySent, present }: { maySent: boolean; present: string | null },
): Promise<Ready | Unsettled | null> {
  const { orders, altered } = await lockSorted(tx, payment);
  const now = await charges.chargesOfPayment(tx, charges.paymentIdOf(payment[0]));
  const [first] = now;
  if (first?.state !== "asked") return null;
  const at = deps.clock();
  const found = await selectMethod(tx, first.methodId);
  const { method, kind, customer } = found ?? {};
  const isUsable = found?.state === "active" && method != null && kind != null && customer !== undefined;
  const reason = altered.length > 0 ? "order_altered" : await reasonAgainst(tx, deps, orders, now);
  if (reason === null && isUsable) {
    await charges.markSent(tx, now, await requireLastAccount(tx, present, at));
    return { customer, method, kind };
  }
  if (altered.length > 0)
    await reportAltered(tx, altered, { about: "charge", consequence: endedWith(now, altered), at });
  const against = reason ?? (found?.state === "unusable" ? "method_unusable" : "method_removed");
  if (customer !== undefined && (maySent || first.sentAt !== null)) return { customer, reason: against };
  await endPayment(tx, now, { state: "refused", reason: against, at });
  return null;
}

function endedWith(payment: readonly charges.FirmCharge[], altered: readonly AlteredOrder[]): string {
  const others = payment.filter(({ orderId }) => !altered.some((each) => each.orderId === orderId));
  if (others.length === 0)
    return "The firm is not charged for it, and no job charges it later. When the record is as it was, ask the firm to charge the order again.";
  const sum = dollars(charges.sumOfCharges(payment));
  return `The payment of ${sum} for it and for ${orderNames(others)} is ended, if the processor has not taken it. The firm was mailed, and can pay the other orders without it.`;
}

/** Ends all charges of a payment, and mails the firm once. */
export async function endPayment(
  tx: Tx,
  payment: readonly charges.FirmCharge[],
  end: { state: "refused" | "failed"; reason: string; at: Date; paymentIntent?: string | null },
): Promise<void> {
  const { state, reason, at } = end;
  await charges.updateCharges(tx, payment, end);
  const outcome = state === "refused" ? "the charge was not sent" : "the payment was canceled";
  await endChargeTasks(tx, payment, { state: "done", at, by: "system", outcome });
  await notify(
    tx,
    payment.map((each) => ({ ...each, state, reason })),
    state,
    at,
  );
}

async function reasonAgainst(
  tx: Tx,
  deps: ChargeDeps,
  orders: readonly LockedOrder[],
  payment: readonly charges.FirmCharge[],
): Promise<string | null> {
  const byOrder = new Map(payment.map((charge) => [charge.orderId, charge]));
  for (const order of orders) {
    const charge = byOrder.get(order.id);
    const due: Part = await partOf(tx, order);
    if (due.amountCents !== charge?.amountCents || due.supplementId !== charge.supplementId) return "price_changed";
    if ((await paymentRefusal(tx, deps.notarySupply, order, charge.id)) !== null) return "not_payable";
  }
  const [first] = payment;
  if (!first) return "not_payable";
  const amounts = payment.map(({ amountCents }) => amountCents);
  const own = { spender: first.askedBy, amounts, except: payment.map(({ id }) => id) };
  const limit = await spendingRefusal(tx, deps, first, own);
  if (limit !== null) return limit.reason;
  // The caller has closed the checkouts. So a session that is still open was paid before it could be closed.
  const open = await currentSessions(
    tx,
    orders.map(({ id }) => id),
  );
  return open.length > 0 ? "paid_by_checkout" : null;
}
