import { operatorName } from "../../../firms/operators/operators.ts";
import { joinFirm, type MarkedFirm, markedFirm, withFirmNames } from "../../../firms/partners/partners.ts";
import { auditLine } from "../../../kernel/audit/audit.ts";
import type { Environment } from "../../../kernel/identity/identity.ts";
import type { Clock } from "../../../kernel/platform/clock.ts";
import type { Database, Sql, Tx } from "../../../kernel/platform/database/database.ts";
import { type Statement, sql } from "../../../kernel/platform/database/sql.ts";
import { marked, verified, verifiedAll, writeStateMacs } from "../../../kernel/platform/database/state-mac.ts";
import { invalid, ServiceError } from "../../../kernel/platform/errors.ts";
import { isPlainLines } from "../../../kernel/platform/text.ts";
import { closeTasks, openTask } from "../../../kernel/tasks/tasks.ts";
import { hasOrderCode, joinOrder, type LockedOrder } from "../../order/order.ts";
import { billingDocumentState } from "./documents.ts";
import { paymentState, processorEventState, resolutionState } from "./payments.ts";

/**
 * A payment that paid for no order, for example because it arrived too late, for the second time, or after its refund.
 */
export type UnappliedPayment = {
  /** The id of the processor's event that reported the payment. */
  eventId: string;
  receivedAt: Date;
  orderCode: string;
  orderStatus: string;
  firmName: string;
  /** The amount, in the smallest unit of the currency; null when unknown. */
  amount: number | null;
  currency: string | null;
  paymentIntent: string | null;
  /** True if the money is one order's share of a payment for several orders. */
  isShared: boolean;
  /** The time when the whole payment was marked as refunded; null until then. */
  refundedAt: Date | null;
  /** False for a row whose payment or event has an invalid MAC. Such a row is not reliable. */
  isAuthentic: boolean;
  /** A person's note on how the money was handled; null without one. A note whose MAC is invalid is ignored. */
  resolution: { by: string; at: string; note: string } | null;
};

type Listed = UnappliedPayment & MarkedFirm & { isResolutionAuthentic: boolean };

/** At most 100 payments: first those without a person's note, oldest first; then those with one, latest note first. */
export async function unappliedPayments({ db }: { db: Sql }, environment: Environment): Promise<UnappliedPayment[]> {
  const listed = await db.query<Listed>(sql`
    SELECT e.event_id AS "eventId", e.received_at AS "receivedAt", o.code AS "orderCode@order", o.status AS "orderStatus",
      p.name AS "firmName", paid.amount_cents::float8 AS amount, paid.currency, paid.payment_intent AS "paymentIntent",
      paid.refunded_at AS "refundedAt",
      EXISTS (SELECT FROM payments q WHERE q.payment_intent = paid.payment_intent AND q.order_id <> paid.order_id) AS "isShared",
      CASE WHEN r.event_id IS NOT NULL
        THEN jsonb_build_object('by', ${operatorName(sql`r.resolved_by`)}, 'at', r.resolved_at, 'note', r.note) END AS resolution,
      ${markedFirm}, ${marked(resolutionState, sql`r`, "isResolutionAuthentic")},
      ${marked(paymentState, sql`paid`)}, ${marked(processorEventState, sql`e`)}
    FROM processor_events e ${joinOrder(sql`e.order_id`)} ${joinFirm(sql`o.partner_id`)}
      LEFT JOIN LATERAL (
        SELECT * FROM payments WHERE order_id = e.order_id AND received_at = e.received_at ORDER BY id DESC LIMIT 1
      ) paid ON true
      LEFT JOIN payment_resolutions r ON r.event_id = e.event_id
    WHERE e.outcome = 'unapplied' AND o.environment = ${environment}
    ORDER BY r.event_id IS NOT NULL, CASE WHEN r.event_id IS NULL THEN e.received_at END, r.resolved_at DESC, e.event_id LIMIT 100`);
  return withFirmNames(listed).map(({ isResolutionAuthentic, resolution, ...payment }) => ({
    ...payment,
    resolution: isResolutionAuthentic ? resolution : null,
  }));
}

/**
 * Finds a payment that paid for no order, by the event that reported it.
 * @throws ServiceError `not_found` for an event that is unknown or in the other environment, `unavailable` for an
 * altered row
 */
export async function unappliedOf(
  db: Sql,
  environment: Environment,
  eventId: string,
): Promise<{ orderCode: string; paymentId: number }> {
  const [found] = isPlainLines(eventId)
    ? await db.query<{ orderCode: string; paymentId: number }>(sql`
        SELECT o.code AS "orderCode@order", p.id AS "paymentId", ${verified(processorEventState, sql`e`)}, ${verified(paymentState, sql`p`)}
        FROM processor_events e ${joinOrder(sql`e.order_id`)}
          JOIN payments p ON p.order_id = e.order_id AND p.received_at = e.received_at
        WHERE e.event_id = ${eventId} AND e.outcome = 'unapplied' AND o.environment = ${environment}
        ORDER BY p.id DESC LIMIT 1`)
    : [];
  if (!found) throw unknown();
  return found;
}

const simultaneous = sql`FROM payments q WHERE q.order_id = p.order_id AND q.received_at = p.received_at`;
const events = sql`FROM processor_events e WHERE e.order_id = p.order_id AND e.received_at = p.received_at`;

/**
 * SQL condition: true if the payment `p` paid neither its order nor a supplement. A payment and its event have the same
 * order and time. If several payments have the same order and time, the last ones are unapplied: as many as there are
 * `unapplied` events.
 */
export const isUnapplied: Statement = sql`((SELECT count(*) ${simultaneous} AND q.id >= p.id)
  <= (SELECT count(*) ${events} AND e.outcome = 'unapplied'))`;

/** Verifies the payments from which `isUnapplied` is computed, `p` among them. */
export const verifiedSimultaneous: Statement = verifiedAll(paymentState, sql`q`, simultaneous);

/** Verifies the events from which `isUnapplied` is computed. */
export const verifiedUnapplied: Statement = verifiedAll(processorEventState, sql`e`, events);

/** A payment that paid neither its order nor a supplement, as the order's firm sees it. */
export type ExtraPayment = {
  /** The amount, in the smallest unit of the currency. */
  amountCents: number;
  currency: string;
  receivedAt: Date;
  /** The time when the whole payment was refunded; null until then. */
  refundedAt: Date | null;
  /**
   * True while nobody has decided about the money: no person resolved it, no part was refunded, and no bank took it
   * back.
   */
  isUndecided: boolean;
};

/**
 * The payments of an order that paid for nothing, such as its price paid twice, the oldest first. If a payment's refund
 * arrived before the payment itself, leaves it out, because it may be the order's only payment.
 * @throws ServiceError `unavailable` for an altered row
 */
export async function extraPaymentsOf(db: Sql, orderCode: string): Promise<ExtraPayment[]> {
  const documents = sql`FROM billing_documents d WHERE d.payment_id = p.id`;
  const receipt = (payment: Statement) =>
    sql`EXISTS (SELECT FROM billing_documents d WHERE d.payment_id = ${payment}.id AND d.kind = 'receipt')`;
  const resolutions = sql`FROM payment_resolutions r WHERE r.event_id IN (SELECT e.event_id ${events})`;
  const found = await db.query<ExtraPayment & { isExtra: boolean }>(sql`
    SELECT p.amount_cents::float8 AS "amountCents", p.currency, p.received_at AS "receivedAt", p.refunded_at AS "refundedAt",
      ${isUnapplied} AND ${receipt(sql`p`)} AND NOT EXISTS (
        SELECT FROM payments q WHERE q.order_id = p.order_id AND q.payment_intent = p.payment_intent AND NOT ${receipt(sql`q`)}
      ) AS "isExtra",
      NOT EXISTS (SELECT ${resolutions}) AND 0 = (
        SELECT coalesce(sum(CASE WHEN d.kind IN ('credit_note', 'loss') THEN 1 ELSE -1 END * coalesce(d.part_cents, p.amount_cents)), 0)
        ${documents} AND d.kind <> 'receipt') AS "isUndecided",
      ${verifiedSimultaneous}, ${verifiedUnapplied}, ${verifiedAll(billingDocumentState, sql`d`, documents)},
      ${verifiedAll(resolutionState, sql`r`, resolutions)}
    FROM payments p ${joinOrder(sql`p.order_id`)} WHERE ${hasOrderCode(orderCode)} ORDER BY p.id`);
  return found.flatMap(({ isExtra, ...payment }) => (isExtra ? [payment] : []));
}

type Resolved = { eventId: string; environment: Environment; note: string };

/**
 * Records a person's note on how money that moved no order was handled. Moves no money.
 * @param by the id of the person, and the actor for the audit log
 * @throws ServiceError without a person or a note, and for an event that is unknown, in the other environment, or
 * already resolved
 */
export async function resolveUnapplied(
  { db, clock }: { db: Database; clock: Clock },
  by: { id: string | null; actor: string },
  { eventId, environment, note: typed }: Resolved,
): Promise<void> {
  const { id, actor } = by;
  if (id === null) throw new ServiceError("conflict", "This needs a person with a name. Sign in by email.");
  const note = typed.trim().replaceAll("\r\n", "\n");
  if (note === "" || note.length > 500 || !isPlainLines(note)) throw invalid("note must have 1 to 500 characters.");
  if (!isPlainLines(eventId)) throw unknown();
  await db.transaction(async (tx) => {
    const at = clock();
    const [found] = await tx.query<{ orderId: number; partnerId: string }>(sql`
      SELECT o.id AS "orderId", o.partner_id AS "partnerId", ${verified(processorEventState, sql`e`)}
      FROM processor_events e ${joinOrder(sql`e.order_id`)}
      WHERE e.event_id = ${eventId} AND e.outcome = 'unapplied' AND o.environment = ${environment}`);
    if (!found) throw unknown();
    const noted = await tx.query(sql`
      INSERT INTO payment_resolutions (event_id, resolved_by, resolved_at, note) VALUES (${eventId}, ${id}, ${at}, ${note})
      ON CONFLICT (event_id) DO NOTHING RETURNING 1`);
    if (noted.length === 0) {
      await tx.query(
        sql`SELECT ${verified(resolutionState, sql`r`)} FROM payment_resolutions r WHERE event_id = ${eventId}`,
      );
      throw new ServiceError("conflict", "Somebody has resolved this payment already.");
    }
    await writeStateMacs(tx, resolutionState, sql`event_id = ${eventId}`);
    const { orderId } = found;
    const end = { state: "done", at, by: actor, outcome: note } as const;
    await closeTasks(tx, { orderId, kinds: ["payment_unapplied"], subject: eventId }, end);
    await tx.query(auditLine({ at, action: "payment.resolved", actor, ...found, detail: { event: eventId, note } }));
  });
}

const unknown = () => new ServiceError("not_found", "No such payment.");

/** Writes the audit line of money that moved no order. */
export const auditUnapplied = (tx: Tx, order: { id: number; partnerId: string }, at: Date, detail: object) =>
  tx.query(
    auditLine({
      at,
      action: "payment.unapplied",
      actor: "processor",
      partnerId: order.partnerId,
      orderId: order.id,
      detail,
    }),
  );

/**
 * Opens a task about a refund of a whole payment that was made in the processor's dashboard. The refund ends the order.
 */
export async function reportWholeRefund(
  tx: Tx,
  { id: orderId, environment }: LockedOrder,
  subject: string,
  at: Date,
): Promise<void> {
  const reason =
    "The whole payment went back at the processor without a request here, which ends the order. It has its credit note. Find out why, and note it.";
  await openTask(tx, { kind: "refund_by_hand", at, environment, orderId, subject, reason });
}
