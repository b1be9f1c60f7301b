import type { Sql } from "../../../kernel/platform/database/database.ts";
import { sql } from "../../../kernel/platform/database/sql.ts";
import { copies, isNotCopied, requestedAt } from "../processor/account.ts";
import { lossCents } from "../records/loss-documents.ts";
import { receivedCents } from "../records/loss-payments.ts";
import { isPaidOutside } from "../records/outside-notes.ts";

type Sums = {
  /** The sums of the processor's movements for stored payments: money that arrived, and money that finally left. */
  charged: number;
  left: number;
  /** The sums of our payment rows: payments that paid for their order, and payments that paid for none. */
  allocated: number;
  unallocated: number;
  /** The sums of our receipts, credit notes and losses, minus their reversals. */
  receipts: number;
  refunds: number;
  losses: number;
  /**
   * The cents that payers have twice: they were paid back outside the processor, and then also returned by a lost
   * dispute or a refund at the processor. This money is neither a refund nor a loss of the firm: the service has lost
   * it.
   */
  twice: number;
  paidTwice: string[];
  /** The payments for which more was returned than was paid. */
  overdrawn: string[];
  /** The cents that firms paid outside the processor for payments that banks took back, less reversed bookings. */
  received: number;
  /** The payments for which firms paid more than banks ever took back. */
  overpaid: string[];
};

/**
 * The processor can book a movement a day late, and an event can arrive an hour late. So the comparison leaves out a
 * payment that changed here in the last day before the end of the last copy. It also leaves out a payment with a
 * movement in the last hour.
 */
const bookedWithin = "1 day";
const eventWithin = "1 hour";

/**
 * Reads the sums in our books and in the processor's movements. Leaves out open disputes, payments whose documents are
 * still changing, and payments that changed after the last copy of their account's books. The processor's movements are
 * copied once a day, and contain no refunds that people paid outside the processor.
 */
async function readSums(db: Sql): Promise<Sums> {
  const [sums] = await db.query<Sums>(sql`
    WITH ${copies}, first_unseen AS (
      SELECT min(coalesce(k.until, '-infinity')) - ${bookedWithin}::interval AS at
      FROM (SELECT account FROM processor_accounts UNION SELECT NULL WHERE NOT EXISTS (SELECT FROM processor_accounts)) a
        LEFT JOIN copies k ON k.account IS NOT DISTINCT FROM a.account
    ), changes AS (
      SELECT p.id, b.booked_at AS at FROM billing_documents b JOIN payments p ON p.id = b.payment_id
      UNION ALL SELECT p.id, r.changed_at FROM refunds r JOIN payments p USING (payment_intent)
      UNION ALL SELECT p.id, q.changed_at FROM disputes q JOIN payments p USING (payment_intent)
    ), moving AS (
      SELECT r.payment_intent FROM refunds r WHERE r.state = 'pending'
      UNION SELECT b.payment_intent FROM balance_transactions b
        WHERE b.created_at > (SELECT max(until) FROM copies) - ${eventWithin}::interval
      UNION SELECT p.payment_intent FROM changes c JOIN payments p USING (id)
        WHERE c.at > (SELECT at FROM first_unseen) AND ${isNotCopied(requestedAt(sql`p`), sql`c.at`, bookedWithin)}
    ), charges AS (
      SELECT b.payment_intent, sum(b.amount_cents) AS cents FROM balance_transactions b
      WHERE b.kind = 'charge' AND NOT EXISTS (SELECT FROM moving m WHERE m.payment_intent = b.payment_intent) GROUP BY 1
    ), returned AS (
      SELECT b.payment_id, sum(CASE WHEN b.refund LIKE 'outside:%' OR b.refund LIKE 'reversed:outside:%' THEN 0 WHEN b.kind = 'credit_reversal' THEN -b.part_cents WHEN b.kind = 'credit_note' THEN coalesce(b.part_cents,
          p.amount_cents - coalesce((SELECT sum(CASE WHEN s.kind LIKE '%reversal' THEN -s.part_cents ELSE s.part_cents END)
            FROM billing_documents s WHERE s.payment_id = p.id AND s.id < b.id), 0)) ELSE 0 END) AS refunds,
        sum(${lossCents(sql`b`)}) AS losses
      FROM billing_documents b JOIN payments p ON p.id = b.payment_id WHERE b.kind <> 'receipt' GROUP BY 1
    ), booked AS (
      SELECT p.id, p.payment_intent, p.amount_cents AS cents, coalesce(d.refunds, 0) AS refunds, coalesce(d.losses, 0) AS losses,
        (p.order_id, p.received_at) IN (SELECT e.order_id, e.received_at FROM processor_events e
          WHERE e.outcome = 'unapplied' AND e.order_id IS NOT NULL) AS unallocated
      FROM payments p JOIN charges c USING (payment_intent) JOIN billing_documents b ON b.payment_id = p.id AND b.kind = 'receipt'
        LEFT JOIN returned d ON d.payment_id = p.id
    ), known AS (
      SELECT DISTINCT payment_intent FROM booked
    ), moved AS (
      SELECT payment_intent, amount_cents, currency FROM disputes WHERE state = 'lost'
      UNION ALL SELECT payment_intent, amount_cents, currency FROM refunds WHERE state = 'succeeded'
    ), from_firms AS (
      SELECT x.payment_id AS id, sum(${receivedCents(sql`x`)}) AS cents
      FROM loss_payments x GROUP BY 1
    ), twice AS (
      SELECT payment_intent, greatest(0, least(
          (SELECT sum(b.part_cents) FROM billing_documents b JOIN payments p ON p.id = b.payment_id
            WHERE p.payment_intent = k.payment_intent AND ${isPaidOutside(sql`b`)}),
          (SELECT coalesce(sum(m.amount_cents), 0) FROM moved m
            WHERE m.payment_intent = k.payment_intent AND coalesce(lower(m.currency), 'usd') = 'usd') - k.cents)) AS cents
      FROM (SELECT payment_intent, sum(refunds + losses) AS cents FROM booked GROUP BY 1) k
      WHERE EXISTS (SELECT FROM billing_documents b JOIN payments p ON p.id = b.payment_id
        WHERE p.payment_intent = k.payment_intent AND ${isPaidOutside(sql`b`)})
    )
    SELECT coalesce(sum(cents), 0)::float8 AS receipts,
      coalesce(sum(cents) FILTER (WHERE NOT unallocated), 0)::float8 AS allocated,
      coalesce(sum(cents) FILTER (WHERE unallocated), 0)::float8 AS unallocated,
      coalesce(sum(refunds), 0)::float8 AS refunds, coalesce(sum(losses), 0)::float8 AS losses,
      coalesce(array_agg(payment_intent ORDER BY id) FILTER (WHERE refunds + losses > cents), '{}') AS overdrawn,
      (SELECT coalesce(sum(cents), 0) FROM twice)::float8 AS twice,
      (SELECT coalesce(sum(cents), 0) FROM from_firms)::float8 AS received,
      (SELECT coalesce(array_agg(p.payment_intent ORDER BY p.id), '{}') FROM from_firms f JOIN payments p USING (id)
        WHERE f.cents > (SELECT coalesce(sum(b.part_cents), 0) FROM billing_documents b
          WHERE b.payment_id = f.id AND b.kind = 'loss')) AS overpaid,
      (SELECT coalesce(array_agg(payment_intent ORDER BY payment_intent), '{}') FROM twice WHERE cents > 0) AS "paidTwice",
      (SELECT coalesce(sum(c.cents), 0) FROM charges c JOIN known USING (payment_intent))::float8 AS charged,
      (SELECT coalesce(-sum(b.amount_cents), 0) FROM balance_transactions b JOIN known USING (payment_intent)
        WHERE b.kind <> 'charge'
          AND NOT EXISTS (SELECT FROM disputes q WHERE q.id = b.source AND q.state = 'opened'))::float8 AS left
    FROM booked`);
  if (!sums) throw new Error("the sums of no rows are zero");
  return sums;
}

/**
 * Compares our books with the processor's movements. Five conditions are checked:
 *
 * - The processor's charges equal our payments.
 * - The money that left the processor's account equals our refunds, our losses, and the sums that payers got twice.
 * - No payment returned more than was paid.
 * - The documents in the statements equal the charges minus the money that left.
 * - Firms paid no more for losses than banks took back. Firms pay losses outside of the processor, so their payments
 *   are compared only with the losses.
 * @throws Error naming each difference in cents
 */
export async function sumsAgree(db: Sql): Promise<string> {
  const sums = await readSums(db);
  const { charged, left, allocated, unallocated, receipts, refunds, losses, twice, overdrawn } = sums;
  const faults: string[] = [];
  if (charged !== allocated + unallocated)
    faults.push(`charges of ${charged} cents there are ${allocated} for orders and ${unallocated} for none here`);
  const paidTwice =
    twice === 0
      ? ""
      : `; ${twice} cents of what left there were also paid back outside it, so their payers have them twice: ${sums.paidTwice.slice(0, 5).join(", ")}`;
  if (left !== refunds + losses + twice)
    faults.push(
      `${left} cents left there, and ${refunds} of refunds and ${losses} of losses are booked here${paidTwice}`,
    );
  if (overdrawn.length > 0) faults.push(`more went back than came of ${overdrawn.slice(0, 5).join(", ")}`);
  const statements = receipts - refunds - losses;
  if (charged - left !== statements - twice)
    faults.push(`statements say ${statements} cents, and the processor's books ${charged - left}`);
  const { received, overpaid } = sums;
  if (overpaid.length > 0) faults.push(`firms paid more than banks took back for ${overpaid.slice(0, 5).join(", ")}`);
  if (faults.length > 0) throw new Error(`${faults.join("; ")}: see the tasks "Differences to the payment processor"`);
  return `charges ${charged} cents = ${allocated} for orders + ${unallocated} for none; less refunds ${refunds} and losses ${losses}: statements ${statements}${received === 0 ? "" : `; firms paid ${received} for losses outside the processor`}${paidTwice}`;
}
