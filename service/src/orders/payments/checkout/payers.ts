/**
 * The payer of a checkout: the client or the firm. It can differ from the order's payer, which can change while a
 * checkout is open. The firm can also pay in place of the client. A payment without a stored payer counts as made by
 * the order's payer. This includes charges of the firm's method; only `paymentPayer` names the firm for them.
 */
import type { Sql, Tx } from "../../../kernel/platform/database/database.ts";
import { type Statement, sql } from "../../../kernel/platform/database/sql.ts";
import {
  nullIfAltered,
  type StateMac,
  verifiedAll,
  writeStateMacs,
} from "../../../kernel/platform/database/state-mac.ts";
import { stateRows } from "../../../kernel/platform/protected-data.ts";
import { fromOrders, hasOrderCode, type Payer, verifiedOrder } from "../../order/order.ts";
import { chargeState } from "../records/charges.ts";
import { paymentState } from "../records/payments.ts";
import { dueOf, type Supplement, supplementReplacesLoss, supplementsOfCode } from "../records/supplements.ts";
import { isOf, isPaymentInProcess, sessionState } from "./store.ts";

const payerState: StateMac = {
  table: sql`checkout_payers`,
  key: sql`checkout_id`,
  mac: sql`row_mac`,
  covered: (y) => sql`${y}.checkout_id, ${y}.payer`,
};

export const payerRows = stateRows(payerState);

export async function insertPayer(tx: Tx, checkoutId: string, payer: Payer): Promise<void> {
  await tx.query(sql`INSERT INTO checkout_payers (checkout_id, payer) VALUES (${checkoutId}, ${payer})`);
  await writeStateMacs(tx, payerState, sql`checkout_id = ${checkoutId}`);
}

/** The payer of a checkout; undefined for one of an earlier release. @throws ServiceError `unavailable` if altered */
export async function payerOfCheckout(db: Sql, checkoutId: string): Promise<Payer | undefined> {
  const own = sql`FROM checkout_payers y WHERE y.checkout_id = ${checkoutId}`;
  const [found] = await db.query<{ payer: Payer | null }>(sql`
    SELECT (SELECT y.payer ${own}) AS payer, ${verifiedAll(payerState, sql`y`, own)}`);
  return found?.payer ?? undefined;
}

const ofPayment = sql`FROM checkout_sessions s JOIN checkout_payers y ON y.checkout_id = s.id WHERE s.session_id = p.session_id`;

/**
 * For the SELECT list of a query on a payment `p` of the order `o`: the payer of its checkout, as `payBy`. Without a
 * stored payer, it is the order's payer.
 */
export const payerOnPage: Statement = sql`
  coalesce((SELECT y.payer ${ofPayment}), o.pay_by) AS "payBy",
  ${verifiedAll(sessionState, sql`s`, ofPayment)}, ${verifiedAll(payerState, sql`y`, ofPayment)}`;

/**
 * SQL condition: true if a bank is moving money that the firm paid for the order by a checkout, even a shared one.
 * Verifies no MAC, so it may only decide which words are shown.
 */
export const isFirmPaying = (orderId: Statement): Statement => sql`EXISTS (
  SELECT FROM checkout_sessions s JOIN checkout_payers y ON y.checkout_id = s.id
  WHERE ${isOf(sql`ARRAY[${orderId}]`)} AND s.status = 'pending_funds' AND y.payer = 'firm')`;

/**
 * The payer whose bank payment for the order is in process; null for none. A charge of the firm's own method counts as
 * the payment of the order's payer. Accepts the order's code, because pages don't have its id.
 */
export async function payerInProcess(db: Sql, orderCode: string): Promise<Payer | null> {
  if (!(await isPaymentInProcess(db, orderCode))) return null;
  const [order] = await db.query<{ payer: Payer }>(sql`
    SELECT CASE WHEN ${isFirmPaying(sql`o.id`)} THEN 'firm' ELSE o.pay_by END AS payer
    ${fromOrders} WHERE ${hasOrderCode(orderCode)}`);
  return order?.payer ?? null;
}

/**
 * SQL expression: who made the payment `p`: the firm, if its own method was charged, or else the payer of the checkout.
 * Verifies no MAC, so it may only decide about words and mails.
 */
export const paymentPayer: Statement = sql`(CASE
  WHEN EXISTS (SELECT FROM firm_charges c WHERE c.order_id = p.order_id AND c.payment_intent = p.payment_intent) THEN 'firm'
  ELSE coalesce((SELECT y.payer ${ofPayment}), (SELECT o.pay_by ${fromOrders} WHERE o.id = p.order_id)) END)`;

/** SQL condition: true if the client made the payment `p`. Not verified, like `paymentPayer`. */
export const isByClient: Statement = sql`${paymentPayer} = 'client'`;

// SQL condition: true if money arrived for the payment `p`. A refund that arrived before its payment creates a
// placeholder, which stands for no money.
const isMoney = (p: Statement) => sql`NOT starts_with(${p}.session_id, 'refund:')`;

/**
 * SQL condition: true if the order was paid, and the firm made each payment. Ignores payments that were refunded before
 * the order was paid again. Not verified, like `paymentPayer`.
 */
export const isPaidByFirm = (orderId: Statement): Statement => sql`coalesce((
  SELECT bool_and(${paymentPayer} = 'firm') FROM payments p WHERE p.order_id = ${orderId} AND ${isMoney(sql`p`)}
    AND (p.refunded_at IS NULL OR NOT EXISTS (SELECT FROM payments later WHERE later.order_id = p.order_id
      AND later.id > p.id AND later.received_at >= p.refunded_at AND ${isMoney(sql`later`)}))), false)`;

/**
 * SQL condition on an order `o`: true if the due amount replaces a payment of the firm that a bank took back. Nothing
 * shown to the client may mention it, even if the client pays the order. Not verified, like `paymentPayer`, so
 * `mayBePaidByFirm` must check the orders that are left.
 */
export const isLossOfFirm: Statement = sql`(coalesce(${supplementReplacesLoss}, false) AND ${isPaidByFirm(sql`o.id`)})`;

/**
 * Like `isPaidByFirm`, but verified.
 * @throws ServiceError `unavailable` if the order, a payment, its checkout or its charge was altered
 */
export async function wasPaidByFirm(db: Sql, orderCode: string): Promise<boolean> {
  const payments = sql`FROM payments p WHERE p.order_id = o.id`;
  const sessions = sql`checkout_sessions s JOIN payments p ON p.session_id = s.session_id AND p.order_id = o.id`;
  const payers = sql`FROM ${sessions} JOIN checkout_payers y ON y.checkout_id = s.id`;
  const charges = sql`FROM firm_charges c WHERE c.order_id = o.id`;
  const [order] = await db.query<{ isPaidByFirm: boolean }>(sql`
    SELECT ${isPaidByFirm(sql`o.id`)} AS "isPaidByFirm", ${verifiedOrder}, ${verifiedAll(paymentState, sql`p`, payments)},
      ${verifiedAll(sessionState, sql`s`, sql`FROM ${sessions}`)}, ${verifiedAll(payerState, sql`y`, payers)},
      ${verifiedAll(chargeState, sql`c`, charges)}
    ${fromOrders} WHERE ${hasOrderCode(orderCode)}`);
  return order?.isPaidByFirm === true;
}

/** Like `wasPaidByFirm`, but also true if altered rows hide who paid. The client is then shown nothing to pay again. */
export const mayBePaidByFirm = async (db: Sql, orderCode: string): Promise<boolean> =>
  (await wasPaidByFirm(db, orderCode).catch(nullIfAltered)) !== false;

/**
 * The supplement that the client can pay now; undefined for none. Leaves out a supplement that replaces a payment of
 * the firm, because the client must not learn that the firm's bank took money back.
 */
export async function clientSupplement(
  db: Sql,
  { code, status }: { code: string; status: string },
): Promise<Supplement | undefined> {
  const due = dueOf(status, await supplementsOfCode(db, code));
  return due?.replacesLoss && (await mayBePaidByFirm(db, code)) ? undefined : due;
}
