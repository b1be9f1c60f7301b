/**
 * The debt for an order's price, and the tasks of people about it. The debt is the money that banks took back and
 * nobody has paid again, online or outside the processor.
 */
import type { Sql, Tx } from "../../../kernel/platform/database/database.ts";
import { sql } from "../../../kernel/platform/database/sql.ts";
import { verifiedAll } from "../../../kernel/platform/database/state-mac.ts";
import { closeTasks, explainTask, openTask, type TaskEnd } from "../../../kernel/tasks/tasks.ts";
import { dollars } from "../../dollars.ts";
import type { LockedOrder } from "../../order/order.ts";
import { tellFirm } from "../mails/money-mail.ts";
import { billingDocumentState, creditedCentsOf } from "../records/documents.ts";
import { lostCentsOf } from "../records/loss-documents.ts";
import { lossPaymentState, receivedCents, receivedFor } from "../records/loss-payments.ts";
import { endsDebt, supplementState, supplementsOf, withdrawSupplement } from "../records/supplements.ts";
import { isUnapplied, verifiedSimultaneous, verifiedUnapplied } from "../records/unapplied.ts";

type By = { actor: string; at: Date };

/**
 * A payment of an order, with the cents that it adds to the debt for the order's price; below zero if the payment
 * reduces the debt.
 */
type PriceDebt = {
  id: number;
  orderId: number;
  /** True if the outcome of the payment's event was `unapplied`: it paid neither the order nor a supplement. */
  isUnapplied: boolean;
  cents: number;
};

/**
 * The payments of these orders. A payment made again after a bank took one back counts without its refunded part.
 * @throws ServiceError `unavailable` for an altered row
 */
export async function priceDebts(db: Sql, orderIds: readonly number[]): Promise<PriceDebt[]> {
  const documents = sql`FROM billing_documents d WHERE d.payment_id = p.id`;
  const received = sql`FROM loss_payments x WHERE x.payment_id = p.id`;
  const supplements = sql`FROM supplements s WHERE s.order_id = p.order_id`;
  const found = await db.query<Omit<PriceDebt, "cents"> & Record<"lost" | "held" | "received", number>>(sql`
    SELECT p.id, p.order_id AS "orderId", ${isUnapplied} AS "isUnapplied",
      CASE WHEN p.refunded_at IS NULL THEN ${lostCentsOf(sql`p.id`)} ELSE 0 END AS lost,
      CASE WHEN p.refunded_at IS NULL AND EXISTS (SELECT ${supplements} AND s.payment_id = p.id AND s.state = 'paid' AND s.replaces_loss)
        THEN p.amount_cents - ${creditedCentsOf(sql`p.id`)} ELSE 0 END::float8 AS held,
      (SELECT coalesce(sum(${receivedCents(sql`x`)}), 0) ${received})::float8 AS received,
      ${verifiedSimultaneous}, ${verifiedUnapplied}, ${verifiedAll(billingDocumentState, sql`d`, documents)},
      ${verifiedAll(lossPaymentState, sql`x`, received)}, ${verifiedAll(supplementState, sql`s`, supplements)}
    FROM payments p WHERE p.order_id = ANY (${orderIds}::bigint[]) ORDER BY p.id`);
  return found.map(({ lost, held, received: fromFirm, ...payment }) => ({
    ...payment,
    cents: (payment.isUnapplied ? 0 : lost - held) - fromFirm,
  }));
}

export const sumOfDebts = (debts: readonly PriceDebt[]): number => debts.reduce((sum, { cents }) => sum + cents, 0);

/**
 * The cents of the order's price that banks took back and nobody has paid again, online or outside the processor. Below
 * zero for money that is held twice, such as when the bank later returned the first payment.
 * @throws ServiceError `unavailable` for an altered row
 */
export const lossOf = async (db: Sql, orderId: number): Promise<number> => sumOfDebts(await priceDebts(db, [orderId]));

/** The cents that the firm paid outside the processor for payments of the order that banks took back. */
export const receivedCentsOf = async (db: Sql, orderId: number): Promise<number> =>
  [...(await receivedFor(db, orderId)).values()].reduce((sum, cents) => sum + cents, 0);

/** The subject of the task about an order whose price is still owed, and can be paid again. */
export const allowSubject = (orderId: number): string => `pay-again:${orderId}`;

/** Closes the task about an order that can be paid again. */
export async function endAllow(tx: Tx, orderId: number, { actor, at }: By): Promise<void> {
  const end = { state: "done", at, by: actor, outcome: "nothing is left to allow" } as const;
  await closeTasks(tx, { orderId, kinds: ["dispute"], subject: allowSubject(orderId) }, end);
}

const restSubject = (orderId: number): string => `received:${orderId}:rest`;

/** The subject of the task to release an order on hold, after the firm paid its loss outside the processor. */
export const releaseSubject = (orderId: number): string => `received:${orderId}:release`;

/** Closes the task about the part of a debt that is still owed after the firm paid, or a booking was reversed. */
export async function endRest(tx: Tx, orderId: number, { actor, at }: By): Promise<void> {
  const end = { state: "done", at, by: actor, outcome: "nothing is left to decide about the rest" } as const;
  await closeTasks(tx, { orderId, kinds: ["dispute"], subject: restSubject(orderId) }, end);
}

/**
 * Call this after a refund, after a refund that failed, and after a dispute. Closes outdated tasks about the price of an
 * order. Such tasks report that the price can be paid again, or that its money is held twice. Also opens the task of
 * `askReturn` if it is due.
 */
export async function endPriceTasks(tx: Tx, order: LockedOrder, by: By): Promise<void> {
  await endTasksAfter(tx, order, await lossOf(tx, order.id), by);
}

/**
 * Closes the tasks about the order's price that are outdated, and opens the tasks of `askReturn` and `askTwice` if they
 * are due.
 * @param cents the cents of the price that nobody has paid now
 * @param dispute the dispute on which a bank has just decided; null for none
 */
export async function endTasksAfter(
  tx: Tx,
  order: LockedOrder,
  cents: number,
  by: By,
  dispute: string | null = null,
): Promise<void> {
  const { id: orderId, status } = order;
  const { actor, at } = by;
  if (cents <= 0 || endsDebt.has(status)) {
    await endAllow(tx, orderId, by);
    await endRest(tx, orderId, by);
  }
  if (cents > 0 || endsDebt.has(status)) {
    const end = { state: "dropped", at, by: actor, outcome: "the order is not to be released for this money" } as const;
    await closeTasks(tx, { orderId, kinds: ["dispute"], subject: releaseSubject(orderId) }, end);
  }
  const returned = await askReturn(tx, order, cents, by);
  await askTwice(tx, order, Math.max(0, -cents - returned), { ...by, dispute });
}

/**
 * Keeps one task to refund money of the order's price that is held twice. The task's reason states the present sum.
 * Closes the task once nothing is held twice. Opens it only after a bank decided on a dispute, because nothing else
 * makes the service hold such money.
 */
async function askTwice(
  tx: Tx,
  { id: orderId, environment }: LockedOrder,
  cents: number,
  { dispute, actor, at }: By & { dispute: string | null },
): Promise<void> {
  if (cents === 0) {
    const end = { state: "dropped", at, by: actor, outcome: "no money is held twice any more" } as const;
    return endTasksOfDisputes(tx, orderId, "twice", end);
  }
  const reasonOf = (id: string) =>
    `The bank decided for the service (${id}), but the order had been paid again, so ${dollars(cents)} was paid twice. Refund that much of the order.`;
  let isOpen = false;
  for (const { id, subject } of await subjectsOfDisputes(tx, orderId, "twice"))
    if (await explainTask(tx, orderId, "dispute", reasonOf(id), false, subject)) isOpen = true;
  if (isOpen || dispute === null) return;
  const task = { kind: "dispute", at, environment, orderId, subject: `${dispute}:${orderId}:twice` } as const;
  await openTask(tx, { ...task, reason: reasonOf(dispute) });
}

/**
 * Closes the tasks about the order's disputes whose subject ends with `about`. With `lost`, only those about lost
 * disputes.
 */
async function endTasksOfDisputes(tx: Tx, orderId: number, about: "lost" | "twice", end: TaskEnd): Promise<void> {
  for (const { subject } of await subjectsOfDisputes(tx, orderId, about))
    await closeTasks(tx, { orderId, kinds: ["dispute"], subject }, end);
}

/** The order's disputes, each with the subject of its task `about`. With `lost`, only lost disputes. */
const subjectsOfDisputes = (tx: Tx, orderId: number, about: "lost" | "twice") =>
  tx.query<{ id: string; subject: string }>(sql`
    SELECT d.id, d.id || ':' || ${orderId}::bigint || ':' || ${about}::text AS subject FROM disputes d
    WHERE (${about}::text <> 'lost' OR d.state = 'lost')
      AND d.payment_intent IN (SELECT payment_intent FROM payments WHERE order_id = ${orderId}) ORDER BY d.id`);

/**
 * Closes the tasks that ask a person to decide about payments that a bank took back. Call this after the refund of the
 * order.
 */
export const endLostTasks = (tx: Tx, orderId: number, { actor, at }: By): Promise<void> =>
  endTasksOfDisputes(tx, orderId, "lost", { state: "done", at, by: actor, outcome: "the order was refunded" });

/**
 * Opens the task to return money that the firm paid outside the processor, if the order's price is paid even without
 * that money. Otherwise closes that task.
 * @param cents the cents of the price that nobody has paid now; below zero for money that is held twice
 * @returns the cents to return
 */
async function askReturn(
  tx: Tx,
  { id: orderId, environment }: LockedOrder,
  cents: number,
  { actor, at }: By,
): Promise<number> {
  const back = cents < 0 ? Math.min(-cents, await receivedCentsOf(tx, orderId)) : 0;
  const task = { orderId, subject: `received:${orderId}:return` } as const;
  if (back > 0) {
    const reason = `${dollars(back)} that the firm paid outside the payment processor, for a payment that a bank took back, is not owed any more. Return it to the firm, and then reverse its booking on the order’s page.`;
    await openTask(tx, { ...task, kind: "dispute", at, environment, reason });
  } else {
    const end = { state: "done", at, by: actor, outcome: "no such money is held any more" } as const;
    await closeTasks(tx, { ...task, kinds: ["dispute"] }, end);
  }
  return back;
}

/**
 * Call this after money from the firm was booked, or a booking was reversed. Withdraws a request to pay again if the
 * debt is a different sum now, and closes outdated tasks. If the whole loss is paid, closes the tasks that ask a person
 * to settle the loss. If a withdrawn amount or a reversed booking leaves a debt without a task, opens one.
 * @returns the cents of the price that nobody has paid now
 */
export async function reviseDebt(
  tx: Tx,
  order: LockedOrder,
  { isReversed, actor, at }: By & { isReversed: boolean },
): Promise<number> {
  const { id: orderId, environment, status } = order;
  const cents = await lossOf(tx, orderId);
  const asked = (await supplementsOf(tx, orderId)).find(({ state, replacesLoss }) => state === "asked" && replacesLoss);
  const isStale = asked !== undefined && asked.amountCents !== cents;
  if (isStale) await withdrawSupplement(tx, order, { actor, at, ofLoss: true });
  await endTasksAfter(tx, order, cents, { actor, at });
  if (cents <= 0) {
    const end = { state: "done", at, by: actor, outcome: "the firm paid outside the processor" } as const;
    await endTasksOfDisputes(tx, orderId, "lost", end);
  } else if ((isStale || isReversed) && !endsDebt.has(status)) {
    const cause = isReversed
      ? "The booking of money from the firm was reversed."
      : "The firm paid a part outside the payment processor, so the request to pay this order again was withdrawn.";
    const reason = `${cause} ${dollars(cents)} is still owed: on the order’s page, book the money when it arrives, let the order be paid again, or refund it.`;
    await openTask(tx, { kind: "dispute", at, environment, orderId, subject: restSubject(orderId), reason });
  }
  return cents;
}

/**
 * Call this after the payment of a supplement. If the supplement replaced a loss, closes the tasks that ask a person to
 * settle the loss, and notifies the firm. An order on hold stays on hold; a task asks an operator to release it.
 */
export async function endLoss(
  tx: Tx,
  order: LockedOrder,
  { supplementId, cents, actor, at }: { supplementId: number; cents: number; actor: string; at: Date },
): Promise<void> {
  const { id: orderId, environment, status } = order;
  const paid = (await supplementsOf(tx, orderId)).find(({ id }) => id === supplementId);
  if (!paid?.replacesLoss) return;
  await endTasksOfDisputes(tx, orderId, "lost", { state: "done", at, by: actor, outcome: "the order was paid again" });
  const reason = `${dollars(cents)} was paid again for this order, whose payment a bank had taken back. The order is on hold: release it.`;
  if (status === "OnHold")
    await openTask(tx, { kind: "dispute", at, environment, orderId, subject: `paid-again:${supplementId}`, reason });
  await tellFirm(tx, order, { moment: "paid_again", cents, about: String(supplementId) });
}
