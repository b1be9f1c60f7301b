/** Changes the payer of unpaid orders from the firm to their clients, for example after the firm's card was declined. */
import { auditLine } from "../../../kernel/audit/audit.ts";
import { actorOf, type Principal } from "../../../kernel/identity/identity.ts";
import type { Sql, Tx } from "../../../kernel/platform/database/database.ts";
import { sql } from "../../../kernel/platform/database/sql.ts";
import { isAltered } from "../../../kernel/platform/database/state-mac.ts";
import { ServiceError } from "../../../kernel/platform/errors.ts";
import { isPayable, type LockedOrder, lockOwnOrder, mailClient, orderPayer, setPayer } from "../../order/order.ts";
import { type CheckoutDeps, lockGroup, type Member } from "./checkout.ts";
import { refusalOf } from "./refusals.ts";
import { afterClosing } from "./sessions.ts";

/**
 * Lets the client pay an order that the firm was to pay, and mails them the link to pay.
 * @throws ServiceError `not_found`; `not_payable` when the payer can't change, for example while a payment is in
 * progress; the errors of `afterClosing`
 */
export async function letClientPay(deps: CheckoutDeps, principal: Principal, code: string): Promise<void> {
  await afterClosing(deps, async (tx) => {
    const order = await lockOwnOrder(tx, principal, code);
    const refusal = await whyNot(tx, deps, order);
    if (refusal !== null) throw notPayable(refusal);
    return { orders: [order], work: () => change(tx, deps, order, principal) };
  });
}

/** An order that a page named, with the price that its client would pay. */
export type ShownOrder = { code: string; totalCents: number };

/**
 * Lets the clients pay several orders of a group: all that the page showed, or none.
 * @param members reads the group's orders; called a second time when they are locked
 * @throws ServiceError as `letClientPay`; also `conflict` when an order of the page was altered, has left the group, or
 * has another price
 */
export async function letClientsPay(
  deps: CheckoutDeps,
  principal: Principal,
  members: (db: Sql) => Promise<readonly Member[]>,
  shown: readonly ShownOrder[],
): Promise<void> {
  if (shown.length === 0) throw notPayable("Your firm has no order here that its client could pay instead.");
  const codes = new Set(shown.map(({ code }) => code));
  const shownMembers = async (db: Sql) => (await members(db)).filter(({ code }) => codes.has(code));
  await afterClosing(deps, async (tx) => {
    const locked = new Map((await lockGroup(tx, shownMembers)).map((order) => [order.code, order]));
    const orders: LockedOrder[] = [];
    for (const { code, totalCents } of shown) {
      const order = locked.get(code);
      if (!order) throw changed(code, "was altered in the database, or is not in this room any more");
      const refusal = await whyNot(tx, deps, order);
      if (refusal !== null) throw notPayable(`Order ${code}: ${refusal}`);
      if (order.totalCents !== totalCents) throw changed(code, "has another price by now");
      orders.push(order);
    }
    const work = async () => {
      for (const order of orders) await change(tx, deps, order, principal);
    };
    return { orders, work };
  });
}

const changed = (code: string, how: string) =>
  new ServiceError("conflict", `Order ${code} ${how}. Nothing was changed: look at this page again.`);

/**
 * For a page: why the clients of these orders can't pay in place of the firm; null for each order whose client can.
 * Locks nothing. Reads the orders one by one: a room can have many, and an altered record of one must not hide the
 * others.
 */
export async function whyClientsCantPay(
  deps: { db: Sql } & Pick<CheckoutDeps, "notarySupply">,
  orders: readonly Pick<LockedOrder, "id" | "status">[],
): Promise<(string | null)[]> {
  const refusals: (string | null)[] = [];
  for (const order of orders) refusals.push(await whyNot(deps.db, deps, order).catch(altered));
  return refusals;
}

function altered(error: unknown): string {
  if (!isAltered(error)) throw error;
  return "A record about this order’s payments was altered in the database. The operator has to restore it first.";
}

const notPayable = (message: string) => new ServiceError("not_payable", message);

/**
 * The reason why the payer of the order can't change; null when it can. A caller that changes the payer must have
 * locked the order.
 */
async function whyNot(
  db: Sql,
  { notarySupply }: Pick<CheckoutDeps, "notarySupply">,
  order: Pick<LockedOrder, "id" | "status">,
): Promise<string | null> {
  if ((await orderPayer(db, order.id)) !== "firm") return "The client pays this order.";
  if (!isPayable(order.status)) return `An order in ${order.status} has no price to pay.`;
  const refusal = await refusalOf(db, notarySupply, order);
  if (refusal) return refusal.message;
  // The payer can't change after a payment, because the payment's receipt names the firm as the payer.
  const paid = await db.query(sql`SELECT FROM payments WHERE order_id = ${order.id} LIMIT 1`);
  if (paid.length > 0) return "Your firm has made a payment for this order, so it stays the payer.";
  return (await isPaidWithOthers(db, order.id)) ? paidTogether : null;
}

const paidTogether =
  "Your firm has paid this order together with others, by a wrong sum. Wait until that payment was refunded.";

/**
 * True if the service holds a payment for several orders, including this one. If the sum of a payment is wrong, only
 * the first of its orders has a row. So this function also finds such a payment for the other orders.
 */
async function isPaidWithOthers(db: Sql, orderId: number): Promise<boolean> {
  const held = await db.query(sql`
    SELECT 1 FROM firm_charges c JOIN payments p ON p.payment_intent = c.payment_intent
    WHERE c.order_id = ${orderId} AND p.refunded_at IS NULL
    UNION ALL
    SELECT 1 FROM checkout_parts k JOIN checkout_sessions s ON s.id = k.checkout_id
      JOIN checkout_parts each ON each.checkout_id = s.id
      JOIN payments p ON p.order_id = each.order_id AND p.session_id = s.session_id
    WHERE k.order_id = ${orderId} AND p.refunded_at IS NULL LIMIT 1`);
  return held.length > 0;
}

async function change(tx: Tx, { clock }: CheckoutDeps, order: LockedOrder, principal: Principal): Promise<void> {
  const at = clock();
  const { id: orderId, partnerId } = order;
  await setPayer(tx, orderId, "client");
  const detail = { from: "firm", to: "client" };
  await tx.query(
    auditLine({ at, action: "order.payer_changed", actor: actorOf(principal), partnerId, orderId, detail }),
  );
  await mailClient(tx, orderId, "quote_ready", at);
}
