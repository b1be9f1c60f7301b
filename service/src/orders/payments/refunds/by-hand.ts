/**
 * Partial refunds of a payment that several orders share, made in the processor's own dashboard. The processor doesn't
 * know the orders, so a person assigns the refund to orders. Until then, nothing else of the payment is refunded.
 */
import { auditLine } from "../../../kernel/audit/audit.ts";
import type { Environment } from "../../../kernel/identity/identity.ts";
import type { Sql, Tx } from "../../../kernel/platform/database/database.ts";
import { type Statement, sql } from "../../../kernel/platform/database/sql.ts";
import { type Marked, marked, markedAll, verified, verifiedAll } from "../../../kernel/platform/database/state-mac.ts";
import { enqueue } from "../../../kernel/platform/jobs/jobs.ts";
import type { Log } from "../../../kernel/platform/logs.ts";
import { closeTasks } from "../../../kernel/tasks/tasks.ts";
import { joinOrder, type LockedOrder, lockOrder, refundQueue } from "../../order/order.ts";
import { endPriceTasks } from "../debts/price-debt.ts";
import { applyRefund, tellPart } from "../events/apply.ts";
import { lockIntent, settledRefundQueue } from "../records/disputes.ts";
import { billingDocumentState, creditPart, restOf } from "../records/documents.ts";
import { paymentState } from "../records/payments.ts";
import { refundState, refundsOfIntent } from "../records/refunds.ts";

/** One order's share of a shared payment. */
type Share = {
  paymentId: number;
  orderId: number;
  orderCode: string;
  orderStatus: string;
  /** The cents of this share that were neither refunded nor lost. */
  restCents: number;
};

export type RefundByHand = {
  id: string;
  paymentIntent: string;
  amountCents: number;
  currency: string;
  seenAt: Date;
  /**
   * `pending`: the bank has not confirmed the refund. `waiting`: people can assign it. `ended`: nobody has to assign it
   * any more, because it was assigned, it failed, or no money of the orders is left.
   */
  state: "pending" | "waiting" | "ended";
  shares: readonly Share[];
};

type Row = Omit<RefundByHand, "shares">;

/** The documents that correct the receipt of the payment `p`. */
const notes = sql`FROM billing_documents d WHERE d.payment_id = p.id AND d.kind <> 'receipt'`;

/**
 * SQL condition: true if people must assign the refund `r` to orders. This service didn't request it, it returns money
 * of several orders, and none of them has a credit note for it. Includes a pending refund, because its money has left
 * the payment. False when nothing is left of the orders' payments, because no order can then get a part of the refund.
 */
const isUnassigned = sql`r.state IN ('pending', 'succeeded') AND r.request IS NULL AND r.amount_cents > 0
  AND 1 < (SELECT count(*) FROM payments p WHERE p.payment_intent = r.payment_intent
    AND EXISTS (SELECT FROM billing_documents d WHERE d.payment_id = p.id AND d.kind = 'receipt'))
  AND EXISTS (SELECT FROM payments p WHERE p.payment_intent = r.payment_intent AND p.refunded_at IS NULL
    AND p.amount_cents > (SELECT coalesce(sum(CASE WHEN d.kind IN ('credit_note', 'loss') THEN d.part_cents
      ELSE -d.part_cents END), 0) ${notes}))
  AND NOT EXISTS (SELECT FROM billing_documents d JOIN payments p ON p.id = d.payment_id
    WHERE p.payment_intent = r.payment_intent AND d.kind = 'credit_note' AND d.refund = r.id)`;

const waits = sql`r.state = 'succeeded' AND ${isUnassigned}`;

const columns = (seen: Statement) => sql`r.id, r.payment_intent AS "paymentIntent",
  r.amount_cents::float8 AS "amountCents", lower(coalesce(r.currency, (SELECT min(p.currency) FROM payments p WHERE p.payment_intent = r.payment_intent))) AS currency, r.seen_at AS "seenAt",
  CASE WHEN ${isUnassigned} THEN CASE r.state WHEN 'pending' THEN 'pending' ELSE 'waiting' END ELSE 'ended' END AS state, ${seen}`;

/** SQL condition: the refund `r` is of a payment for orders of this environment. */
const isIn = (environment: Environment): Statement => sql`EXISTS (SELECT FROM payments p ${joinOrder(sql`p.order_id`)}
  WHERE p.payment_intent = r.payment_intent AND o.environment = ${environment})`;

/** SQL condition: the refund with this id is of a payment for orders of this environment. */
export const isRefundIn = (environment: Environment, id: Statement): Statement =>
  sql`EXISTS (SELECT FROM refunds r WHERE r.id = ${id} AND ${isIn(environment)})`;

/** SQL condition: people must assign the refund with this id to orders. Not verified, so it may only choose a link. */
export const isUnassignedRefund = (id: Statement): Statement =>
  sql`EXISTS (SELECT FROM refunds r WHERE r.id = ${id} AND ${isUnassigned})`;

/** The number of refunds on a page of the list. */
export const refundsOnPage = 50;

type ListOf = { asked: readonly string[] } | { after: string | null };

/**
 * The SQL statement that lists refunds: either the named ones, or one page of those that a person must assign to
 * orders.
 */
export function byHandStatement(environment: Environment, of: ListOf): Statement {
  const payments = sql`FROM payments p WHERE p.payment_intent = r.payment_intent`;
  const documents = sql`FROM billing_documents d JOIN payments p ON p.id = d.payment_id WHERE p.payment_intent = r.payment_intent`;
  // Repeats the condition of the partial index on refunds, so that PostgreSQL reads a page from that index alone.
  const which =
    "asked" in of
      ? sql`r.id = ANY (${of.asked}::text[])`
      : sql`r.request IS NULL AND r.state IN ('pending', 'succeeded') AND r.amount_cents > 0 AND ${isUnassigned}
        AND (${of.after}::text IS NULL OR (r.seen_at, r.id) > (SELECT x.seen_at, x.id FROM refunds x WHERE x.id = ${of.after}))`;
  return sql`
    SELECT ${columns(marked(refundState, sql`r`))}, ${markedAll(paymentState, sql`p`, payments)},
      ${markedAll(billingDocumentState, sql`d`, documents)}
    FROM refunds r WHERE ${which} AND ${isIn(environment)}
    ORDER BY r.seen_at, r.id LIMIT ${"asked" in of ? 100 : refundsOnPage}`;
}

/**
 * The refunds that a person must assign to orders, oldest first. Includes refunds that the bank has not confirmed;
 * people can assign them only after the bank has confirmed them. Omits altered refunds and payments.
 * @param asked the ids of refunds for which somebody has proposed an assignment to orders. The first page begins with
 * these refunds, even with those that nobody has to assign any more.
 * @param after the last refund of the previous page; null for the first page
 */
export async function refundsByHand(
  db: Sql,
  environment: Environment,
  { asked, after }: { asked: readonly string[]; after: string | null },
): Promise<RefundByHand[]> {
  const named = after === null ? await db.query<Row & Marked>(byHandStatement(environment, { asked })) : [];
  const page = await db.query<Row & Marked>(byHandStatement(environment, { after }));
  const rows = new Map([...named, ...page].map((row) => [row.id, row]));
  const refunds: RefundByHand[] = [];
  for (const { isAuthentic, ...row } of rows.values())
    if (isAuthentic) refunds.push({ ...row, shares: await sharesOf(db, row.paymentIntent) });
  return refunds;
}

async function sharesOf(db: Sql, paymentIntent: string): Promise<Share[]> {
  const rows = await db.query<Omit<Share, "restCents">>(sql`
    SELECT p.id AS "paymentId", o.id AS "orderId", o.code AS "orderCode@order", o.status AS "orderStatus",
      ${verified(paymentState, sql`p`)}
    FROM payments p ${joinOrder(sql`p.order_id`)} WHERE p.payment_intent = ${paymentIntent}
      AND EXISTS (SELECT FROM billing_documents d WHERE d.payment_id = p.id AND d.kind = 'receipt') ORDER BY o.id, p.id`);
  const shares: Share[] = [];
  for (const row of rows) shares.push({ ...row, restCents: await restOf(db, row.paymentId) });
  return shares;
}

/**
 * Locks a refund and its orders, in the same sequence as the code that applies the processor's events.
 * @param mustWait true to lock the refund only if people can assign it now: its state is `waiting`
 * @returns undefined for an unknown refund, and for one of the other environment. With `mustWait`, also undefined if
 * the refund has another state.
 */
export async function lockRefundByHand(
  tx: Tx,
  environment: Environment,
  id: string,
  mustWait: boolean,
): Promise<{ refund: RefundByHand; orders: ReadonlyMap<number, LockedOrder> } | undefined> {
  const find = () =>
    tx.query<Row>(sql`
      SELECT ${columns(verified(refundState, sql`r`))} FROM refunds r WHERE r.id = ${id} AND (${waits} OR NOT ${mustWait})`);
  const [seen] = await find();
  if (!seen) return undefined;
  const orders = new Map<number, LockedOrder>();
  for (const { orderCode } of await sharesOf(tx, seen.paymentIntent)) {
    const order = await lockOrder(tx, orderCode);
    if (order) orders.set(order.id, order);
  }
  await lockIntent(tx, seen.paymentIntent);
  const [row] = await find();
  const isShown = [...orders.values()].every((order) => order.environment === environment);
  if (!row || !isShown) return undefined;
  return { refund: { ...row, shares: await sharesOf(tx, row.paymentIntent) }, orders };
}

/**
 * The first refund that may have returned money of the order, but is not assigned to orders. Until it is assigned, the
 * rest of the order's payment is unknown.
 * @returns null without one
 * @throws ServiceError `unavailable` when a payment, refund or document was altered, because the altered row may hide
 * such a refund
 */
export async function unassignedRefund(
  db: Sql,
  orderId: number,
): Promise<{ id: string; state: "pending" | "succeeded" } | null> {
  const intents = sql`SELECT o.payment_intent FROM payments o WHERE o.order_id = ${orderId}`;
  const payments = sql`FROM payments p WHERE p.payment_intent IN (${intents})`;
  const refunds = sql`FROM refunds r WHERE r.payment_intent IN (${intents})`;
  const documents = sql`FROM billing_documents d WHERE d.payment_id IN (SELECT p.id ${payments})`;
  const [found] = await db.query<{ refunds: { id: string; state: "pending" | "succeeded" }[] | null }>(sql`
    SELECT (SELECT json_agg(json_build_object('id', r.id, 'state', r.state) ORDER BY r.seen_at, r.id) ${refunds}
        AND r.payment_intent IN (SELECT p.payment_intent FROM payments p WHERE p.order_id = ${orderId} AND p.refunded_at IS NULL)
        AND ${isUnassigned}) AS refunds,
      ${verifiedAll(paymentState, sql`p`, payments)}, ${verifiedAll(refundState, sql`r`, refunds)},
      ${verifiedAll(billingDocumentState, sql`d`, documents)}`);
  return found?.refunds?.[0] ?? null;
}

/**
 * True if the order's refunds wait until another refund is assigned to orders. Once that refund is assigned or fails,
 * they are queued again.
 */
export async function awaitsAssignment({ db, log }: { db: Sql; log: Log }, orderId: number): Promise<boolean> {
  const refund = await unassignedRefund(db, orderId);
  if (refund) log.warn({ orderId, refund: refund.id }, "the order’s refund waits: another refund has no orders yet");
  return refund !== null;
}

/** True if the service requested a refund of the payment `paymentId`, and the bank has not confirmed that refund. */
export async function isOnItsWay(db: Sql, { paymentIntent }: RefundByHand, paymentId: number): Promise<boolean> {
  const refunds = await refundsOfIntent(db, paymentIntent);
  return refunds.some(({ payment, state }) => payment === String(paymentId) && state === "pending");
}

/** The processor's id of the payment that a refund returns; null for an unknown refund, or one without such an id. */
export async function intentOfRefund(db: Sql, id: string): Promise<string | null> {
  const [row] = await db.query<{ paymentIntent: string | null }>(sql`
    SELECT r.payment_intent AS "paymentIntent", ${verified(refundState, sql`r`)} FROM refunds r WHERE r.id = ${id}`);
  return row?.paymentIntent ?? null;
}

/**
 * Finds the refunds of a payment that are not stored here, because their events have not arrived.
 * @param ids the ids of all refunds that the processor has for the payment
 */
export async function missingRefunds(db: Sql, paymentIntent: string, ids: readonly string[]): Promise<string[]> {
  const recordedIds = new Set((await refundsOfIntent(db, paymentIntent)).map(({ id }) => id));
  return ids.filter((id) => !recordedIds.has(id));
}

/** The part of a refund that is assigned to one order's payment. `payment` is our id of the payment. */
export type AssignedPart = { payment: number; cents: number };

/**
 * Books a locked refund: each part becomes a credit note. An order whose money has been returned completely becomes
 * Refunded, as after a full refund by the processor. The caller has checked the parts.
 */
export async function bookRefundByHand(
  tx: Tx,
  { refund, orders }: { refund: RefundByHand; orders: ReadonlyMap<number, LockedOrder> },
  parts: readonly AssignedPart[],
  { actor, at, log }: { actor: string; at: Date; log: Log },
): Promise<void> {
  const { id, paymentIntent, shares } = refund;
  const end = { state: "done", at, by: actor, outcome: "assigned to its orders" } as const;
  const excessCents = parts.reduce((rest, { cents }) => rest - cents, refund.amountCents);
  if (excessCents > 0) log.error({ refund: id, excessCents }, "a refund returned more than its orders had left");
  for (const { paymentId, orderId, restCents } of shares) {
    const order = orders.get(orderId);
    const cents = parts.find(({ payment }) => payment === paymentId)?.cents ?? 0;
    if (!order) throw new Error("the orders of a payment are locked before its refund is booked");
    await closeTasks(tx, { orderId, kinds: ["refund_by_hand"], subject: id }, end);
    // Queues the order's own refunds, which have waited for this assignment.
    await enqueue(tx, settledRefundQueue, { orderId });
    if (order.status === "RefundPending") await enqueue(tx, refundQueue, { orderId });
    if (cents === 0) continue;
    const credited = await creditPart(tx, paymentId, { refund: id, partCents: cents }, at);
    if (credited > 0) await tellPart(tx, order, { cents: credited, refund: id, about: `${id}:${paymentId}` }, at);
    await endPriceTasks(tx, order, { actor, at });
    const detail = { refund: id, payment: paymentId, amountCents: cents, ...(excessCents > 0 && { excessCents }) };
    const { partnerId } = order;
    await tx.query(auditLine({ at, action: "refund.assigned", actor, partnerId, orderId, detail }));
    if (cents < restCents) continue;
    const whole = { kind: "refunded", whole: true, paymentIntent, share: String(paymentId), refund: null } as const;
    const message = {
      ...whole,
      refundId: id,
      state: "succeeded",
      request: null,
      orderCode: null,
      checkoutId: null,
      chargeId: null,
    } as const;
    const options = { at, log, actor: "processor", amount: cents } as const;
    await applyRefund(tx, order, { ...message, amount: cents, currency: refund.currency }, options);
  }
}
