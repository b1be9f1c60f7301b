/** The debts of firms for payments that banks took back, by payment. */
import { firmNameOf } from "../../../firms/partners/partners.ts";
import type { Environment, Owner } from "../../../kernel/identity/identity.ts";
import type { Sql } from "../../../kernel/platform/database/database.ts";
import { type Statement, sql } from "../../../kernel/platform/database/sql.ts";
import { fromOrders, hasOrderCode } from "../../order/order.ts";
import { lostCentsOf } from "../records/loss-documents.ts";
import { type LostPayment, lostPayments, receivedCents, unpaidOf } from "../records/loss-payments.ts";
import { priceDebts, sumOfDebts } from "./price-debt.ts";

/** A payment that a bank took back, with the cents of it that the firm still owes. */
export type OpenLoss = LostPayment & { openCents: number };

/**
 * The payments of these orders that banks took back, oldest first, even if nothing is owed for them. An order's debt is
 * attributed to the newest of these payments, because a payment made again replaced the earlier ones. Makes two queries
 * for any number of orders.
 * @throws ServiceError `unavailable` for an altered row
 */
export async function openLosses(db: Sql, orderIds: readonly number[]): Promise<OpenLoss[]> {
  const lost = await lostPayments(db, orderIds);
  const debts = lost.length === 0 ? [] : await priceDebts(db, orderIds);
  const unapplied = new Set(debts.flatMap(({ id, isUnapplied }) => (isUnapplied ? [id] : [])));
  const debtsOfOrder = Map.groupBy(debts, (each) => each.orderId);
  const open = new Map<number, number>();
  for (const [orderId, payments] of Map.groupBy(lost, (each) => each.orderId)) {
    let debt = Math.max(0, sumOfDebts(debtsOfOrder.get(orderId) ?? []));
    for (const payment of payments.toReversed()) {
      const cents = unapplied.has(payment.id) ? 0 : Math.min(debt, Math.max(0, unpaidOf(payment)));
      open.set(payment.id, cents);
      debt -= cents;
    }
  }
  return lost.map((payment) => ({ ...payment, openCents: open.get(payment.id) ?? 0 }));
}

/**
 * The payments of a firm that banks took back, oldest first, even those for which nothing is owed. @throws ServiceError
 * `unavailable` for an altered row
 */
export async function openLossesOfFirm(db: Sql, { partnerId, environment }: Owner): Promise<OpenLoss[]> {
  const orders = await db.query<{ id: number }>(sql`
    SELECT DISTINCT p.order_id AS id FROM billing_documents d JOIN payments p ON p.id = d.payment_id
    WHERE d.partner_id = ${partnerId} AND d.environment = ${environment} AND d.kind = 'loss'`);
  const ids = orders.map(({ id }) => id);
  return ids.length === 0 ? [] : openLosses(db, ids);
}

/** `debtsOfFirms` reads at most this many orders with a payment that a bank took back, the newest first. */
const maxOrders = 200;

/**
 * The payments that banks took back and for which firms of an environment owe money, oldest first. @throws ServiceError
 * `unavailable` for an altered row
 */
export async function debtsOfFirms(db: Sql, environment: Environment): Promise<(OpenLoss & { firmName: string })[]> {
  const received = sql`FROM loss_payments x WHERE x.payment_id = d.payment_id`;
  const orders = await db.query<{ id: number; firmName: string }>(sql`
    SELECT DISTINCT p.order_id AS id, ${firmNameOf(sql`d.partner_id`)} AS "firmName"
    FROM billing_documents d JOIN payments p ON p.id = d.payment_id
    WHERE d.environment = ${environment} AND d.kind = 'loss'
      AND ${lostCentsOf(sql`d.payment_id`)} > (SELECT coalesce(sum(${receivedCents(sql`x`)}), 0) ${received})
    ORDER BY id DESC LIMIT ${maxOrders}`);
  const names = new Map(orders.map(({ id, firmName }) => [id, firmName]));
  const open = orders.length === 0 ? [] : await openLosses(db, [...names.keys()]);
  return open.flatMap((loss) => (loss.openCents > 0 ? [{ ...loss, firmName: names.get(loss.orderId) ?? "" }] : []));
}

/**
 * The payments of an order that banks took back, even those for which nothing is owed. @throws ServiceError
 * `unavailable` for an altered row
 */
export async function openLossesOfOrder(db: Sql, orderCode: string): Promise<OpenLoss[]> {
  const [order] = await db.query<{ id: number }>(sql`SELECT o.id ${fromOrders} WHERE ${hasOrderCode(orderCode)}`);
  return order ? openLosses(db, [order.id]) : [];
}

/**
 * A payment that a bank took back, as the operator's page of an order shows it. An operator can book money for it
 * there.
 */
export type LossToBook = OpenLoss & {
  /**
   * The payment may have paid several orders of the firm. `openInAll`: the cents that the firm still owes for all of
   * them. `openOrders`: the number of those for which it owes any.
   */
  openInAll: number;
  openOrders: number;
};

/** The payments of an order that banks took back. @throws ServiceError `unavailable` for an altered row */
export async function lossesToBook(db: Sql, orderId: number): Promise<LossToBook[]> {
  const own = await openLosses(db, [orderId]);
  const all = own.length === 0 ? own : await openLosses(db, await ordersOfPayments(db, own));
  return own.map((loss) => {
    const same = all.filter((each) => each.openCents > 0 && isSamePayment(each, loss));
    return { ...loss, openInAll: same.reduce((sum, { openCents }) => sum + openCents, 0), openOrders: same.length };
  });
}

export const isSamePayment = (one: OpenLoss, other: OpenLoss): boolean =>
  one.id === other.id || (one.paymentIntent !== null && one.paymentIntent === other.paymentIntent);

/** The ids of all orders that these payments paid for. Leaves out orders of other firms. */
export async function ordersOfPayments(db: Sql, payments: readonly { id: number }[]): Promise<number[]> {
  const receipt = (of: Statement) => sql`d.payment_id = ${of}.id AND d.kind = 'receipt'`;
  const found = await db.query<{ id: number }>(sql`
    WITH own AS (
      SELECT p.id, p.payment_intent, d.partner_id, d.environment FROM payments p JOIN billing_documents d ON ${receipt(sql`p`)}
      WHERE p.id = ANY (${payments.map(({ id }) => id)}::bigint[])
    )
    SELECT DISTINCT p.order_id AS id FROM own JOIN payments p ON p.id = own.id OR p.payment_intent = own.payment_intent
      JOIN billing_documents d ON ${receipt(sql`p`)} AND (d.partner_id, d.environment) = (own.partner_id, own.environment)`);
  return found.map(({ id }) => id);
}
