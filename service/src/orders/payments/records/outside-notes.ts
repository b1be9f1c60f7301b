/**
 * Recognizes the credit notes of money that was paid back outside the payment processor: their `refund` begins with
 * `outside:`.
 */
import type { Sql } from "../../../kernel/platform/database/database.ts";
import { type Statement, sql } from "../../../kernel/platform/database/sql.ts";

/** The ways in which money can be paid back outside the payment processor, in words. */
export const outsideWays = {
  check: "by check",
  wire: "by wire",
  transfer: "by bank transfer",
  cash: "in cash",
} as const;

export type OutsideWay = keyof typeof outsideWays;

/**
 * SQL expression: the way in which the money of the credit note `d` was paid back outside the processor. The document
 * that reverses such a note has the same way. Null for other documents.
 */
export const outsideWay = (d: Statement): Statement =>
  sql`CASE WHEN ${d}.refund LIKE 'outside:%' THEN split_part(${d}.refund, ':', 2)
    WHEN ${d}.refund LIKE 'reversed:outside:%' THEN split_part(${d}.refund, ':', 3) END`;

/**
 * SQL condition: true if the money of the credit note `d` was paid back outside the processor, and no correction
 * reversed the note.
 */
export const isPaidOutside = (d: Statement): Statement => sql`(${d}.refund LIKE 'outside:%' AND NOT EXISTS (
  SELECT FROM billing_documents v WHERE v.payment_id = ${d}.payment_id AND v.refund = 'reversed:' || ${d}.refund))`;

/**
 * True if a part of the payment was ever booked as returned outside the processor, even if that booking was reversed.
 * The processor doesn't know this, and still treats that part as refundable.
 */
export async function wentBackOutside(db: Sql, paymentId: number): Promise<boolean> {
  const notes = sql`SELECT FROM billing_documents d WHERE d.payment_id = ${paymentId} AND d.refund LIKE 'outside:%'`;
  return (await db.query(notes)).length > 0;
}
