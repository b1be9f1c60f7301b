import type { Sql, Tx } from "../../kernel/platform/database/database.ts";
import { sql } from "../../kernel/platform/database/sql.ts";
import { type StateMac, verified, writeStateMacs } from "../../kernel/platform/database/state-mac.ts";
import { stateRows } from "../../kernel/platform/protected-data.ts";

/** The columns of receipts and credit notes that the MAC covers. A trigger forbids changes to them. */
export const billingDocumentState: StateMac = {
  table: sql`billing_documents`,
  key: sql`id`,
  mac: sql`row_mac`,
  covered: (d) => sql`${d}.id, ${d}.partner_id, ${d}.environment, ${d}.kind, ${d}.year, ${d}.number, ${d}.payment_id,
    ${d}.refund, ${d}.part_cents, extract(epoch FROM ${d}.booked_at), ${d}.issuer_id, ${d}.buyer_id, ${d}.buyer_name`,
};

/** The columns of the names and addresses on receipts that the MAC covers. A change inserts a new row. */
export const billingPartyState: StateMac = {
  table: sql`billing_parties`,
  key: sql`id`,
  mac: sql`row_mac`,
  covered: (b) => sql`${b}.id, ${b}.partner_id, ${b}.content, ${b}.created_by, extract(epoch FROM ${b}.created_at)`,
};

const backfill = { set: "receipts" };

export const billingRows = [stateRows(billingDocumentState, { backfill }), stateRows(billingPartyState, { backfill })];

/** The name of the refund of everything that is left of a payment. */
const wholeRefund = "whole";

type Subject = { partnerId: string; environment: string; firmName: string; amountCents: number };

type NewDocument = { kind: "receipt" | "credit_note"; refund: string | null; partCents: number | null };

/** Issues the receipt of a payment that the transaction recorded. */
export async function issueReceipt(tx: Tx, paymentId: number, at: Date): Promise<void> {
  const subject = await lockedSeries(tx, paymentId);
  await insert(tx, subject, paymentId, { kind: "receipt", refund: null, partCents: null }, at);
}

/**
 * Issues the credit note for all that is left of a payment. Issues none when partial refunds have already returned
 * everything.
 */
export async function creditRest(tx: Tx, paymentId: number, at: Date): Promise<void> {
  const subject = await lockedSeries(tx, paymentId);
  if ((await restOf(tx, paymentId, subject)) <= 0) return;
  await insert(tx, subject, paymentId, { kind: "credit_note", refund: wholeRefund, partCents: null }, at);
}

/**
 * Issues the credit note for a part of a payment that was refunded. A refund with a repeated name counts once, and the
 * credit notes never exceed the payment.
 * @param refund the name of the refund: the id of its request, or the processor's id
 */
export async function creditPart(
  tx: Tx,
  paymentId: number,
  { refund, partCents }: { refund: string; partCents: number },
  at: Date,
): Promise<void> {
  const subject = await lockedSeries(tx, paymentId);
  const cents = Math.min(partCents, await restOf(tx, paymentId, subject));
  if (cents <= 0) return;
  await insert(tx, subject, paymentId, { kind: "credit_note", refund, partCents: cents }, at);
}

/**
 * Locks the document numbers of the payment's firm until the transaction ends. The next transaction then reads what
 * this one committed, so a rollback leaves no gap. Callers already hold the locks of their orders.
 */
async function lockedSeries(tx: Tx, paymentId: number): Promise<Subject> {
  const [subject] = await tx.query<Subject>(sql`
    SELECT o.partner_id AS "partnerId", o.environment, f.name AS "firmName", p.amount_cents::float8 AS "amountCents"
    FROM payments p JOIN orders o ON o.id = p.order_id JOIN partners f ON f.id = o.partner_id WHERE p.id = ${paymentId}`);
  if (!subject) throw new Error("a receipt needs its payment");
  await lockBilling(tx, subject);
  return subject;
}

/**
 * The lock of a firm and environment: transactions that issue receipts or credit notes, or close a month, wait for each
 * other.
 */
export async function lockBilling(tx: Tx, { partnerId, environment }: { partnerId: string; environment: string }) {
  await tx.query(sql`SELECT pg_advisory_xact_lock(hashtextextended(${`billing ${partnerId} ${environment}`}, 0))`);
}

/** The cents of a payment that no credit note has returned. */
async function restOf(db: Sql, paymentId: number, { amountCents }: Subject): Promise<number> {
  const notes = await db.query<{ refund: string; partCents: number | null }>(sql`
    SELECT d.refund, d.part_cents::float8 AS "partCents", ${verified(billingDocumentState, sql`d`)}
    FROM billing_documents d WHERE d.payment_id = ${paymentId} AND d.kind = 'credit_note'`);
  if (notes.some(({ refund }) => refund === wholeRefund)) return 0;
  return notes.reduce((rest, { partCents }) => rest - (partCents ?? 0), amountCents);
}

/** The time zone of a database in which no service has stored an issuer yet. */
export const defaultZone = "America/New_York";

async function insert(
  tx: Tx,
  { partnerId, environment, firmName }: Subject,
  paymentId: number,
  { kind, refund, partCents }: NewDocument,
  at: Date,
): Promise<void> {
  const own = sql`d.partner_id = ${partnerId} AND d.environment = ${environment}`;
  const [issued] = await tx.query<{ id: number }>(sql`
    WITH issuer AS (
      SELECT id, content FROM billing_parties WHERE partner_id IS NULL ORDER BY id DESC LIMIT 1
    ), buyer AS (
      SELECT id FROM billing_parties WHERE partner_id = ${partnerId} ORDER BY id DESC LIMIT 1
    ), booked AS (
      SELECT greatest(${at}::timestamptz, (SELECT max(d.booked_at) FROM billing_documents d WHERE ${own}),
        (SELECT max(d.ends_at) FROM billing_statements d WHERE ${own})) AS at
    ), dated AS (
      SELECT at, extract(year FROM at AT TIME ZONE
        coalesce((SELECT content ->> 'zone' FROM issuer), ${defaultZone}))::int AS year FROM booked
    )
    INSERT INTO billing_documents (partner_id, environment, kind, year, number, payment_id, refund, part_cents, booked_at,
      issuer_id, buyer_id, buyer_name)
    SELECT ${partnerId}::uuid, ${environment}, ${kind}, year,
      1 + coalesce((SELECT max(d.number) FROM billing_documents d WHERE ${own} AND d.kind = ${kind} AND d.year = dated.year), 0),
      ${paymentId}::bigint, ${refund}::text, ${partCents}::bigint, at, (SELECT id FROM issuer), (SELECT id FROM buyer), ${firmName}
    FROM dated
    ON CONFLICT (payment_id, coalesce(refund, '')) DO NOTHING RETURNING id`);
  if (issued) await writeStateMacs(tx, billingDocumentState, sql`id = ${issued.id}`);
}
