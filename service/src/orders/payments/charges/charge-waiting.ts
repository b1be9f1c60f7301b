/** At a member's request, charges the firm's method for orders that wait for the firm's payment. */
import { actorOf, type Principal } from "../../../kernel/identity/identity.ts";
import type { Sql, Tx } from "../../../kernel/platform/database/database.ts";
import { isSealedAny, sql } from "../../../kernel/platform/database/sql.ts";
import { ServiceError } from "../../../kernel/platform/errors.ts";
import { enqueue } from "../../../kernel/platform/jobs/jobs.ts";
import { requireProof } from "../../../kernel/platform/recent-proof.ts";
import { isCode, shortCode } from "../../../kernel/platform/text.ts";
import { dollars } from "../../dollars.ts";
import { firmChargeQueue, fromOrders, isPayable, type LockedOrder, orderPayer } from "../../order/order.ts";
import { partToCharge } from "../checkout/checkout.ts";
import { refusalOf } from "../checkout/refusals.ts";
import { accountOf } from "../methods/methods.ts";
import { type AlteredOrder, isSound, lockSorted, reportAltered } from "../records/altered.ts";
import { activeMethod } from "../records/methods.ts";
import {
  amountsOf,
  anotherMethod,
  type ChargeDeps,
  freeOrder,
  insertPayment,
  noMethod,
  type OrderPart,
  refusals,
} from "./charges.ts";
import { payAlone } from "./group.ts";
import { spendingRefusal } from "./limits.ts";

/** The largest number of orders that one request charges. */
export const maxAtOnce = 50;

/** The orders that the page showed, each with its price in cents, and the id of the method to charge. */
export type ShownWaiting = { orders: ReadonlyMap<string, number>; methodId: string };

/** An order that was not charged, and the reason as a sentence. */
export type LeftOrder = { code: string; reason: string };

const altered = "The operator has to check its record first.";

/**
 * Charges the firm's method for orders that wait for it. Each order gets a payment of its own, at the price that the
 * page showed. Leaves out an order that can't be charged in this way, and still charges the others.
 * @returns the orders that were left out; at least one order was charged
 * @throws ServiceError `not_found` for orders that aren't all the firm's; `conflict` when no order can be charged, or
 * the method has changed; `not_payable` without a method, or for a caller who may not spend; `payments_not_configured`;
 * the errors of `requireProof`
 */
export async function chargeWaiting(
  deps: ChargeDeps,
  principal: Principal,
  { orders: shown, methodId }: ShownWaiting,
): Promise<LeftOrder[]> {
  accountOf(deps, principal);
  const left = await deps.db.transaction(async (tx) => {
    const { orders, altered: unread } = await lockShown(tx, principal, [...shown.keys()]);
    requireProof(principal, deps.clock());
    const method = await activeMethod(tx, principal);
    if (!method) throw noMethod();
    if (method.id !== methodId)
      throw new ServiceError("conflict", `${anotherMethod} Nothing was charged: look at the orders that wait again.`);
    const due: OrderPart[] = [];
    const leftOut: LeftOrder[] = [];
    for (const order of orders) {
      const { id: orderId, code } = order;
      const isUnaltered = await isSound(
        partIfShown(tx, deps, order, shown.get(code)).then((part) =>
          typeof part === "string" ? leftOut.push({ code, reason: part }) : due.push(part),
        ),
      );
      if (!isUnaltered) unread.push({ orderId, orderCode: code });
    }
    const consequence =
      "The firm asked for its charge, and was not charged for it. Ask the firm to charge it when the record is as it was.";
    await reportAltered(tx, unread, { about: "charge", consequence, at: deps.clock() });
    const askedBy = actorOf(principal);
    leftOut.push(...unread.map(({ orderCode: code }) => ({ code, reason: altered })));
    leftOut.push(...(await leaveAboveLimits(tx, deps, principal, due)));
    for (const each of due) {
      await insertPayment(tx, [each], { methodId, askedBy, at: deps.clock(), reason: null });
      await enqueue(tx, firmChargeQueue, { orderId: each.order.id });
    }
    return leftOut;
  });
  if (left.length === shown.size) throw new ServiceError("conflict", `Nothing was charged. ${leftText(left)}`);
  return left;
}

/** Names the orders that were not charged, with the reasons, such as `Orders 3FA2B1, 09C7DE: A reason.` */
export const leftText = (left: readonly LeftOrder[]): string =>
  [...Map.groupBy(left, ({ reason }) => reason)]
    .map(([reason, orders]) => {
      const names = orders.map(({ code }) => shortCode(code)).join(", ");
      return `${orders.length === 1 ? "Order" : "Orders"} ${names}: ${reason}`;
    })
    .join(" ");

/**
 * Locks the caller's orders.
 * @throws ServiceError `not_found` for no orders, for more than `maxAtOnce`, and when one of them is not the firm's
 */
async function lockShown(tx: Tx, principal: Principal, codes: readonly string[]) {
  const isAsked = codes.length > 0 && codes.length <= maxAtOnce && codes.every(isCode);
  const own = isAsked ? await ownOrders(tx, principal, codes) : [];
  if (!isAsked || own.length !== codes.length) throw new ServiceError("not_found", "No such orders.");
  return lockSorted(tx, own);
}

/**
 * Finds the caller's orders without verifying their MACs, so that an altered order doesn't stop the charges of the
 * others.
 */
const ownOrders = (db: Sql, { partnerId, environment }: Principal, codes: readonly string[]) =>
  db.query<AlteredOrder>(sql`
    SELECT o.id AS "orderId", o.code AS "orderCode@order" ${fromOrders}
    WHERE ${isSealedAny(sql`o.code`, "order", codes)} AND o.partner_id = ${partnerId} AND o.environment = ${environment}`);

/** The amount that is due for the order, or the reason why it can't be charged as the page showed it. */
async function partIfShown(
  tx: Tx,
  { notarySupply }: ChargeDeps,
  order: LockedOrder,
  shownCents: number | undefined,
): Promise<OrderPart | string> {
  const refusal = await refusalOf(tx, notarySupply, order);
  const isDue = isPayable(order.status) || refusal?.kind !== "not_due";
  if (!isDue || (await orderPayer(tx, order.id)) !== "firm") return "No payment of your firm is due any more.";
  if (refusal !== null) return refusal.message;
  const part = await partToCharge(tx, order);
  if (!part) return payAlone;
  if (part.amountCents === 0) return freeOrder;
  return part.amountCents === shownCents ? { order, part } : `The price is ${dollars(part.amountCents)} now.`;
}

/**
 * Removes from `due` the orders that the caller's limits don't allow.
 * @returns the removed orders
 * @throws ServiceError `not_payable` for a caller who may not spend at all
 */
async function leaveAboveLimits(
  tx: Tx,
  deps: ChargeDeps,
  principal: Principal,
  due: OrderPart[],
): Promise<LeftOrder[]> {
  const spender = actorOf(principal);
  const left: LeftOrder[] = [];
  for (;;) {
    const limit = await spendingRefusal(tx, deps, principal, { spender, amounts: amountsOf(due) });
    if (limit === null) return left;
    const reason = refusals[limit.reason];
    if (limit.reason === "left" || limit.reason === "no_limit") throw new ServiceError("not_payable", reason);
    for (const { order } of due.splice(limit.at, 1)) left.push({ code: order.code, reason });
  }
}
