import type { Environment, Owner } from "../../kernel/identity/identity.ts";
import type { Sql } from "../../kernel/platform/database/database.ts";
import { nothing, type Statement, sql } from "../../kernel/platform/database/sql.ts";
import { verifiedAll } from "../../kernel/platform/database/state-mac.ts";
import { isCode } from "../../kernel/platform/text.ts";
import { hasOrderCode, joinOrder, type Payer, verifiedOrder } from "../order/order.ts";
import {
  billingDocumentState,
  billingDocuments,
  billingPartyState,
  fromSupplements,
  joinPayment,
  leftJoinSupplement,
  lossPayments,
  methodName,
  type OutsideWay,
  outsideWay,
  outsideWays,
  type PayingMethod,
  payerOnPage,
  payingMethod,
  supplementState,
  verifiedSimultaneous,
} from "../payments/payments.ts";
import type { Buyer, Issuer } from "./parties.ts";

/**
 * A credit note records a refund. A loss records a payment that the payer's bank took back: the price is still owed. A
 * reversal cancels a credit note or a loss: the refund failed, the bank decided differently, or a credit note replaces
 * the loss.
 */
export const billingKinds = ["receipt", "credit_note", "credit_reversal", "loss", "loss_reversal"] as const;

export type BillingKind = (typeof billingKinds)[number];

/**
 * The kinds of a statement's lines: the documents, a firm's payment outside the processor for a lost dispute, and the
 * reversal of such a payment.
 */
export const lineKinds = [...billingKinds, "loss_payment", "loss_payment_reversal"] as const;

export type LineKind = (typeof lineKinds)[number];

/**
 * A receipt or a document that corrects one. `amountCents` is its own amount, which can be a part of the payment. Its
 * lines and total are those of the order's quote or the supplement.
 */
export type BillingDocument = {
  number: string;
  kind: BillingKind;
  /** On a receipt, its own number. On any other document, the number of the receipt that it corrects. */
  receiptNumber: string;
  environment: Environment;
  partnerId: string;
  orderCode: string;
  reference: string | null;
  /** The encrypted name of the order's document, and its slug in the catalog. `TitleOf` reads the title from them. */
  documentName: Buffer | null;
  docSlug: string | null;
  payBy: Payer;
  method: PayingMethod;
  simulated: boolean;
  /** The document's amount, in the smallest unit of the currency. */
  amountCents: number;
  currency: string;
  issuedAt: Date;
  paidAt: Date;
  /** The processor's id of the payment; null when it has none. */
  paymentReference: string | null;
  lines: readonly { type: string; label: string; amountCents: number }[];
  discountCents: number;
  totalCents: number;
  /** True if the payment was for a supplement: more postage, or (`replacesLoss`) the price that was lost. */
  isSupplement: boolean;
  /** True if the payer paid again after a bank took the first payment back. The order then did not cost more. */
  replacesLoss: boolean;
  /**
   * The way in which the money of a failed refund was paid back outside the payment processor; null for other
   * documents.
   */
  outside: OutsideWay | null;
  issuer: Issuer | null;
  buyer: Buyer;
};

const reversals = sql`('credit_reversal', 'loss_reversal')`;

/**
 * The amount of a document that corrects a receipt. It is `part_cents` or, if that is null, the rest of the payment
 * after earlier documents.
 * @param d the alias of the document
 * @param s an alias for the earlier documents
 */
const leftCents = (d: Statement, s: Statement): Statement => sql`coalesce(${d}.part_cents, p.amount_cents - coalesce((
    SELECT sum(CASE WHEN ${s}.kind IN ${reversals} THEN -${s}.part_cents ELSE ${s}.part_cents END)
    FROM ${billingDocuments(s)} WHERE ${s}.payment_id = ${d}.payment_id AND ${s}.id < ${d}.id), 0))`;

export const documentCents: Statement = sql`(CASE WHEN d.kind = 'receipt' THEN p.amount_cents
  ELSE ${leftCents(sql`d`, sql`s`)} END)::float8`;

/**
 * The cents by which a credit note reduces the order's price. A reversal of a credit note doesn't raise the price
 * again. So a later credit note for the same money must not reduce the price twice. A credit note counts only as far as
 * it raises the payment's net credit above all earlier values.
 */
export const creditedCents: Statement = sql`(CASE WHEN d.kind = 'credit_note' THEN (
  SELECT greatest(0, max(n.net) FILTER (WHERE n.id = d.id) - greatest(0, coalesce(max(n.net) FILTER (WHERE n.id < d.id), 0)))
  FROM (SELECT x.id, sum(x.cents) OVER (ORDER BY x.id) AS net FROM (
    SELECT s.id, CASE s.kind
      WHEN 'credit_note' THEN ${leftCents(sql`s`, sql`q`)}
      WHEN 'credit_reversal' THEN -s.part_cents ELSE 0 END AS cents
    FROM ${billingDocuments(sql`s`)} WHERE s.payment_id = d.payment_id AND s.id <= d.id
  ) x) n) ELSE 0 END)::float8`;

/**
 * For a select list: the database handle verifies the payment `p` and all of its documents, from which an amount is
 * computed.
 */
export const verifiedAmount: Statement = sql`${verifiedAll(billingDocumentState, sql`s`, sql`FROM ${billingDocuments(sql`s`)} WHERE s.payment_id = d.payment_id`)},
  ${verifiedSimultaneous}`;

/**
 * The facts of a payment that determine who paid, and by which method. `outside`: how its money was paid back outside
 * the processor.
 */
export type Paid = Pick<BillingDocument, "payBy" | "method" | "simulated"> & { outside?: OutsideWay | null };

/** The payer: the firm if its own card or bank account was charged, otherwise the payer of the checkout. */
export const payerOf = ({ payBy, method }: Paid): Payer => (method === null ? payBy : "firm");

/**
 * The payer and the payment method, such as `Firm, Visa •••• 4242`. For a payment on the processor's page, the card is
 * not named, because the processor doesn't report it. Money paid back outside the processor is on no card statement. So
 * the text then names the way instead, such as a paper check.
 */
export const paidByText = (paid: Paid): string => {
  const online = paid.method ? methodName(paid.method) : paid.simulated ? "sandbox" : "payment page";
  const how = paid.outside ? outsideWays[paid.outside] : online;
  return `${payerOf(paid) === "firm" ? "Firm" : "Client"}, ${how}`;
};

type NumberParts = { kind: LineKind; environment: Environment; year: number; number: number };

const letters: Readonly<Record<LineKind, string>> = {
  receipt: "R",
  credit_note: "CN",
  credit_reversal: "CNR",
  loss: "L",
  loss_reversal: "LR",
  loss_payment: "LP",
  loss_payment_reversal: "LPR",
};

/** A document number as people and programs see it: `R-2026-00017`, `TEST-CN-2026-00002`. */
export const numberText = ({ kind, environment, year, number }: NumberParts): string =>
  `${environment === "test" ? "TEST-" : ""}${letters[kind]}-${year}-${String(number).padStart(5, "0")}`;

const numberForm = /^(TEST-)?([A-Z]{1,3})-(\d{4})-(\d{5,9})$/;

/**
 * Finds the order that the document or line with this number is about. Returns a list with the order's id; empty when
 * the firm has no document or line with this number in the owner's environment.
 */
export async function ordersByNumber(db: Sql, { partnerId, environment }: Owner, text: string): Promise<number[]> {
  const [, prefix, letter, year, digits] = numberForm.exec(text.toUpperCase()) ?? [];
  const kind = lineKinds.find((each) => letters[each] === letter);
  // Numbers of the test environment have a prefix. Both environments count from 1, so without the prefix, the number is
  // that of a live document.
  if (kind === undefined || (prefix !== undefined) !== (environment === "test")) return [];
  const which = kind.startsWith("loss_payment")
    ? sql`${lossPayments(sql`d`)} ${joinPayment(sql`d.payment_id`)} WHERE (d.reverses IS NULL) = ${kind === "loss_payment"}`
    : sql`${billingDocuments(sql`d`)} ${joinPayment(sql`d.payment_id`)} WHERE d.kind = ${kind}`;
  const found = await db.query<{ id: number }>(sql`
    SELECT p.order_id AS id FROM ${which} AND d.partner_id = ${partnerId} AND d.environment = ${environment}
      AND d.year = ${Number(year)} AND d.number = ${Number(digits)}`);
  return found.map(({ id }) => id);
}

/**
 * The receipt of a test order is dated by the firm's test clock, but `received_at` is real time. So a test payment gets
 * the date of its receipt.
 */
const paidAt = sql`CASE WHEN d.environment = 'test' THEN r.booked_at ELSE p.received_at END`;

type Row = Omit<BillingDocument, "number" | "receiptNumber" | "issuer" | "buyer"> & {
  year: number;
  number: number;
  receiptYear: number;
  receipt: number;
  issuer: Issuer | null;
  buyer: Buyer | null;
  buyerName: string;
};

/**
 * The receipts of an order and the documents that correct them, oldest first.
 * @param owner null for a caller who proved access by the order's code
 * @throws ServiceError `unavailable` when a row that they are made from fails its MAC
 */
export async function documentsOfOrder(db: Sql, code: string, owner: Owner | null): Promise<BillingDocument[]> {
  if (!isCode(code)) return [];
  const own = owner ? sql`AND o.partner_id = ${owner.partnerId} AND o.environment = ${owner.environment}` : nothing;
  const rows = await db.query<Row>(sql`
    SELECT d.kind, d.environment, d.partner_id AS "partnerId", d.year, d.number, d.booked_at AS "issuedAt",
      r.year AS "receiptYear", r.number AS receipt, d.buyer_name AS "buyerName", i.content AS issuer, b.content AS buyer,
      ${documentCents} AS "amountCents", p.currency, ${paidAt} AS "paidAt", p.payment_intent AS "paymentReference",
      p.simulated, ${payingMethod}, o.code AS "orderCode@order", o.external_reference AS reference, ${payerOnPage},
      o.document_name AS "documentName", o.doc_slug AS "docSlug",
      CASE WHEN u.id IS NULL THEN o.lines
        ELSE jsonb_build_array(jsonb_build_object('type', 'Supplement', 'label', u.label, 'amountCents', u.amount_cents)) END AS lines,
      CASE WHEN u.id IS NULL THEN o.discount_cents::float8 ELSE 0 END AS "discountCents",
      coalesce(u.amount_cents, o.total_cents)::float8 AS "totalCents", u.id IS NOT NULL AS "isSupplement",
      coalesce(u.replaces_loss, false) AS "replacesLoss", ${outsideWay(sql`d`)} AS outside,
      ${verifiedAmount}, ${verifiedOrder}, ${verifiedAll(supplementState, sql`u`, sql`${fromSupplements} WHERE u.payment_id = p.id`)},
      ${verifiedAll(billingPartyState, sql`q`, sql`FROM billing_parties q WHERE q.id IN (d.issuer_id, d.buyer_id)`)}
    FROM ${billingDocuments(sql`d`)} ${joinPayment(sql`d.payment_id`)} ${joinOrder(sql`p.order_id`)}
      JOIN ${billingDocuments(sql`r`)} ON r.payment_id = d.payment_id AND r.kind = 'receipt'
      ${leftJoinSupplement(sql`p.id`)}
      LEFT JOIN billing_parties i ON i.id = d.issuer_id LEFT JOIN billing_parties b ON b.id = d.buyer_id
    WHERE ${hasOrderCode(code)} ${own} ORDER BY d.booked_at, d.id`);
  return rows.map(({ year, number, receiptYear, receipt, buyer, buyerName, currency, ...rest }) => ({
    ...rest,
    currency: currency.toLowerCase(),
    number: numberText({ ...rest, year, number }),
    receiptNumber: numberText({ ...rest, kind: "receipt", year: receiptYear, number: receipt }),
    buyer: buyer ?? { name: buyerName, address: [] },
  }));
}
