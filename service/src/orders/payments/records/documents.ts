import { firmNameOf } from "../../../firms/partners/partners.ts";
import type { Sql, Tx } from "../../../kernel/platform/database/database.ts";
import { type Statement, sql } from "../../../kernel/platform/database/sql.ts";
import { type StateMac, verified, writeStateMacs } from "../../../kernel/platform/database/state-mac.ts";
import { stateRows } from "../../../kernel/platform/protected-data.ts";
import { bookTime } from "../../../kernel/test-clock/test-clock.ts";
import { joinOrder } from "../../order/order.ts";
import { billingPartyState, zoneOrDefault } from "./zone.ts";

/** The columns of receipts and their corrections that the MAC covers. A trigger forbids changes to them. */
export const billingDocumentState: StateMac = {
  table: sql`billing_documents`,
  key: sql`id`,
  mac: sql`row_mac`,
  covered: (d) => sql`${d}.id, ${d}.partner_id, ${d}.environment, ${d}.kind, ${d}.year, ${d}.number, ${d}.payment_id,
    ${d}.refund, ${d}.part_cents, extract(epoch FROM ${d}.booked_at), ${d}.issuer_id, ${d}.buyer_id, ${d}.buyer_name`,
};

const backfill = { set: "receipts" };

export const billingRows = [stateRows(billingDocumentState, { backfill }), stateRows(billingPartyState, { backfill })];

/** The refund name in the credit note for everything that was left of a payment. */
const wholeRefund = "whole";

type Subject = { partnerId: string; environment: string; firmName: string; amountCents: number; isRefunded: boolean };

type Kind = "receipt" | "credit_note" | "credit_reversal" | "loss" | "loss_reversal";

export type NewDocument = { kind: Kind; refund: string | null; partCents: number | null };

/** Issues the receipt of a payment that the transaction recorded. */
export async function issueReceipt(tx: Tx, paymentId: number, at: Date): Promise<void> {
  const subject = await lockedSeries(tx, paymentId);
  await insertDocument(tx, subject, paymentId, { kind: "receipt", refund: null, partCents: null }, at);
}

/**
 * Issues the credit note for everything that is left of a payment. Issues none when nothing is left after partial
 * refunds and losses.
 * @returns the credited cents
 */
export async function creditRest(tx: Tx, paymentId: number, at: Date): Promise<number> {
  const { subject, rest, notes } = await lockedBooks(tx, paymentId);
  if (rest <= 0) return 0;
  const earlier = notes.filter(({ refund }) => refund.startsWith(wholeRefund)).length;
  // If an earlier refund of the whole rest failed, its credit note has the name `whole`. So this name gets a number.
  const refund = earlier === 0 ? wholeRefund : `${wholeRefund}:${earlier + 1}`;
  const partCents = earlier === 0 ? null : rest;
  return (await insertDocument(tx, subject, paymentId, { kind: "credit_note", refund, partCents }, at)) ? rest : 0;
}

/**
 * Issues the credit note for a partial refund of a payment. A second call with the same name does nothing. The credit
 * notes never exceed the payment.
 * @param refund the name of the refund: the id of its request, or the processor's id
 * @returns the credited cents: less than `partCents` if less is left; 0 for a second call
 */
export async function creditPart(
  tx: Tx,
  paymentId: number,
  { refund, partCents }: { refund: string; partCents: number },
  at: Date,
): Promise<number> {
  const { subject, rest } = await lockedBooks(tx, paymentId);
  const cents = Math.min(partCents, rest);
  if (cents <= 0) return 0;
  const document = { kind: "credit_note", refund, partCents: cents } as const;
  return (await insertDocument(tx, subject, paymentId, document, at)) ? cents : 0;
}

type FailedRefund = {
  id: string;
  /** The name of the refund's credit note; null for a refund of the whole payment. */
  name: string | null;
  cents: number;
  hadSucceeded: boolean;
};

/**
 * Reverses the credit for a failed refund, because the service has the money again. Does nothing if the refund neither
 * succeeded before nor has a credit note.
 * @returns the reversed cents
 */
export async function reverseCredit(
  tx: Tx,
  paymentId: number,
  { id, name, cents, hadSucceeded }: FailedRefund,
  at: Date,
): Promise<number> {
  const { subject, notes, credited } = await lockedBooks(tx, paymentId);
  const mayBeWhole = name === null || name === id;
  // While the bank is still moving the money, the processor counts a refund as whole. So its credit note may have the
  // name `whole`, even if the refund's name is the processor's id.
  const isOfRefund = (refund: string) =>
    refund === name || refund === id || (mayBeWhole && refund.startsWith(wholeRefund));
  // If a person assigned the refund to several orders, this order's credit note states its own part.
  const own = notes.find(({ kind, refund }) => kind === "credit_note" && refund === id);
  const wasCredited = hadSucceeded || notes.some(({ refund }) => isOfRefund(refund));
  const reversed = wasCredited ? Math.min(cents, own?.partCents ?? cents, credited) : 0;
  if (reversed <= 0) return 0;
  const document = { kind: "credit_reversal", refund: `reversed:${id}`, partCents: reversed } as const;
  return (await insertDocument(tx, subject, paymentId, document, at)) ? reversed : 0;
}

/**
 * The cents of a payment that were neither refunded nor lost; null when a refund of this name already has its credit
 * note.
 */
export async function restBefore(tx: Tx, paymentId: number, name: string): Promise<number | null> {
  const { rest, notes } = await lockedBooks(tx, paymentId);
  return notes.some(({ refund }) => refund === name) ? null : rest;
}

/** The cents of a payment that were neither refunded nor lost. @throws ServiceError `unavailable` */
export async function restOf(db: Sql, paymentId: number): Promise<number> {
  const [payment] = await db.query<{ amountCents: number }>(
    sql`SELECT amount_cents::float8 AS "amountCents" FROM payments WHERE id = ${paymentId}`,
  );
  return payment ? (await booksOf(db, paymentId, payment)).rest : 0;
}

/** The cents of an order's payments that were neither refunded nor lost. @throws ServiceError `unavailable` */
export async function restOfOrder(db: Sql, orderId: number): Promise<number> {
  const payments = await db.query<{ id: number }>(sql`
    SELECT p.id FROM payments p WHERE p.order_id = ${orderId}
      AND EXISTS (SELECT FROM billing_documents d WHERE d.payment_id = p.id AND d.kind = 'receipt')`);
  let rest = 0;
  for (const { id } of payments) rest += await restOf(db, id);
  return rest;
}

/**
 * Locks the numbering of the firm's documents until the transaction ends. The next transaction then reads the numbers
 * that this one has committed, so a rollback leaves no gap. Callers have already locked their orders.
 */
async function lockedSeries(tx: Tx, paymentId: number): Promise<Subject> {
  const [subject] = await tx.query<Subject>(sql`
    SELECT o.partner_id AS "partnerId", o.environment, ${firmNameOf(sql`o.partner_id`)} AS "firmName", p.amount_cents::float8 AS "amountCents",
      p.refunded_at IS NOT NULL AS "isRefunded"
    FROM payments p ${joinOrder(sql`p.order_id`)} WHERE p.id = ${paymentId}`);
  if (!subject) throw new Error("a receipt needs its payment");
  await lockBilling(tx, subject);
  return subject;
}

/** Lets only one transaction at a time issue documents of a firm or close its months; others wait. */
export async function lockBilling(tx: Tx, { partnerId, environment }: { partnerId: string; environment: string }) {
  await tx.query(sql`SELECT pg_advisory_xact_lock(hashtextextended(${`billing ${partnerId} ${environment}`}, 0))`);
}

export type Note = { kind: Exclude<Kind, "receipt">; refund: string; partCents: number | null };

/** SQL expression: the refunded cents of a payment that is not refunded as a whole. Reversed credit notes don't count. */
export const creditedCentsOf = (paymentId: Statement): Statement =>
  sql`(SELECT coalesce(sum(CASE c.kind WHEN 'credit_note' THEN c.part_cents ELSE -c.part_cents END), 0)
    FROM billing_documents c WHERE c.payment_id = ${paymentId} AND c.kind IN ('credit_note', 'credit_reversal'))::float8`;

/** The documents that correct a payment's receipt, the cents that are left, and the cents that were credited. */
async function booksOf(
  db: Sql,
  paymentId: number,
  { amountCents }: Pick<Subject, "amountCents">,
): Promise<{ rest: number; credited: number; notes: readonly Note[] }> {
  const notes = await db.query<Note>(sql`
    SELECT d.kind, d.refund, d.part_cents::float8 AS "partCents", ${verified(billingDocumentState, sql`d`)}
    FROM billing_documents d WHERE d.payment_id = ${paymentId} AND d.kind <> 'receipt' ORDER BY d.id`);
  return { ...sumsOfNotes(amountCents, notes), notes };
}

/**
 * `rest`: the cents of a payment that were neither refunded nor lost. `credited`: the cents of the credit notes, less
 * those that were reversed.
 * @param notes oldest first
 */
export function sumsOfNotes(amountCents: number, notes: readonly Pick<Note, "kind" | "partCents">[]) {
  let [rest, credited] = [amountCents, 0];
  for (const { kind, partCents } of notes) {
    const [cents, isBack] = [partCents ?? rest, kind.endsWith("reversal")];
    rest += isBack ? cents : -cents;
    if (kind.startsWith("credit")) credited += isBack ? -cents : cents;
  }
  return { rest, credited };
}

export async function lockedBooks(tx: Tx, paymentId: number) {
  const subject = await lockedSeries(tx, paymentId);
  return { subject, ...(await booksOf(tx, paymentId, subject)) };
}

/** Inserts a document. The year in its number never decreases, even if the firm moves to a time zone farther west. */
export async function insertDocument(
  tx: Tx,
  { partnerId, environment, firmName }: Subject,
  paymentId: number,
  { kind, refund, partCents }: NewDocument,
  at: Date,
): Promise<boolean> {
  const own = sql`d.partner_id = ${partnerId} AND d.environment = ${environment}`;
  const series = sql`${own} AND d.kind = ${kind}`;
  const zone = await zoneOrDefault(tx, partnerId);
  const [issued] = await tx.query<{ id: number }>(sql`
    WITH issuer AS (
      SELECT id FROM billing_parties WHERE partner_id IS NULL ORDER BY id DESC LIMIT 1
    ), buyer AS (
      SELECT id FROM billing_parties WHERE partner_id = ${partnerId} ORDER BY id DESC LIMIT 1
    ), booked AS (
      SELECT greatest(${bookTime(sql`${at}::timestamptz`, { partnerId: sql`${partnerId}::uuid`, environment: sql`${environment}::text` })}, (SELECT max(d.booked_at) FROM billing_documents d WHERE ${own}),
        (SELECT max(d.ends_at) FROM billing_statements d WHERE ${own})) AS at
    ), dated AS (
      SELECT at, greatest(extract(year FROM at AT TIME ZONE ${zone}::text)::int,
        (SELECT max(d.year) FROM billing_documents d WHERE ${series})) AS year FROM booked
    )
    INSERT INTO billing_documents (partner_id, environment, kind, year, number, payment_id, refund, part_cents, booked_at,
      issuer_id, buyer_id, buyer_name)
    SELECT ${partnerId}::uuid, ${environment}, ${kind}, year,
      1 + coalesce((SELECT max(d.number) FROM billing_documents d WHERE ${series} AND d.year = dated.year), 0),
      ${paymentId}::bigint, ${refund}::text, ${partCents}::bigint, at, (SELECT id FROM issuer), (SELECT id FROM buyer), ${firmName}
    FROM dated
    ON CONFLICT (payment_id, coalesce(refund, '')) DO NOTHING RETURNING id`);
  if (issued) await writeStateMacs(tx, billingDocumentState, sql`id = ${issued.id}`);
  return issued !== undefined;
}
