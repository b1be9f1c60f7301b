/**
 * Money that moved outside the payment processor. An operator says how the money of a failed refund went back, or how a
 * firm paid for a payment that a bank took back. The books record both.
 */
import {
  type Operator,
  requireDecidesNow,
  requirePasskeyOf,
  requirePermission,
  requirePerson,
  requireText,
} from "../../firms/operators/operators.ts";
import type { Tx } from "../../kernel/platform/database/database.ts";
import type { LockedOrder } from "../order/order.ts";
import {
  bookLossPayment,
  booksMoney,
  endFailedRefund,
  type FailedRefundAnswer,
  heldPayments,
  restBefore,
  reverseLossPayment,
  type TypedLossPayment,
  undoPaidOutside,
  type WaitingPart,
} from "../payments/payments.ts";
import { closeApproved } from "./part.ts";
import { bookerNeeded, lockShown, type RefundDeps, refundsOfPart } from "./rules.ts";
import { selectApprovedParts, selectOpenOfOrder } from "./store.ts";

/**
 * Ends the task about a failed refund. If the money was returned outside the processor, books it. Like the approval of
 * a refund, a booking needs a named person with a recent passkey check. A permission that an admin gave within the last
 * day doesn't count yet.
 * @throws ServiceError without the permission; for a booking, if `requireBooker` refuses the operator; while another
 * refund of the payment is open; and when the service holds no money of this refund
 */
export async function finishFailedRefund(
  { db, clock }: Pick<RefundDeps, "db" | "clock">,
  operator: Operator,
  id: number,
  answer: FailedRefundAnswer,
): Promise<void> {
  requirePermission(operator, ["money.decide"]);
  if (booksMoney(answer)) requireBooker(operator, clock());
  const { actor } = operator;
  const close = (tx: Tx, part: { id: string; partnerId: string }, note: string) =>
    closeApproved(tx, part, { note, actor, at: clock() });
  await endFailedRefund({ db, clock, parts: { find: waitingParts, close } }, id, actor, answer);
}

/**
 * Reverses a wrong booking of money that was paid back outside the processor, with a reason.
 * @throws ServiceError as `reverseBooking`, and for a booking that can't be reversed
 */
export const undoPaidBack = (
  deps: Pick<RefundDeps, "db" | "clock">,
  operator: Operator,
  { document, ...undo }: Undo & { document: number },
): Promise<void> =>
  reverseBooking(deps, operator, undo, async (tx, order, by) => {
    const isRefundOpen =
      (await selectOpenOfOrder(tx, order.id)) !== undefined || (await waitingParts(tx, order.id)).length > 0;
    await undoPaidOutside(tx, order, { document, isRefundOpen, ...by });
  });

type Undo = { code: string; reason: string };

/**
 * Reverses a booking of an order.
 * @throws ServiceError without a reason, for an unknown order, and as `requireBooker`
 */
async function reverseBooking(
  { db, clock }: Pick<RefundDeps, "db" | "clock">,
  operator: Operator,
  { code, reason: typed }: Undo,
  reverse: (tx: Tx, order: LockedOrder, by: { reason: string; actor: string; at: Date }) => Promise<void>,
): Promise<void> {
  requireBooker(operator, clock());
  const reason = requireText("reason", typed);
  await db.transaction(async (tx) => {
    const order = await lockShown(tx, operator, code);
    await reverse(tx, order, { reason, actor: operator.actor, at: clock() });
  });
}

/**
 * Requires a named person with the permission and a recent passkey check. A permission that an admin gave within the
 * last day doesn't count yet.
 * @throws ServiceError
 */
function requireBooker(operator: Operator, now: Date): void {
  requirePermission(operator, ["money.decide"]);
  requirePerson(operator, bookerNeeded);
  requirePasskeyOf(operator, now);
  requireDecidesNow(operator, now);
}

/**
 * Books money that a firm paid outside the processor for a payment that a bank took back.
 * @throws ServiceError as `requireBooker` and `bookLossPayment`
 */
export async function bookLossPaid(
  { db, clock }: Pick<RefundDeps, "db" | "clock">,
  operator: Operator,
  typed: TypedLossPayment,
): Promise<void> {
  requireBooker(operator, clock());
  const { environment, actor } = operator;
  await db.transaction((tx) => bookLossPayment(tx, typed, { environment, actor, at: clock() }));
}

/**
 * Reverses the booking of a firm's payment for a loss, with a reason that the firm reads.
 * @throws ServiceError as `reverseBooking` and `reverseLossPayment`
 */
export const undoLossPaid = (
  deps: Pick<RefundDeps, "db" | "clock">,
  operator: Operator,
  { booking, ...undo }: Undo & { booking: number },
): Promise<void> =>
  reverseBooking(deps, operator, undo, (tx, order, { reason, ...by }) =>
    reverseLossPayment(tx, order, { booking, reason: reason.replaceAll(/\s+/g, " "), ...by }),
  );

/**
 * The approved partial refunds that moved no money yet. Their jobs have not run, the processor has not confirmed them,
 * or only an earlier account can make them. If money is booked as paid back while such a part waits, the part's job
 * could refund the same money again.
 */
async function waitingParts(tx: Tx, orderId: number): Promise<WaitingPart[]> {
  const held = await heldPayments(tx, orderId);
  const waiting: WaitingPart[] = [];
  for (const { payments, ...approved } of await selectApprovedParts(tx, { orderId }))
    for (const part of payments) {
      const { id: payment, amountCents } = part;
      const paymentIntent = held.find(({ id }) => id === payment)?.paymentIntent;
      // If the payment is not held any more, all of it was refunded, including this part.
      if (paymentIntent === undefined) continue;
      const request = approved.id;
      const states = await refundsOfPart(tx, { ...approved, paymentIntent }, part);
      const isBooked = (await restBefore(tx, payment, request)) === null;
      if (states.length === 0 && !isBooked) waiting.push({ request, payment, paymentIntent, amountCents });
    }
  return waiting;
}
