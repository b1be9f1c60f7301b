import type { Environment, Owner } from "../../../kernel/identity/identity.ts";
import type { Clock } from "../../../kernel/platform/clock.ts";
import type { Database, Sql, Tx } from "../../../kernel/platform/database/database.ts";
import { sql } from "../../../kernel/platform/database/sql.ts";
import { ServiceError } from "../../../kernel/platform/errors.ts";
import type { Log } from "../../../kernel/platform/logs.ts";
import { isCode } from "../../../kernel/platform/text.ts";
import { deletedMessage } from "../../../kernel/retention/retention.ts";
import {
  fromOrders,
  hasOrderCode,
  isPayable,
  type LockedOrder,
  lockOrder,
  lockUnalteredOrders,
  type NotarySupply,
  notaryGapOfQuote,
  orderPayer,
  type Payer,
  whenDocumentsWereDeleted,
} from "../../order/order.ts";
import { isDisputed } from "../disputes.ts";
import { chargesOfOrder, isOpenCharge } from "../firm/charge-store.ts";
import { type Processor, processorFor } from "../processor/processor.ts";
import { dueOf, type Supplement, supplementsOf } from "../supplements.ts";
import { wasPaidByFirm } from "./payers.ts";
import { openSession } from "./sessions.ts";
import { hasPendingFunds, type Part } from "./store.ts";

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
const bankDecides = "A bank still decides on a payment of this order. Wait for its answer.";
const inProcess = "A bank payment is being processed. Wait until the bank has answered.";
const firmPays = "A payment by your firm is under way. Wait until it has ended.";

/**
 * The amount that is due for the locked order now: its total, or a supplement. Also returns the total when nothing is
 * due, so first check `refusalOf`.
 */
export const partOf = async (tx: Tx, order: LockedOrder): Promise<Part> => partFor(order, await dueFor(tx, order));

/**
 * The amount that may be charged now without a person's request; first check `refusalOf`. Undefined when it replaces a
 * payment that a bank took back, because the firm may not want to pay again from the same account.
 */
export async function partToCharge(tx: Tx, order: LockedOrder): Promise<Part | undefined> {
  const due = await dueFor(tx, order);
  return due?.replacesLoss ? undefined : partFor(order, due);
}

const dueFor = async (db: Sql, { id, status }: Pick<LockedOrder, "id" | "status">): Promise<Supplement | undefined> =>
  isPayable(status) ? undefined : dueOf(status, await supplementsOf(db, id));

const partFor = ({ id: orderId, code: orderCode, totalCents }: LockedOrder, due: Supplement | undefined): Part => ({
  ...{ orderId, orderCode, amountCents: due?.amountCents ?? totalCents, supplementId: due?.id ?? null },
});

const isFirmsToPay = "The firm pays this amount.";

/** True if the due amount replaces a payment of the firm that a bank took back. The client must not learn of it. */
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
    const foreign = owner && (order?.partnerId !== owner.partnerId || order.environment !== owner.environment);
    if (!order || foreign) throw new ServiceError("not_found", "Order not found.");
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

/**
 * The kind of reason why an order can't be paid now. `not_due`: nothing is owed, or the order's document was deleted.
 * `stuck`: a person must correct the order first. `disputed`: the due amount replaces a payment about which a bank
 * still decides. `in_process`: a payment is in progress.
 */
export type RefusalKind = "not_due" | "stuck" | "disputed" | "in_process";

type Refusal = { kind: RefusalKind; message: string };

/**
 * The reason why the order can't be paid now; null when it can. Before a payment, the caller must have locked the
 * order; for a page it need not.
 * @param ownCharge the id of the firm's charge that is about to be sent; it doesn't prevent the payment
 */
export async function refusalOf(
  db: Sql,
  supply: NotarySupply,
  order: Pick<LockedOrder, "id" | "status">,
  ownCharge?: string,
): Promise<Refusal | null> {
  const isFirst = isPayable(order.status);
  const due = await dueFor(db, order);
  if (!isFirst && !due) return { kind: "not_due", message: `An order in ${order.status} is not payable.` };
  if (due?.replacesLoss && (await isDisputed(db, order.id))) return { kind: "disputed", message: bankDecides };
  const deletedAt = await whenDocumentsWereDeleted(db, order.id);
  if (deletedAt) return { kind: "not_due", message: deletedMessage("The document of this order", deletedAt) };
  const gap = isFirst ? await notaryGapOfQuote(supply, db, order.id) : null;
  if (gap !== null) {
    const message = `The notarization of this order can’t be performed as quoted. ${gap} Cancel it and place it again.`;
    return { kind: "stuck", message };
  }
  const charges = await chargesOfOrder(db, order.id);
  if (charges.some((each) => isOpenCharge(each) && each.id !== ownCharge))
    return { kind: "in_process", message: firmPays };
  return (await hasPendingFunds(db, order.id)) ? { kind: "in_process", message: inProcess } : null;
}

/** The message of `refusalOf`: why the locked order can't be paid now; null when it can. */
export const paymentRefusal = async (
  tx: Tx,
  supply: NotarySupply,
  order: LockedOrder,
  ownCharge?: string,
): Promise<string | null> => (await refusalOf(tx, supply, order, ownCharge))?.message ?? null;

/** An order of a group that is paid by one checkout. It was read without a lock. */
export type Member = { id: number; code: string };

export type SharedCheckout = {
  checkoutUrl: string;
  /** The orders that the checkout pays, in the sequence in which the group lists them. */
  orders: { orderCode: string; totalCents: number }[];
  totalCents: number;
};

/**
 * Returns the open hosted checkout for all payable orders of a group, such as a room, or creates one. No order's status
 * changes. By default, the checkout is for the payer of the first payable order.
 * @param members reads the group's orders; called a second time when they are locked
 * @throws ServiceError `not_payable` when no order is payable, and the same errors as for one order
 */
export async function sharedCheckout(
  deps: CheckoutDeps,
  { groupId, environment, payer }: { groupId: string; environment: Environment; payer?: Payer | undefined },
  members: (db: Sql) => Promise<readonly Member[]>,
): Promise<SharedCheckout> {
  const processor = requireProcessor(deps, environment);
  let parts: readonly Part[] = [];
  const wanted = async (tx: Tx) => {
    parts = await payableParts(tx, deps.notarySupply, members);
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
): Promise<readonly Part[]> {
  const parts: Part[] = [];
  const refusals: string[] = [];
  for (const order of await lockGroup(tx, members)) {
    const refusal = await paymentRefusal(tx, supply, order);
    if (refusal === null) parts.push(await partOf(tx, order));
    else refusals.push(refusal);
  }
  if (parts.length === 0)
    throw notPayable(
      [inProcess, firmPays].find((each) => refusals.includes(each)) ?? "No order of this room is payable.",
    );
  return parts;
}
