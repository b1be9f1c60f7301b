/**
 * Supplements: further amounts that are due after an order was paid. Either a correction made the order more expensive,
 * or a bank took back what was paid. The order's total does not change. A supplement is paid like an order, by a
 * checkout or a charge, and only the processor's event settles it.
 */

import { auditLine } from "../../../kernel/audit/audit.ts";
import { changeRow } from "../../../kernel/platform/database/change-rows.ts";
import type { Sql, Tx } from "../../../kernel/platform/database/database.ts";
import { type Statement, sql } from "../../../kernel/platform/database/sql.ts";
import { type StateMac, verified, verifiedAll, writeStateMacs } from "../../../kernel/platform/database/state-mac.ts";
import { enqueue } from "../../../kernel/platform/jobs/jobs.ts";
import { stateRows } from "../../../kernel/platform/protected-data.ts";
import { closeTasks } from "../../../kernel/tasks/tasks.ts";
import {
  closeCheckoutQueue,
  firmWaitQueue,
  hasOrderCode,
  joinOrder,
  type LockedOrder,
  mailClient,
  parcelQueue,
} from "../../order/order.ts";
import { billingDocumentState, restBefore } from "./documents.ts";
import { lossCents, lostCentsOf } from "./loss-documents.ts";
import { receivedFor } from "./loss-payments.ts";
import { paymentState } from "./payments.ts";

/**
 * A supplement of an order. State `withdrawn`: the money is no longer needed. If it still arrives, it pays for nothing,
 * and a person decides about it.
 */
export type Supplement = {
  id: number;
  amountCents: number;
  /** The reason for the supplement, as the receipt prints it. */
  label: string;
  state: "asked" | "paid" | "withdrawn";
  askedAt: Date;
  changedAt: Date;
  /** True if the money replaces a payment of the order's price that a bank took back. */
  replacesLoss: boolean;
};

/** The MAC of a supplement covers all columns of its row. */
export const supplementState: StateMac = {
  table: sql`supplements`,
  key: sql`id`,
  mac: sql`row_mac`,
  covered: (s) => sql`${s}.id, ${s}.order_id, ${s}.amount_cents,
    CASE WHEN ${s}.replaces_loss THEN jsonb_build_array(${s}.label, 'loss') ELSE to_jsonb(${s}.label) END,
    ${s}.state, ${s}.payment_id, extract(epoch FROM ${s}.asked_at), extract(epoch FROM ${s}.changed_at),
    ${s}.state_version`,
};

export const supplementRows = stateRows(supplementState);

/**
 * The amount as covered by the MAC of a row that pays an order or a supplement: with the supplement's id, if there is
 * one. Without a supplement, it is the amount alone, so that MACs of earlier rows stay valid.
 */
export const coveredAmount = (row: Statement): Statement => sql`CASE WHEN ${row}.supplement_id IS NULL
  THEN to_jsonb(${row}.amount_cents) ELSE jsonb_build_array(${row}.amount_cents, ${row}.supplement_id) END`;

const columns = sql`s.id, s.amount_cents AS "amountCents", s.label, s.state, s.asked_at AS "askedAt",
  s.changed_at AS "changedAt", s.replaces_loss AS "replacesLoss", ${verified(supplementState, sql`s`)}`;

/** The supplements of an order, oldest first. @throws ServiceError `unavailable` for an altered supplement */
export const supplementsOf = (db: Sql, orderId: number) =>
  db.query<Supplement>(sql`SELECT ${columns} FROM supplements s WHERE s.order_id = ${orderId} ORDER BY s.id`);

/**
 * Selects the ids of the payments that paid supplements of the order.
 * @param replacesLoss true for supplements that replace a loss, false for those on top of the price
 * @throws ServiceError `unavailable` for an altered supplement
 */
export async function supplementPayments(
  db: Sql,
  orderId: number,
  replacesLoss: boolean,
): Promise<ReadonlySet<number>> {
  const paid = await db.query<{ paymentId: number; replacesLoss: boolean }>(sql`
    SELECT s.payment_id AS "paymentId", s.replaces_loss AS "replacesLoss", ${verified(supplementState, sql`s`)}
    FROM supplements s WHERE s.order_id = ${orderId} AND s.state = 'paid'`);
  return new Set(paid.filter((each) => each.replacesLoss === replacesLoss).map(({ paymentId }) => paymentId));
}

/** The supplements of an order, found by the order's code, as pages need them. */
export const supplementsOfCode = (db: Sql, orderCode: string) =>
  db.query<Supplement>(sql`
    SELECT ${columns} FROM supplements s ${joinOrder(sql`s.order_id`)}
    WHERE ${hasOrderCode(orderCode)} ORDER BY s.id`);

/** The status in which an order's parcel waits, if more postage is to be paid. */
export const waiting = "ShippingPending";

const withoutDebt = ["RefundPending", "Refunded", "Cancelled"];

/** The statuses in which the price of an order is no longer owed. */
export const endsDebt: ReadonlySet<string> = new Set(withoutDebt);

/**
 * The supplement to pay now; undefined for none. In ShippingPending, more postage comes first; then the price again, if
 * a bank took its payment back.
 */
export const dueOf = (status: string, supplements: readonly Supplement[]): Supplement | undefined => {
  const asked = supplements.filter(({ state }) => state === "asked");
  const postage = status === waiting ? asked.find(({ replacesLoss }) => !replacesLoss) : undefined;
  return postage ?? dueLossOf(status, asked);
};

const due = sql`FROM supplements s WHERE s.order_id = o.id AND s.state = 'asked'
    AND CASE WHEN s.replaces_loss THEN o.status <> ALL (${withoutDebt}::text[]) ELSE o.status = ${waiting} END
  ORDER BY s.replaces_loss LIMIT 1`;

/** The supplement by which the price is to be paid again, even while postage is due first; undefined for none. */
export const dueLossOf = (status: string, supplements: readonly Supplement[]): Supplement | undefined =>
  endsDebt.has(status) ? undefined : supplements.find(({ state, replacesLoss }) => state === "asked" && replacesLoss);

/** SQL expression on an order `o`: the amount of the supplement that is due now; null for none. */
export const supplementCents: Statement = sql`(SELECT s.amount_cents ${due})`;

/**
 * SQL condition on an order `o`: true if its parcel waits for the payment of more postage. Doesn't verify the
 * supplements. A query that uses the result for more than the choice of a text must verify them, too.
 */
export const isPostageDue: Statement = sql`(o.status = ${waiting} AND EXISTS (
  SELECT FROM supplements s WHERE s.order_id = o.id AND s.state = 'asked' AND NOT s.replaces_loss))`;

/**
 * SQL condition on an order `o`: true if the supplement that is due now replaces a payment that a bank took back. Null
 * if none is due.
 */
export const supplementReplacesLoss: Statement = sql`(SELECT s.replaces_loss ${due})`;

/**
 * For a SELECT list: verifies all supplements of some orders `o`.
 * @param orders the text after FROM, which names `orders o`
 */
export const verifiedSupplementsOf = (orders: Statement): Statement =>
  verifiedAll(supplementState, sql`s`, sql`FROM ${orders} JOIN supplements s ON s.order_id = o.id`);

/**
 * For a SELECT list on orders `o`: the amount of the supplement that is due now; whether it replaces a loss; and the
 * price to be paid again, even while postage is due first. Nulls for none.
 */
export const dueCents: Statement = sql`${supplementCents} AS "supplementCents",
  ${supplementReplacesLoss} AS "replacesLoss",
  (SELECT s.amount_cents FROM supplements s WHERE s.order_id = o.id AND s.state = 'asked' AND s.replaces_loss
    AND o.status <> ALL (${withoutDebt}::text[])) AS "lossCents",
  ${verifiedAll(supplementState, sql`s`, sql`FROM supplements s WHERE s.order_id = o.id`)}`;

/** The money paid for a supplement, as far as the service still holds it. */
type HeldSupplement = { cents: number; paidAt: Date };

/**
 * For a locked order: the money of paid supplements that the service still holds. Leaves out supplements that replaced
 * a loss. Money that a bank took back counts again once it was paid again, online or outside the processor.
 * @throws ServiceError `unavailable` when a supplement or its payment was altered
 */
export async function heldSupplements(tx: Tx, orderId: number): Promise<HeldSupplement[]> {
  const paid = await tx.query<{ paymentId: number; paidAt: Date; isBack: boolean; replacesLoss: boolean }>(sql`
    SELECT p.id AS "paymentId", s.changed_at AS "paidAt", p.refunded_at IS NOT NULL AS "isBack",
      s.replaces_loss AS "replacesLoss", ${verified(supplementState, sql`s`)}, ${verified(paymentState, sql`p`)}
    FROM supplements s JOIN payments p ON p.id = s.payment_id
    WHERE s.order_id = ${orderId} AND s.state = 'paid' ORDER BY s.id`);
  const own: (HeldSupplement & { paymentId: number })[] = [];
  let replacedAt: Date | undefined;
  for (const { paymentId, paidAt, isBack, replacesLoss } of paid) {
    if (isBack) continue;
    // `restBefore` returns null only for the name of a booked refund, and no refund has an empty name.
    const cents = (await restBefore(tx, paymentId, "")) ?? 0;
    if (!replacesLoss) own.push({ paymentId, cents, paidAt });
    else if (cents > 0) replacedAt = paidAt;
  }
  const held: HeldSupplement[] = [];
  const received = await receivedFor(tx, orderId);
  for (const { paymentId, cents, paidAt } of own) {
    const { now, before } = await lossesOf(tx, paymentId, replacedAt ?? null);
    // Money that the firm paid for a loss no longer counts once the bank has reversed that loss.
    const all = cents + Math.max(0, Math.min(now, Math.max(before, received.get(paymentId) ?? 0)));
    if (all > 0) held.push({ cents: all, paidAt });
  }
  return held;
}

/**
 * The cents that a bank took back from a payment and has not returned. `now`: from all losses. `before`: only from
 * losses that were booked before the price was paid again online.
 * @param replacedAt the time of that online payment; null for none, so that `before` is 0
 */
async function lossesOf(tx: Tx, paymentId: number, replacedAt: Date | null): Promise<{ now: number; before: number }> {
  const documents = sql`FROM billing_documents d WHERE d.payment_id = ${paymentId}`;
  const [sums] = await tx.query<{ now: number; before: number }>(sql`
    SELECT ${lostCentsOf(sql`${paymentId}`)} AS now,
      (SELECT coalesce(sum(${lossCents(sql`d`)}), 0) ${documents} AND d.booked_at <= ${replacedAt}::timestamptz)::float8 AS before,
      ${verifiedAll(billingDocumentState, sql`d`, documents)}`);
  return sums ?? { now: 0, before: 0 };
}

/** The cents that the service holds in addition to the order's total. The caller must have locked the order. */
export const supplementsPaid = async (tx: Tx, orderId: number): Promise<number> =>
  (await heldSupplements(tx, orderId)).reduce((sum, { cents }) => sum + cents, 0);

type Asked = { amountCents: number; label: string; actor: string; at: Date };

/**
 * Requests a further amount from the payer of the locked order, in place of an earlier request. Mails the client or,
 * if the firm pays, the firm. Nothing is charged automatically, because nobody of the firm has seen the amount.
 */
export async function askSupplement(
  tx: Tx,
  order: LockedOrder,
  { amountCents, label, actor, at }: Asked,
): Promise<void> {
  await withdrawSupplement(tx, order, { actor, at });
  await insertSupplement(tx, order, { amountCents, label, replacesLoss: false, actor, at });
  await mailClient(tx, order.id, "supplement_due", at);
  await enqueue(tx, firmWaitQueue, { orderId: order.id });
}

/** Writes the request for a supplement of a locked order. @returns its id */
export async function insertSupplement(
  tx: Tx,
  { id: orderId, partnerId }: LockedOrder,
  { amountCents, label, replacesLoss, actor, at }: Asked & Pick<Supplement, "replacesLoss">,
): Promise<number> {
  const [row] = await tx.query<{ id: number }>(sql`
    INSERT INTO supplements (order_id, amount_cents, label, replaces_loss, asked_at, changed_at)
    VALUES (${orderId}, ${amountCents}, ${label}, ${replacesLoss}, ${at}, ${at}) RETURNING id`);
  if (!row) throw new Error("the supplement was not written");
  await writeStateMacs(tx, supplementState, sql`id = ${row.id}`);
  const detail = { supplement: row.id, amountCents, label };
  await tx.query(auditLine({ at, action: "supplement.asked", actor, partnerId, orderId, detail }));
  return row.id;
}

/**
 * Withdraws the open supplement of a locked order, if there is one, and closes its checkout.
 * @param ofLoss true for a loss to pay again, false for postage
 */
export async function withdrawSupplement(
  tx: Tx,
  { id: orderId, partnerId }: Pick<LockedOrder, "id" | "partnerId">,
  { actor, at, ofLoss = false }: { actor: string; at: Date; ofLoss?: boolean },
): Promise<void> {
  const all = await supplementsOf(tx, orderId);
  const asked = all.find(({ state, replacesLoss }) => state === "asked" && replacesLoss === ofLoss);
  if (!asked) return;
  await changeRow(tx, supplementState, asked.id, sql`state = 'withdrawn', changed_at = ${at}`);
  const detail = { supplement: asked.id, amountCents: asked.amountCents };
  await tx.query(auditLine({ at, action: "supplement.withdrawn", actor, partnerId, orderId, detail }));
  const end = { state: "dropped", at, by: actor, outcome: "the amount is not needed any more" } as const;
  for (const subject of [subjectOf(asked.id), lateSubject(asked.id)])
    await closeTasks(tx, { orderId, kinds: ["postage_dearer"], subject }, end);
  await enqueue(tx, closeCheckoutQueue, { orderId });
}

// The statuses in which the money for more postage is accepted. After a hold or a failed shipment, the supplement is
// still needed.
const payableStatuses: ReadonlySet<string> = new Set([waiting, "ShippingFailed", "OnHold"]);

/**
 * Marks a supplement as paid by a payment of its exact amount. If it was for postage, continues the order's shipping.
 * @returns false when the order doesn't wait for this money
 */
export async function settleSupplement(
  tx: Tx,
  { id: orderId, partnerId, status }: LockedOrder,
  { supplementId, paymentId, cents }: { supplementId: number; paymentId: number; cents: number },
  { actor, at }: { actor: string; at: Date },
): Promise<boolean> {
  const asked = (await supplementsOf(tx, orderId)).find(({ id }) => id === supplementId);
  if (asked?.state !== "asked" || asked.amountCents !== cents) return false;
  if (asked.replacesLoss ? endsDebt.has(status) : !payableStatuses.has(status)) return false;
  await changeRow(tx, supplementState, asked.id, sql`state = 'paid', payment_id = ${paymentId}, changed_at = ${at}`);
  const detail = { supplement: asked.id, amountCents: cents };
  await tx.query(auditLine({ at, action: "supplement.paid", actor, partnerId, orderId, detail }));
  await enqueue(tx, closeCheckoutQueue, { orderId });
  if (asked.replacesLoss) return true;
  const end = { state: "done", at, by: actor, outcome: "the supplement was paid" } as const;
  await closeTasks(tx, { orderId, kinds: ["postage_dearer"] }, end);
  await enqueue(tx, parcelQueue, { orderId });
  return true;
}

/** The subject of the task about the failed payment of a supplement. */
export const subjectOf = (supplementId: number): string => `supplement:${supplementId}`;

/** The subject of the task about a supplement that nobody pays. */
export const lateSubject = (supplementId: number): string => `${subjectOf(supplementId)}:late`;
