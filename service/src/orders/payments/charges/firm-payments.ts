/** A firm's payments with their refunds and losses, and the amount that one member or key of the firm has spent. */
import type { Owner } from "../../../kernel/identity/identity.ts";
import type { Sql } from "../../../kernel/platform/database/database.ts";
import { type Statement, sql } from "../../../kernel/platform/database/sql.ts";
import {
  type Marked,
  marked,
  markedAll,
  nullIfAltered,
  verified,
} from "../../../kernel/platform/database/state-mac.ts";
import { AlteredRecordError } from "../../../kernel/platform/errors.ts";
import {
  agedOf,
  chargeState,
  charges,
  type FirmCharge,
  isOpen,
  type PayingMethod,
  paymentIdOf,
} from "../records/charges.ts";
import { disputeState } from "../records/disputes.ts";
import { billingDocumentState, type Note, sumsOfNotes } from "../records/documents.ts";
import { methodsById } from "../records/methods.ts";
import { paymentState } from "../records/payments.ts";
import { supplementState } from "../records/supplements.ts";

/**
 * The charges of one payment by a firm, one for each order. All of them have the same state. `isAuthentic` is false if
 * the charge, or a record about its money, was altered in the database.
 */
export type PaymentOfFirm = readonly (FirmCharge & Returned & Facts & Marked)[];

type Facts = {
  reference: string | null;
  orderStatus: string;
  payBy: string;
  /** False only for an altered charge, which may name another firm's order. */
  isOwnOrder: boolean;
  /** The order's price now. The charge may have been for an earlier price. */
  totalCents: number;
  isDisputed: boolean;
  /**
   * True if the charge replaces a payment that a bank took back. False if it pays more postage. Null if it pays the
   * order's price.
   */
  replacesLoss: boolean | null;
  /** True if a payment for the order arrived after the charge was requested. The charge's own payment counts, too. */
  isPaidSince: boolean;
  /**
   * The card or bank account; null for a charge without one. Null for all charges when the record of one method was
   * altered.
   */
  method: PayingMethod;
};

/** At most this many payments of a firm are listed. */
export const listedPayments = 50;

/**
 * The payments of a firm that have not ended, then its newest ones. Returns one more than are listed, to show that
 * there are more. Open payments come first, because an owner ends an overdue one in this list.
 */
export async function paymentsOfFirm(db: Sql, { partnerId, environment }: Owner): Promise<PaymentOfFirm[]> {
  const own = (row: Statement) => sql`${row}.partner_id = ${partnerId} AND ${row}.environment = ${environment}`;
  const supplement = sql`FROM supplements s WHERE s.id = c.supplement_id`;
  const since = sql`FROM payments p WHERE p.order_id = c.order_id AND p.received_at >= c.asked_at`;
  const disputes = sql`FROM disputes d WHERE d.payment_intent = c.payment_intent`;
  const rows = await db.query<FirmCharge & Omit<Facts, "method"> & Marked>(sql`
    ${charges(
      sql`${own(sql`c`)} AND coalesce(c.group_id, c.id) IN (
        SELECT coalesce(q.group_id, q.id) FROM firm_charges q WHERE ${own(sql`q`)} GROUP BY 1
        ORDER BY bool_and(NOT (${isOpen(sql`q`)})), max(q.asked_at) DESC, 1 LIMIT ${listedPayments + 1})`,
      sql`, o.external_reference AS reference, o.status AS "orderStatus",
        o.pay_by AS "payBy", (${own(sql`o`)}) AS "isOwnOrder", o.total_cents AS "totalCents", EXISTS (SELECT ${disputes} AND d.state = 'opened') AS "isDisputed",
        (SELECT s.replaces_loss ${supplement}) AS "replacesLoss", ${markedAll(supplementState, sql`s`, supplement)},
        EXISTS (SELECT ${since}) AS "isPaidSince", ${markedAll(paymentState, sql`p`, since)},
        ${markedAll(disputeState, sql`d`, disputes)}`,
      marked,
    )}
    ORDER BY NOT (${isOpen(sql`c`)}), c.asked_at DESC, coalesce(c.group_id, c.id), c.order_id`);
  const intents = rows.flatMap(({ paymentIntent }) => paymentIntent ?? []);
  const returned = await returnedOf(db, intents);
  const whole = { creditedCents: 0, lostCents: 0, isAuthentic: true };
  const methodIds = rows.flatMap(({ methodId }) => methodId ?? []);
  const methods = (await methodsById(db, methodIds).catch(nullIfAltered)) ?? [];
  const shown = rows.map((each) => {
    const { isAuthentic, ...sums } = returned.get(returnedKey(each)) ?? whole;
    const method = methods.find(({ id }) => id === each.methodId) ?? null;
    return { ...each, ...sums, method, isAuthentic: each.isAuthentic && isAuthentic };
  });
  return [...Map.groupBy(shown, paymentIdOf).values()];
}

/**
 * The sum of a spender's charges since a time: charges in progress, and paid charges less their refunds. A payment that
 * a bank took back still counts, because the firm owes that money.
 * @throws ServiceError `unavailable` when a charge, its payment or a document of it was altered
 */
export async function spentSince(
  db: Sql,
  { partnerId, environment }: Owner,
  { spender, since, except }: { spender: string; since: Date; except: readonly string[] },
): Promise<number> {
  type Row = Pick<FirmCharge, "orderId" | "paymentIntent" | "amountCents">;
  const rows = await db.query<Row>(sql`
    SELECT c.order_id AS "orderId", c.payment_intent AS "paymentIntent", c.amount_cents AS "amountCents", ${verified(chargeState, sql`c`)}
    FROM firm_charges c
    WHERE c.partner_id = ${partnerId} AND c.environment = ${environment} AND c.asked_by = ${spender} AND c.asked_at >= ${since}
      AND ${agedOf(sql`c`, sql`c.asked_at`)} >= ${since}
      AND c.id <> ALL (${except}::uuid[]) AND (c.state = 'succeeded' OR ${isOpen(sql`c`)})`);
  const returned = await returnedOf(
    db,
    rows.flatMap(({ paymentIntent }) => paymentIntent ?? []),
  );
  if ([...returned.values()].some(({ isAuthentic }) => !isAuthentic)) throw new AlteredRecordError();
  return rows.reduce((sum, row) => sum + row.amountCents - (returned.get(returnedKey(row))?.creditedCents ?? 0), 0);
}

/** The cents of a payment that were credited to the payer, and the cents that a bank took back. */
type Returned = { creditedCents: number; lostCents: number };

/**
 * The returned and lost cents of payments at the processor, for each order and payment intent. The keys are those of
 * `returnedKey`. Marks the sums of altered rows.
 */
async function returnedOf(db: Sql, paymentIntents: readonly string[]): Promise<ReadonlyMap<string, Returned & Marked>> {
  type Row = Pick<Note, "kind" | "partCents"> & { orderId: number; paymentIntent: string; amountCents: number };
  const rows = await db.query<Row & Marked>(sql`
    SELECT p.order_id AS "orderId", p.payment_intent AS "paymentIntent", p.amount_cents::float8 AS "amountCents", d.kind,
      d.part_cents::float8 AS "partCents", ${marked(billingDocumentState, sql`d`)}, ${marked(paymentState, sql`p`)}
    FROM payments p JOIN billing_documents d ON d.payment_id = p.id
    WHERE p.payment_intent = ANY (${paymentIntents}::text[]) AND d.kind <> 'receipt' ORDER BY d.id`);
  const returned = new Map<string, Returned & Marked>();
  for (const [key, notes] of Map.groupBy(rows, returnedKey)) {
    const { rest, credited: creditedCents } = sumsOfNotes(notes[0]?.amountCents ?? 0, notes);
    const lostCents = (notes[0]?.amountCents ?? 0) - rest - creditedCents;
    returned.set(key, { creditedCents, lostCents, isAuthentic: notes.every(({ isAuthentic }) => isAuthentic) });
  }
  return returned;
}

const returnedKey = (of: { orderId: number; paymentIntent: string | null }): string =>
  `${of.orderId} ${of.paymentIntent}`;
