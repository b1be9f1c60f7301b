/** The orders that an event of the processor is about, and the sequence in which they are locked. */
import type { Database, Tx } from "../../../kernel/platform/database/database.ts";
import { isSealedAny, sql } from "../../../kernel/platform/database/sql.ts";
import { fromOrders, type LockedOrder, lockOrders } from "../../order/order.ts";
import { sessionPayees } from "../checkout/store.ts";
import { type DisputeMessage, type RefundMessage, readMessage, type SessionMessage } from "../processor/message.ts";
import type { SignedEvent } from "../processor/processor.ts";
import { type AlteredOrder, lockSorted, orderNames, reportAltered } from "../records/altered.ts";
import { chargesOfPayment } from "../records/charges.ts";
import { lockIntent } from "../records/disputes.ts";
import { payeeOf, payeesOfIntent } from "../records/payments.ts";
import type { LockedPayees, Named } from "./refund-events.ts";

type MoneyMessage = SessionMessage | RefundMessage | DisputeMessage;

const maxLookups = 10;

/**
 * Locks the orders of a message by ascending id, and then the payment. If another event recorded the payment for more
 * orders in the meantime, releases all locks and starts again with all orders. Locking an order after the payment could
 * deadlock with other events of the payment.
 */
export async function lockPayees(tx: Tx, message: MoneyMessage): Promise<LockedPayees> {
  const { kind, paymentIntent } = message;
  for (let lookup = 0; lookup < maxLookups; lookup++) {
    const found = await findPayees(tx, message);
    await tx.script("SAVEPOINT payees");
    const all = await lockOrders(tx, found.codes);
    if (paymentIntent !== null) await lockIntent(tx, paymentIntent);
    // For disputes and refunds, searches again: their orders are found by stored payments, and another event may have
    // stored more.
    const now = kind === "disputed" || kind === "refunded" ? await findPayees(tx, message) : found;
    if (now.codes.every((code) => found.codes.includes(code))) {
      await tx.script("RELEASE SAVEPOINT payees");
      const isPayee = ({ code }: LockedOrder) => now.payees.some(({ orderCode }) => orderCode === code);
      return { payees: now.payees, orders: all.filter(isPayee), others: all.filter((order) => !isPayee(order)) };
    }
    await tx.script("ROLLBACK TO SAVEPOINT payees");
  }
  throw new Error("the orders of a payment keep changing: the processor sends the event again");
}

/** The orders that a message is about, and the codes of all orders to lock for it. */
async function findPayees(
  tx: Tx,
  message: MoneyMessage,
): Promise<{ payees: readonly Named[]; codes: readonly string[] }> {
  const { paymentIntent } = message;
  const isShare = message.kind === "refunded" && message.share !== null && paymentIntent !== null;
  const payees = await payeesOf(tx, message);
  const locked = isShare ? [...payees, ...(await payeesOfIntent(tx, paymentIntent))] : payees;
  return { payees, codes: [...new Set(locked.map(({ orderCode }) => orderCode))] };
}

/**
 * The orders that the session or the payment is for. If the service stored neither, for example after a crash, the
 * event's metadata names the order.
 */
async function payeesOf(tx: Tx, message: MoneyMessage): Promise<readonly Named[]> {
  if (message.kind === "disputed")
    return (await payeesOfIntent(tx, message.paymentIntent)).map((each) => ({ ...each, amountCents: null }));
  const { checkoutId, chargeId, orderCode, paymentIntent } = message;
  const named = orderCode === null ? [] : [{ orderCode, amountCents: null }];
  if (message.kind === "refunded") {
    if (paymentIntent === null) return named;
    const { share } = message;
    const found = share === null ? await payeesOfIntent(tx, paymentIntent) : [await payeeOf(tx, share, paymentIntent)];
    const payees = found.flatMap((each) => (each ? [{ ...each, amountCents: null }] : []));
    if (payees.length > 0 || share !== null) return payees;
    if (chargeId !== null) return (await chargePayees(tx, chargeId)) ?? named;
    return (await sessionPayees(tx, { sessionId: null, checkoutId }))?.payees ?? named;
  }
  const { sessionId } = message;
  if (chargeId !== null) return (await chargePayees(tx, chargeId)) ?? named;
  return (await sessionPayees(tx, { sessionId, checkoutId }))?.payees ?? named;
}

/**
 * The orders that a payment by a firm's own method pays; null for an unknown payment. The amount is null for the total
 * of a single order, because the order states it.
 */
async function chargePayees(tx: Tx, chargeId: string): Promise<readonly Named[] | null> {
  const charges = await chargesOfPayment(tx, chargeId);
  if (charges.length === 0) return null;
  return charges.map(({ orderCode, amountCents, supplementId, groupId }) => ({
    orderCode,
    supplementId,
    amountCents: groupId === null && supplementId === null ? null : amountCents,
  }));
}

/** The orders that a message names. Verifies no record, because one of them was altered. */
function ordersNamed(tx: Tx, message: MoneyMessage): Promise<AlteredOrder[]> {
  const { paymentIntent } = message;
  const { chargeId, checkoutId, orderCode } = message.kind === "disputed" ? noNames : message;
  const sessionId = "sessionId" in message ? message.sessionId : null;
  const sessions = sql`FROM checkout_sessions s WHERE s.session_id = ${sessionId} OR s.id = ${checkoutId}`;
  return tx.query<AlteredOrder>(sql`
    SELECT o.id AS "orderId", o.code AS "orderCode@order" ${fromOrders}
    WHERE ${isSealedAny(sql`o.code`, "order", orderCode === null ? [] : [orderCode])} OR o.id IN (
      SELECT order_id FROM payments WHERE payment_intent = ${paymentIntent}
      UNION SELECT order_id FROM firm_charges WHERE id = ${chargeId} OR group_id = ${chargeId}
      UNION SELECT s.order_id ${sessions}
      UNION SELECT p.order_id FROM checkout_parts p WHERE p.checkout_id IN (SELECT s.id ${sessions}))
    ORDER BY o.id`);
}

const noNames = { chargeId: null, checkoutId: null, orderCode: null };

/**
 * Opens a task about each altered order that prevented an event from being applied. Such an event moves none of its
 * orders, and the processor repeats it.
 */
export async function reportRefusedEvent(db: Database, event: SignedEvent, at: Date): Promise<void> {
  const message = readMessage(event);
  if (!message || message.kind === "setup" || message.kind === "mandate" || message.kind === "card") return;
  await db.transaction(async (tx) => {
    const all = await ordersNamed(tx, message);
    const { altered } = await lockSorted(tx, all);
    // If no order was altered, the payment record of one of the orders was. The task then names all orders.
    const named = altered.length > 0 ? altered : all;
    const others = all.filter((each) => !named.includes(each));
    const waiting = others.length === 0 ? "" : ` Orders ${orderNames(others)} of the same payment wait for it, too.`;
    const consequence = `So the payment processor’s event ${event.type} about ${message.paymentIntent} was not applied.${waiting} The processor repeats it for about three days. Restore the record by then, or send the event again there afterwards.`;
    await reportAltered(tx, named, { about: "event", consequence, at });
  });
}
