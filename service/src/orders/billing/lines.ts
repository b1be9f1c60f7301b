/** The lines of statements, and their sums. */
import type { Environment, Owner } from "../../kernel/identity/identity.ts";
import type { Sql } from "../../kernel/platform/database/database.ts";
import { nothing, type Statement, sql } from "../../kernel/platform/database/sql.ts";
import { verified, verifiedAll } from "../../kernel/platform/database/state-mac.ts";
import { joinOrder, serviceFlags, type TitleOf, verifiedOrder } from "../order/order.ts";
import {
  billingDocuments,
  fromPayments,
  fromSupplements,
  isUnapplied,
  joinPayment,
  type LossPaymentWay,
  lossPaymentState,
  lossPayments,
  type OutsideWay,
  outsideWay,
  paidAtInBooks,
  payerOnPage,
  payingMethod,
  paymentState,
  supplementState,
  verifiedUnapplied,
} from "../payments/payments.ts";
import type { BoughtServices } from "../pricing/pricing.ts";
import { creditedCents, documentCents, type LineKind, numberText, type Paid, verifiedAmount } from "./documents.ts";

/** A payment from the firm that did not go through the processor. The line books or reverses it. */
type Received = {
  way: LossPaymentWay;
  /** The number of the check, or the bank's reference. */
  reference: string;
  /** The day on which the money arrived: `2026-11-29`. */
  receivedOn: string;
  /** The time of the payment that a bank took back. */
  paidAt: Date;
};

/** One line of a statement: a receipt, a credit note, a loss, money from the firm for a loss, or a reversal. */
export type StatementLine = Paid & {
  number: string;
  kind: LineKind;
  at: Date;
  orderCode: string;
  /** The firm's own reference for the order, such as a file number. */
  reference: string | null;
  services: string;
  /** The stored or catalog name of the order's document; null without one, or when the caller passed no `titleOf`. */
  document: string | null;
  /**
   * The discount in the receipt's price, in US cents. 0 on other documents. Also 0 on a receipt for a supplement, for
   * no order, or for another sum than the price.
   */
  discountCents: number;
  /** The processor's id of the payment, which several orders can share; null when it has none. */
  paymentReference: string | null;
  /** The amount, in the smallest unit of the currency. The statement's sums include only amounts in US dollars. */
  amountCents: number;
  currency: string;
  /**
   * True if the payment paid its order or a supplement, but replaced no loss. A late or duplicate payment is held
   * instead.
   */
  applied: boolean;
  /**
   * True if the payer paid again after a bank took the first payment back. `applied` is then false, because the order
   * did not cost more.
   */
  replacesLoss: boolean;
  /** The part of a credit note that reduces the order's price (see `creditedCents` in documents.ts). */
  creditedCents: number;
  /** The way in which money was paid outside the payment processor; null for other lines. */
  outside: OutsideWay | null;
  /** The firm's payment for a loss, on a line that books or reverses it; null on other lines. */
  received: Received | null;
};

/**
 * The sums of a month, in US cents. `closing` is `opening + corrections + payments - refunds - losses - (charges -
 * credits)`. It equals the money that the service holds for the firm and that paid for no order, less the firm's debt.
 * `heldCents` and `owedCents` return these two amounts.
 *
 * A reversal reduces the refunds or losses that the reversed document increased, but never the credits. `owed` is the
 * firm's debt for payments that banks took back, less what was paid again. A duplicate payment for one order doesn't
 * reduce the debt of another.
 */
export type Sums = {
  opening: number;
  charges: number;
  credits: number;
  payments: number;
  refunds: number;
  losses: number;
  closing: number;
  owed: number;
  /** Corrects the closing balances of earlier months, which an earlier release computed differently. */
  corrections: number;
};

/** The firm's debt, in cents, for payments that banks took back. */
export const owedCents = ({ owed }: Pick<Sums, "owed">): number => Math.max(0, owed);

/** The cents that the service holds for the firm and that paid for no order. */
export const heldCents = (sums: Pick<Sums, "closing" | "owed">): number => sums.closing + owedCents(sums);

type Line = Omit<StatementLine, "number" | "services" | "document" | "received"> &
  BoughtServices & {
    documentName: Buffer | null;
    docSlug: string | null;
    environment: Environment;
    year: number;
    number: number;
  };

type Span = {
  startsAt: Date | null;
  endsAt: Date | null;
  /** Reads only the lines of these orders; absent for all orders. */
  orderIds?: readonly number[];
  /** Reads the names of the orders' documents; absent if the lines need no names. */
  titleOf?: TitleOf;
};

/** An order's discounts in cents: that of the tier, and those of discount codes, which are lines of the order. */
const allDiscounts: Statement = sql`(o.discount_cents - (SELECT coalesce(sum((l ->> 'amountCents')::bigint), 0)
  FROM jsonb_array_elements(o.lines) l WHERE l ->> 'type' = 'Discount'))::float8`;

/**
 * A firm's statement lines between two times, in the sequence in which they were booked.
 * @param span the two times; null for no bound
 */
export async function linesOf(db: Sql, owner: Owner, span: Span): Promise<StatementLine[]> {
  const booked = [...(await documentLines(db, owner, span)), ...(await receivedLines(db, owner, span))];
  // Of lines booked at the same time, documents come first, because a loss is booked before the payment that replaces
  // it.
  booked.sort((one, other) => one.at.getTime() - other.at.getTime());
  const { titleOf = () => null } = span;
  return booked.map(({ environment, year, number, sign, notarize, ship, fax, documentName, docSlug, ...line }) => ({
    ...line,
    document: titleOf({ code: line.orderCode, documentName, docSlug }),
    number: numberText({ kind: line.kind, environment, year, number }),
    services: serviceFlags({ sign, notarize, ship, fax }),
  }));
}

/**
 * SQL condition: the row with alias `of` belongs to the firm and was booked in the span. With `orderIds`, its payment
 * `p` is also for one of these orders.
 */
const isBooked = (of: Statement, { partnerId, environment }: Owner, { startsAt, endsAt, orderIds }: Span) =>
  sql`${of}.partner_id = ${partnerId} AND ${of}.environment = ${environment}
    AND ${of}.booked_at >= ${startsAt ?? "-infinity"}::timestamptz AND ${of}.booked_at < ${endsAt ?? "infinity"}::timestamptz
    ${orderIds ? sql`AND p.order_id = ANY (${orderIds}::bigint[])` : nothing}`;

/** The lines about money that the firm paid outside the processor for payments that banks took back. */
async function receivedLines(db: Sql, owner: Owner, span: Span) {
  type Row = Omit<Line, "reference"> & Received & { fileNumber: string | null };
  const rows = await db.query<Row>(sql`
    SELECT x.environment, CASE WHEN x.reverses IS NULL THEN 'loss_payment' ELSE 'loss_payment_reversal' END AS kind, x.year, x.number,
      x.booked_at AS at, o.code AS "orderCode@order", o.external_reference AS "fileNumber", p.payment_intent AS "paymentReference",
      o.document_name AS "documentName", o.doc_slug AS "docSlug", o.sign, o.notarize, o.ship, o.fax, 0::float8 AS "discountCents",
      x.amount_cents::float8 AS "amountCents", 0::float8 AS "creditedCents", 'usd' AS currency, x.way AS outside, false AS applied,
      true AS "replacesLoss", 'firm' AS "payBy", p.simulated, NULL AS method, x.way, x.reference,
      to_char(x.received_on, 'YYYY-MM-DD') AS "receivedOn", ${paidAtInBooks} AS "paidAt",
      ${verified(lossPaymentState, sql`x`)}, ${verified(paymentState, sql`p`)}, ${verifiedOrder}
    FROM ${lossPayments(sql`x`)} ${joinPayment(sql`x.payment_id`)} ${joinOrder(sql`p.order_id`)}
    WHERE ${isBooked(sql`x`, owner, span)} ORDER BY x.booked_at, x.id`);
  return rows.map(({ way, reference, receivedOn, paidAt, fileNumber, ...line }) => ({
    ...line,
    reference: fileNumber,
    received: { way, reference, receivedOn, paidAt },
  }));
}

async function documentLines(db: Sql, owner: Owner, span: Span) {
  const supplements = sql`${fromSupplements} WHERE u.payment_id = p.id`;
  const replaces = sql`EXISTS (SELECT ${supplements} AND u.replaces_loss)`;
  const rows = await db.query<Line>(sql`
    SELECT d.environment, d.kind, d.year, d.number, d.booked_at AS at, o.code AS "orderCode@order", o.external_reference AS reference,
      p.payment_intent AS "paymentReference", o.document_name AS "documentName", o.doc_slug AS "docSlug",
      CASE WHEN d.kind = 'receipt' AND NOT EXISTS (SELECT ${supplements}) AND NOT ${isUnapplied}
        AND p.amount_cents = o.total_cents AND lower(p.currency) = 'usd' THEN ${allDiscounts} ELSE 0 END AS "discountCents",
      o.sign, o.notarize, o.ship, o.fax, ${documentCents} AS "amountCents", ${creditedCents} AS "creditedCents", lower(p.currency) AS currency,
      ${outsideWay(sql`d`)} AS outside,
      NOT ${isUnapplied} AND NOT ${replaces} AS applied, ${replaces} AS "replacesLoss",
      ${payerOnPage}, p.simulated, ${payingMethod},
      ${verifiedAmount}, ${verifiedOrder}, ${verifiedUnapplied},
      ${verifiedAll(supplementState, sql`u`, supplements)}
    FROM ${billingDocuments(sql`d`)} ${joinPayment(sql`d.payment_id`)} ${joinOrder(sql`p.order_id`)}
    WHERE ${isBooked(sql`d`, owner, span)} ORDER BY d.booked_at, d.id`);
  return rows.map((line) => ({ ...line, received: null }));
}

/** A line's change to the firm's balance, in US cents. A payment that pays its order changes nothing. */
export function balanceCents({ kind, currency, amountCents, creditedCents, applied }: StatementLine): number {
  if (currency !== "usd") return 0;
  if (kind === "receipt") return applied ? 0 : amountCents;
  if (kind === "credit_note") return (applied ? creditedCents : 0) - amountCents;
  return kind === "loss" || kind === "loss_payment_reversal" ? -amountCents : amountCents;
}

/**
 * A line's change to the firm's debt for its order, in US cents. A loss increases the debt. A payment that replaces the
 * lost one, online or outside the processor, reduces the debt.
 */
function owedByLine({ kind, currency, amountCents, applied, replacesLoss }: StatementLine): number {
  if (currency !== "usd") return 0;
  if (kind === "loss" || kind === "loss_reversal")
    return applied || replacesLoss ? (kind === "loss" ? amountCents : -amountCents) : 0;
  if (!replacesLoss) return 0;
  return kind === "credit_note" || kind === "loss_payment_reversal" ? amountCents : -amountCents;
}

/** The lines of all orders with a payment that a bank took back, as input for `owedUntil`. */
export async function lossLines(db: Sql, owner: Owner): Promise<StatementLine[]> {
  const { partnerId, environment } = owner;
  const lost = await db.query<{ id: number }>(sql`
    SELECT DISTINCT d.payment_id AS id FROM ${billingDocuments(sql`d`)}
    WHERE partner_id = ${partnerId} AND environment = ${environment} AND kind = 'loss'`);
  if (lost.length === 0) return [];
  const orders = await db.query<{ id: number }>(sql`
    SELECT DISTINCT p.order_id AS id ${fromPayments} WHERE p.id = ANY (${lost.map(({ id }) => id)}::bigint[])`);
  return linesOf(db, owner, { startsAt: null, endsAt: null, orderIds: orders.map(({ id }) => id) });
}

/**
 * The firm's debt at `endsAt`, in cents, for payments that banks took back. Money held for one order doesn't reduce the
 * debt of another.
 * @param endsAt null for all lines
 */
export function owedUntil(lines: readonly StatementLine[], endsAt: Date | null): number {
  const owed = new Map<string, number>();
  for (const line of lines)
    if (endsAt === null || line.at < endsAt)
      owed.set(line.orderCode, (owed.get(line.orderCode) ?? 0) + owedByLine(line));
  return [...owed.values()].reduce((sum, cents) => sum + Math.max(0, cents), 0);
}

/**
 * The sums of a month.
 * @param before the sums of the previous month
 * @param owed the firm's debt at the end of the month
 * @param corrections the cents that correct the closing balance of earlier months
 */
export function sumsOf(
  before: Sums | undefined,
  lines: readonly StatementLine[],
  { owed, corrections = 0 }: { owed: number; corrections?: number },
): Sums {
  const sum = (kind: LineKind, which: (line: StatementLine) => boolean = () => true) =>
    lines.reduce(
      (total, line) => total + (line.kind === kind && line.currency === "usd" && which(line) ? line.amountCents : 0),
      0,
    );
  const isApplied = ({ applied }: StatementLine) => applied;
  const opening = before?.closing ?? 0;
  return {
    opening,
    charges: sum("receipt", isApplied),
    credits: lines.reduce((all, line) => all + (line.applied && line.currency === "usd" ? line.creditedCents : 0), 0),
    payments: sum("receipt") + sum("loss_payment") - sum("loss_payment_reversal"),
    refunds: sum("credit_note") - sum("credit_reversal"),
    losses: sum("loss") - sum("loss_reversal"),
    closing: lines.reduce((balance, line) => balance + balanceCents(line), opening + corrections),
    owed,
    corrections,
  };
}
