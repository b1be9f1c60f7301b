/**
 * Money that firms paid outside the processor, such as by check, for payments that banks took back. The rows are not
 * billing documents, because this money belongs to no payment at the processor.
 */
import type { Sql } from "../../../kernel/platform/database/database.ts";
import { isoTime, type Statement, sql } from "../../../kernel/platform/database/sql.ts";
import { type StateMac, verified, verifiedAll } from "../../../kernel/platform/database/state-mac.ts";
import { stateRows } from "../../../kernel/platform/protected-data.ts";
import { joinOrder } from "../../order/order.ts";
import { billingDocumentState } from "./documents.ts";
import { lostCentsOf } from "./loss-documents.ts";
import { outsideWays } from "./outside-notes.ts";
import { paymentState } from "./payments.ts";

/** The columns that the MAC covers. A trigger forbids changes to them. */
export const lossPaymentState: StateMac = {
  table: sql`loss_payments`,
  key: sql`id`,
  mac: sql`row_mac`,
  covered: (x) => sql`${x}.id, ${x}.partner_id, ${x}.environment, ${x}.year, ${x}.number, ${x}.payment_id,
    ${x}.reverses, ${x}.amount_cents, ${x}.way, ${x}.reference, to_char(${x}.received_on, 'YYYY-MM-DD'),
    ${x}.reason, ${x}.recorded_by, extract(epoch FROM ${x}.booked_at)`,
};

export const lossPaymentRows = stateRows(lossPaymentState);

const { check, wire, transfer } = outsideWays;

/** The ways in which a firm can pay outside the payment processor, in words. */
export const lossPaymentWays = { check, wire, transfer } as const;

export type LossPaymentWay = keyof typeof lossPaymentWays;

/** How the money came: `by check 1234`. */
export const wayText = ({ way, reference }: { way: LossPaymentWay; reference: string }): string =>
  `${lossPaymentWays[way]} ${reference}`;

/** SQL expression: the cents of a row `x`, below zero for a reversal. */
export const receivedCents = (x: Statement): Statement =>
  sql`CASE WHEN ${x}.reverses IS NULL THEN ${x}.amount_cents ELSE -${x}.amount_cents END`;

/**
 * The cents that the firm paid outside the processor for payments of the order that banks took back, by payment id.
 * Reversed bookings don't count.
 * @throws ServiceError `unavailable` for an altered row
 */
export async function receivedFor(db: Sql, orderId: number): Promise<ReadonlyMap<number, number>> {
  const own = sql`FROM loss_payments x WHERE x.payment_id = p.id`;
  const found = await db.query<{ id: number; cents: number }>(sql`
    SELECT p.id, (SELECT sum(${receivedCents(sql`x`)}) ${own})::float8 AS cents,
      ${verifiedAll(lossPaymentState, sql`x`, own)}
    FROM payments p WHERE p.order_id = ${orderId} AND EXISTS (SELECT ${own})`);
  return new Map(found.map(({ id, cents }) => [id, cents]));
}

/** A booking of money from the firm, for a payment that a bank took back. */
type LossPayment = {
  id: number;
  cents: number;
  way: LossPaymentWay;
  reference: string;
  /** The day on which the money arrived: `2026-11-29`. */
  receivedOn: string;
  /** The time when a person reversed the booking, and why; nulls for a booking that counts. */
  reversedAt: string | null;
  reason: string | null;
};

/** One order's payment that a bank took back. */
export type LostPayment = {
  id: number;
  orderId: number;
  orderCode: string;
  /** The order's `externalReference`. */
  reference: string | null;
  paymentIntent: string | null;
  currency: string;
  /**
   * `paidAt`: the time of the payment in the firm's books. `lostAt`: the time of its first loss that was not reversed;
   * null without one.
   */
  paidAt: Date;
  lostAt: Date | null;
  lostCents: number;
  bookings: readonly LossPayment[];
};

/** SQL: the time of a payment `p` of an order `o` in the firm's books. Those of test orders follow the test clock. */
export const paidAtInBooks: Statement = sql`CASE WHEN o.environment = 'test' THEN coalesce((SELECT r.booked_at FROM billing_documents r
    WHERE r.payment_id = p.id AND r.kind = 'receipt'), p.received_at) ELSE p.received_at END`;

/**
 * The payments of these orders of which a bank took a part back, oldest first. Includes payments whose part the bank
 * has returned since. Each payment has the bookings of money that the firm paid for it.
 * @throws ServiceError `unavailable` for an altered row
 */
export function lostPayments(db: Sql, orderIds: readonly number[]): Promise<LostPayment[]> {
  const losses = sql`FROM billing_documents d WHERE d.payment_id = p.id AND d.kind IN ('loss', 'loss_reversal')`;
  const bookings = sql`FROM loss_payments x WHERE x.payment_id = p.id`;
  return db.query<LostPayment>(sql`
    SELECT p.id, p.order_id AS "orderId", o.code AS "orderCode@order", o.external_reference AS reference,
      p.payment_intent AS "paymentIntent", lower(p.currency) AS currency, ${paidAtInBooks} AS "paidAt",
      (SELECT min(d.booked_at) ${losses} AND d.kind = 'loss' AND NOT EXISTS (
        SELECT FROM billing_documents v WHERE v.payment_id = p.id AND v.refund = 'reversed:' || d.refund)) AS "lostAt",
      ${lostCentsOf(sql`p.id`)} AS "lostCents",
      (SELECT coalesce(json_agg(json_build_object('id', x.id, 'cents', x.amount_cents, 'way', x.way, 'reference', x.reference,
          'receivedOn', x.received_on, 'reversedAt', ${isoTime(sql`v.booked_at`)}, 'reason', v.reason) ORDER BY x.id), '[]')
        FROM loss_payments x LEFT JOIN loss_payments v ON v.reverses = x.id
        WHERE x.payment_id = p.id AND x.reverses IS NULL) AS bookings,
      ${verified(paymentState, sql`p`)}, ${verifiedAll(billingDocumentState, sql`d`, losses)},
      ${verifiedAll(lossPaymentState, sql`x`, bookings)}
    FROM payments p ${joinOrder(sql`p.order_id`)}
    WHERE p.order_id = ANY (${orderIds}::bigint[]) AND EXISTS (SELECT ${losses}) ORDER BY p.id`);
}

/** The lost cents of a payment less what was paid for it outside the processor; below zero if more was paid. */
export const unpaidOf = ({ lostCents, bookings }: LostPayment): number =>
  bookings.reduce((rest, { cents, reversedAt }) => (reversedAt === null ? rest - cents : rest), lostCents);
