import type { Environment, Owner } from "../../../kernel/identity/identity.ts";
import type { Clock } from "../../../kernel/platform/clock.ts";
import type { Database, Sql, Tx } from "../../../kernel/platform/database/database.ts";
import { sql } from "../../../kernel/platform/database/sql.ts";
import { nullIfAltered } from "../../../kernel/platform/database/state-mac.ts";
import { ServiceError } from "../../../kernel/platform/errors.ts";
import type { Log } from "../../../kernel/platform/logs.ts";
import { isCode } from "../../../kernel/platform/text.ts";
import {
  fromOrders,
  hasOrderCode,
  isOrderOf,
  isPayable,
  type LockedOrder,
  lockOrder,
  lockUnalteredOrders,
  type NotarySupply,
  orderNotFound,
  orderPayer,
  type Payer,
} from "../../order/order.ts";
import { type Processor, processorFor } from "../processor/processor.ts";
import { dueOf, type Supplement, supplementsOf } from "../records/supplements.ts";
import { wasPaidByFirm } from "./payers.ts";
import { paymentRefusal, refusalsOf } from "./refusals.ts";
import { openSession } from "./sessions.ts";
import type { Part } from "./store.ts";

export type CheckoutDeps = { db: Database; clock: Clock; processor: Processor | null; notarySupply: NotarySupply };

/** True if this processor handles payments in this environment. */
export const acceptsPayment = (processor: Processor | null, environment: Environment): boolean =>
  processorFor(processor, environment) !== null;

const notConfigured = (): ServiceError => new ServiceError("payments_not_configured", "Payments are not configured.");

/**
 * Returns the processor at which orders in the environment are paid.
 * @throws ServiceError `payments_not_configured`
 */
function requireProcessor({ processor }: CheckoutDeps, environment: Environment): Processor {
  const own = processorFor(processor, environment);
  if (!own) throw notConfigured();
  return own;
}

const notPayable = (message: string) => new ServiceError("not_payable", message);

/**
 * The amount that is due for the locked order now: its total, or a supplement. Also returns the total when nothing is
 * due, so first check `refusalOf`.
 */
export const partOf = async (tx: Tx, order: LockedOrder): Promise<Part> => partFor(order, await dueFor(tx, order));

/**
 * The amount that may be charged now without a person's request; first check `refusalOf`. Undefined when the amount
 * replaces a payment that a bank took back: the firm may not want to pay again from the same account.
 */
export async function partToCharge(tx: Tx, order: LockedOrder): Promise<Part | undefined> {
  const due = await dueFor(tx, order);
  return due?.replacesLoss ? undefined : partFor(order, due);
}

const dueFor = async (db: Sql, { id, status }: Pick<LockedOrder, "id" | "status">): Promise<Supplement | undefined> =>
  isPayable(status) ? undefined : dueOf(status, await supplementsOf(db, id));

const partFor = ({ id: orderId, code: orderCode, totalCents }: LockedOrder, due: Supplement | undefined): Part => ({
  orderId,
  orderCode,
  amountCents: due?.amountCents ?? totalCents,
  supplementId: due?.id ?? null,
});

const isFirmsToPay = "The firm pays this amount.";

/**
 * True if the due amount replaces a payment of the firm that a bank took back. The client must not learn of that loss.
 * @throws ServiceError `unavailable` if a record of the order's payments was altered
 */
const isLossOfFirm = async (tx: Tx, order: LockedOrder): Promise<boolean> =>
  (await dueFor(tx, order))?.replacesLoss === true && wasPaidByFirm(tx, order.code);

const payerChanged = () =>
  new ServiceError(
    "conflict",
    "The client pays this order by now. If your firm shall pay it all the same, open the checkout from this page.",
  );

/**
 * Returns the URL of the order's open hosted checkout, or creates a checkout. The order's status doesn't change. An
 * order has only one checkout at a time, so an open checkout for a group with this order is closed.
 * @param owner the owner that the order must have; null for a caller who has the order's code
 * @param by the person who opens the checkout. `{ shown }`: a member of the firm; the firm pays, even if the order's
 * payer is the client. `shown` is the order's payer as the member's page showed it. `client`: the holder of the
 * client's link, who must not see what the firm pays. If absent, the order's payer pays.
 * @throws ServiceError `not_found`; `not_payable` with the reason; `conflict` when a payment was just made, the
 * checkout is busy or in an earlier account, or the order's payer is not the shown one; `payments_not_configured`;
 * `processor_failed`
 */
export async function checkoutUrl(
  deps: CheckoutDeps,
  code: string,
  owner: Owner | null,
  by?: { shown: Payer } | "client",
): Promise<string> {
  const opened = async (tx: Tx) => {
    const order = isCode(code) ? await lockOrder(tx, code) : undefined;
    if (!order || (owner && !isOrderOf(owner, order))) throw orderNotFound();
    const refusal = await paymentRefusal(tx, deps.notarySupply, order);
    if (refusal !== null) throw notPayable(refusal);
    requireProcessor(deps, order.environment);
    const parts = [await partOf(tx, order)];
    const payer = await payerOf(tx, parts);
    if (by === "client" && (payer === "firm" || (await isLossOfFirm(tx, order)))) throw notPayable(isFirmsToPay);
    const isByFirm = typeof by === "object";
    if (isByFirm && payer !== by.shown) throw payerChanged();
    return { groupId: null, parts, payer: isByFirm ? "firm" : payer };
  };
  // Some orders can't be paid at the configured processor, such as a test order when the key is live. So the order's
  // environment is read first.
  const [order] = isCode(code)
    ? await deps.db.query<{ environment: Environment }>(sql`
        SELECT o.environment ${fromOrders} WHERE ${hasOrderCode(code)}`)
    : [];
  const processor = order ? processorFor(deps.processor, order.environment) : null;
  return openSession({ ...deps, processor }, () => requireProcessor(deps, "live"), opened);
}

/**
 * Opens the checkout of a new order. Returns null when this fails: the order is valid, and the client can request the
 * checkout again.
 */
export const checkoutOfNewOrder = (deps: CheckoutDeps, log: Log) => (code: string) =>
  checkoutUrl(deps, code, null).catch((error: Error) => {
    log.warn({ err: error }, "an order was placed without its checkout");
    return null;
  });

/** An order of a group that is paid by one checkout. It was read without a lock. */
export type Member = { id: number; code: string };

export type SharedCheckout = {
  checkoutUrl: string;
  /** The orders that the checkout pays, in the sequence in which the group lists them. */
  orders: { orderCode: string; totalCents: number }[];
  totalCents: number;
};

/** `by`: `client` if the holder of a client's link asks, who must not see what the firm pays. */
type PaidGroup = { groupId: string; environment: Environment; payer?: Payer | undefined; by?: "client" };

/**
 * Returns the open hosted checkout for all payable orders of a group, such as a room, or creates one. No order's status
 * changes. By default, the checkout is for the payer of the first payable order.
 * @param members reads the group's orders; called a second time when they are locked
 * @throws ServiceError `not_payable` when no order is payable, and the same errors as for one order
 */
export async function sharedCheckout(
  deps: CheckoutDeps,
  { groupId, environment, payer, by }: PaidGroup,
  members: (db: Sql) => Promise<readonly Member[]>,
): Promise<SharedCheckout> {
  const processor = requireProcessor(deps, environment);
  let parts: readonly Part[] = [];
  const wanted = async (tx: Tx) => {
    parts = await payableParts(tx, deps.notarySupply, members, by);
    return { groupId, parts, payer: payer ?? (await payerOf(tx, parts)) };
  };
  const url = await openSession(deps, () => processor, wanted);
  const orders = parts.map(({ orderCode, amountCents: totalCents }) => ({ orderCode, totalCents }));
  return { checkoutUrl: url, orders, totalCents: orders.reduce((sum, each) => sum + each.totalCents, 0) };
}

const payerOf = async (tx: Tx, [first]: readonly Pick<Part, "orderId">[]): Promise<Payer> =>
  (first && (await orderPayer(tx, first.orderId))) ?? "client";

/**
 * Locks the orders of a group. Leaves out altered orders.
 * @returns the locked orders, in the sequence in which `members` lists them
 */
export async function lockGroup(
  tx: Tx,
  members: (db: Sql) => Promise<readonly Member[]>,
): Promise<readonly LockedOrder[]> {
  const listed = await members(tx);
  // Skips altered orders, so that one of them can't prevent the payment of the others.
  const orders = await lockUnalteredOrders(
    tx,
    listed.map(({ code }) => code),
  );
  const locked = new Map(orders.map((order) => [order.id, order]));
  if (JSON.stringify(await members(tx)) !== JSON.stringify(listed))
    throw new ServiceError("conflict", "The orders of this room just changed. Try again.");
  return listed.flatMap(({ id }) => locked.get(id) ?? []);
}

/** Locks the orders of a group, and returns a part of the checkout for each payable order. */
async function payableParts(
  tx: Tx,
  supply: NotarySupply,
  members: (db: Sql) => Promise<readonly Member[]>,
  by?: "client",
): Promise<readonly Part[]> {
  const parts: Part[] = [];
  const orders = await lockGroup(tx, members);
  const refusals = await refusalsOf(
    tx,
    supply,
    orders.map(({ id }) => id),
  );
  for (const order of orders) {
    if (refusals.has(order.id)) continue;
    // If the client asks, `members` has already left out these orders, but by data that are not verified.
    if (by === "client" && (await isLossOfFirm(tx, order).catch(nullIfAltered)) !== false) continue;
    parts.push(await partOf(tx, order));
  }
  if (parts.length > 0) return parts;
  const waiting = [...refusals.values()].find(({ kind }) => kind === "in_process");
  throw notPayable(waiting?.message ?? "No order of this room is payable.");
}
