/**
 * SQL fragments and functions with which other features find orders. The alias of `orders` is `o`, as in
 * `verifiedOrder`. Only `lockOrderById` and `lockOwnOrder` verify their result. For other results, the caller must
 * verify an order's MAC when it locks or shows the order.
 */
import { firstIn, ofFirmIn } from "../../firms/partners/partners.ts";
import { hasLineAfterMove } from "../../kernel/audit/audit.ts";
import type { Environment, Owner } from "../../kernel/identity/identity.ts";
import type { Sql, Tx } from "../../kernel/platform/database/database.ts";
import { isSealed, type Statement, sql } from "../../kernel/platform/database/sql.ts";
import { isCode } from "../../kernel/platform/text.ts";
import { isOrderOf, orderNotFound } from "./own-order.ts";
import type { OrderStatus } from "./transitions/statuses.ts";
import { type LockedOrder, lockOrder } from "./transitions/transitions.ts";

export const ordersTable: Statement = sql`orders o`;

export const fromOrders: Statement = sql`FROM ${ordersTable}`;

/**
 * The SQL JOIN that adds `orders o` to a query on other tables.
 * @param id the order's row id, as an expression of the other tables
 */
export const joinOrder = (id: Statement): Statement => sql`JOIN orders o ON o.id = ${id}`;

/** Like `joinOrder`, for rows that may have no order. */
export const leftJoinOrder = (id: Statement): Statement => sql`LEFT JOIN orders o ON o.id = ${id}`;

const firstCompleted = (environment: Environment): Statement =>
  sql`(SELECT updated_at FROM orders WHERE ${ofFirmIn[environment]} AND status = 'Completed' ORDER BY created_at, id LIMIT 1)`;

/**
 * For a firm's launchpad, in each environment: when the firm placed its first order, and when the oldest of its
 * completed orders last changed.
 */
export const firstOrders = {
  testOrderAt: firstIn(sql`orders`, "test"),
  testCompletedAt: firstCompleted("test"),
  liveOrderAt: firstIn(sql`orders`, "live"),
  liveCompletedAt: firstCompleted("live"),
};

/**
 * SQL condition: true if the client became the payer after the order's last failed payment attempt, which was the
 * firm's. Also true if the client became the payer and no payment has failed. Not verified, so it may only choose words
 * and mails.
 */
export const isFailureOfFirm = (orderId: Statement): Statement =>
  hasLineAfterMove(orderId, "order.payer_changed", "PaymentFailed");

export const hasOrderCode = (code: string): Statement => isSealed(sql`o.code`, "order", code);

/** SQL condition: true if the order is of the same firm, environment, payer and client as another one. */
export const isOfSameClient = (orderId: number): Statement => sql`
  (o.partner_id, o.environment, o.pay_by, lower(o.customer_email)) = (
    SELECT x.partner_id, x.environment, x.pay_by, lower(x.customer_email) FROM orders x WHERE x.id = ${orderId})`;

/** SQL condition: true if the row of another table belongs to the order's firm and environment. */
export const isOfFirm = (orderId: Statement, row: Statement): Statement =>
  sql`(${row}.partner_id, ${row}.environment) = (SELECT x.partner_id, x.environment FROM orders x WHERE x.id = ${orderId})`;

/** SQL expression: the email address of the client of the order with this code, in lower case. */
export const clientEmailOf = (code: string): Statement =>
  sql`(SELECT lower(x.customer_email) FROM orders x WHERE ${isSealed(sql`x.code`, "order", code)})`;

export const orderIdOf = (code: string): Statement => sql`(SELECT o.id FROM orders o WHERE ${hasOrderCode(code)})`;

/** The row ids of the owner's orders with this reference. */
export const orderIdsOf = ({ partnerId, environment }: Owner, reference: string): Statement => sql`
  SELECT o.id FROM orders o
  WHERE o.partner_id = ${partnerId} AND o.environment = ${environment} AND o.external_reference = ${reference}`;

export type OrderHead = { code: string; partnerId: string; environment: Environment; status: OrderStatus };

/** Finds an order by its row id. */
export async function readOrderHead(db: Sql, orderId: number): Promise<OrderHead | undefined> {
  const [order] = await db.query<OrderHead>(sql`
    SELECT o.code AS "code@order", o.partner_id AS "partnerId", o.environment, o.status
    FROM orders o WHERE o.id = ${orderId}`);
  return order;
}

export async function orderCodes(db: Sql, orderIds: readonly number[]): Promise<ReadonlyMap<number, string>> {
  if (orderIds.length === 0) return new Map();
  const orders = await db.query<{ id: number; code: string }>(sql`
    SELECT o.id, o.code AS "code@order" FROM orders o WHERE o.id = ANY (${orderIds}::bigint[])`);
  return new Map(orders.map(({ id, code }) => [id, code]));
}

/**
 * Locks the owner's order until the transaction ends.
 * @throws ServiceError `not_found` for an order of another owner
 */
export async function lockOwnOrder(tx: Tx, owner: Owner, code: string): Promise<LockedOrder> {
  const order = isCode(code) ? await lockOrder(tx, code) : undefined;
  if (!order || !isOrderOf(owner, order)) throw orderNotFound();
  return order;
}

export async function lockOrderById(tx: Tx, orderId: number): Promise<LockedOrder | undefined> {
  const order = await readOrderHead(tx, orderId);
  return order && lockOrder(tx, order.code);
}
