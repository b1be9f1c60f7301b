import type { Environment, Owner } from "../../kernel/identity/identity.ts";
import type { Clock } from "../../kernel/platform/clock.ts";
import type { Sql } from "../../kernel/platform/database/database.ts";
import { sql } from "../../kernel/platform/database/sql.ts";
import { type StateMac, verified, verifiedAll } from "../../kernel/platform/database/state-mac.ts";
import { ServiceError } from "../../kernel/platform/errors.ts";
import { stateRows } from "../../kernel/platform/protected-data.ts";
import { serviceFlags, verifiedOrder } from "../order/order.ts";
import { billingPartyState, payingMethod, processorEventState, supplementState } from "../payments/payments.ts";
import type { BoughtServices } from "../pricing/pricing.ts";
import { type BillingKind, creditedCents, documentCents, numberText, type Paid, verifiedAmount } from "./documents.ts";
import { type Buyer, buyerOf, currentIssuer, type Issuer } from "./parties.ts";

/** The columns of a closed month that its MAC covers. A trigger forbids changes to them. */
export const statementState: StateMac = {
  table: sql`billing_statements`,
  key: sql`id`,
  mac: sql`row_mac`,
  covered: (s) => sql`${s}.id, ${s}.partner_id, ${s}.environment, ${s}.month, extract(epoch FROM ${s}.starts_at),
    extract(epoch FROM ${s}.ends_at), ${s}.zone, ${s}.issuer_id, ${s}.buyer_id, ${s}.buyer_name, extract(epoch FROM ${s}.closed_at)`,
};

/** The columns of a closed month's sums that their MAC covers. A trigger forbids changes to them. */
export const balanceState: StateMac = {
  table: sql`billing_balances`,
  key: sql`statement_id`,
  mac: sql`row_mac`,
  covered: (b) => sql`${b}.statement_id, ${b}.sums`,
};

export const protectedTables = [stateRows(statementState), stateRows(balanceState)];

/** One line of a statement: a receipt, a credit note, a loss or a reversal. */
type StatementLine = Paid & {
  number: string;
  kind: BillingKind;
  at: Date;
  orderCode: string;
  /** The firm's own reference for the order, such as a file number. */
  reference: string | null;
  services: string;
  /** The amount, in the smallest unit of the currency. The statement's sums include only amounts in US dollars. */
  amountCents: number;
  currency: string;
  /**
   * Whether the payment was used to pay its order. A payment that arrived too late, or a second time, is held until it
   * is refunded.
   */
  applied: boolean;
  /** Whether the payment replaced one that a bank took back. The order did not cost more, so `applied` is false. */
  replacesLoss: boolean;
  /** The part of a credit note that credits a price for the first time. */
  creditedCents: number;
};

/**
 * In US cents. `closing` is `opening + corrections + payments - refunds - losses - (charges - credits)`. A positive `closing` is
 * money that the service holds and that paid for no order. The firm owes a negative one. A reversal reduces the refunds
 * or losses that its document increased. A price that was credited stays credited. `owed` is the part of `closing` that
 * the firm owes because banks took payments of orders back, less what was paid again. It is below zero when a bank
 * returned a payment after it had been paid again.
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
  /** The error in the closing balances of earlier closed months. An earlier release counted differently. */
  corrections: number;
};

/** The cents that the firm owes because banks took payments of orders back. */
export const owedCents = ({ owed }: Pick<Sums, "owed">): number => Math.max(0, owed);

/** The money that the service holds for the firm and that paid for no order. */
export const heldCents = (sums: Pick<Sums, "closing" | "owed">): number => sums.closing + owedCents(sums);

/** The sums as an earlier release may have stored them, without the members that it did not have. */
type Newer = "losses" | "owed" | "corrections";
type StoredSums = Omit<Sums, Newer> & Partial<Pick<Sums, Newer>>;

type Statement = {
  /** The month, such as `2026-11`. */
  month: string;
  startsAt: Date;
  /** The end of the month; null until then. */
  endsAt: Date | null;
  /** Whether the month will never change again. A month that has ended is closed within an hour. */
  isClosed: boolean;
  zone: string;
  issuer: Issuer;
  buyer: Buyer;
  sums: Sums;
};

type Line = Omit<StatementLine, "number" | "services"> &
  BoughtServices & { environment: Environment; year: number; number: number };

type Span = { startsAt: Date | null; endsAt: Date | null };

/**
 * The lines of a firm in a span of time, in the order in which they were booked.
 * @param span the bounds in time; null for no bound
 */
export async function linesOf(db: Sql, { partnerId, environment }: Owner, span: Span): Promise<StatementLine[]> {
  const from = span.startsAt ?? "-infinity";
  const until = span.endsAt ?? "infinity";
  const events = sql`FROM processor_events e WHERE e.order_id = p.order_id AND e.received_at = p.received_at`;
  const supplements = sql`FROM supplements u WHERE u.payment_id = p.id`;
  const replaces = sql`EXISTS (SELECT ${supplements} AND u.replaces_loss)`;
  const rows = await db.query<Line>(sql`
    SELECT d.environment, d.kind, d.year, d.number, d.booked_at AS at, o.code AS "orderCode@order", o.external_reference AS reference,
      o.sign, o.notarize, o.ship, o.fax, ${documentCents} AS "amountCents", ${creditedCents} AS "creditedCents", lower(p.currency) AS currency,
      NOT EXISTS (SELECT ${events} AND e.outcome = 'unapplied') AND NOT ${replaces} AS applied, ${replaces} AS "replacesLoss",
      o.pay_by AS "payBy", p.simulated, ${payingMethod},
      ${verifiedAmount}, ${verifiedOrder}, ${verifiedAll(processorEventState, sql`e`, events)},
      ${verifiedAll(supplementState, sql`u`, supplements)}
    FROM billing_documents d JOIN payments p ON p.id = d.payment_id JOIN orders o ON o.id = p.order_id
    WHERE d.partner_id = ${partnerId} AND d.environment = ${environment}
      AND d.booked_at >= ${from}::timestamptz AND d.booked_at < ${until}::timestamptz ORDER BY d.booked_at, d.id`);
  return rows.map(({ environment: env, year, number, sign, notarize, ship, fax, ...line }) => ({
    ...line,
    number: numberText({ kind: line.kind, environment: env, year, number }),
    services: serviceFlags({ sign, notarize, ship, fax }),
  }));
}

/** How a line changes the balance of the firm, in US cents. A payment that pays for its order changes nothing. */
export function balanceCents({ kind, currency, amountCents, creditedCents, applied }: StatementLine): number {
  if (currency !== "usd") return 0;
  if (kind === "receipt") return applied ? 0 : amountCents;
  if (kind === "credit_note") return (applied ? creditedCents : 0) - amountCents;
  return kind === "loss" ? -amountCents : amountCents;
}

/**
 * The sums of a month.
 * @param before the sums of the previous month
 * @param corrections what the previous months have wrong in their closing balance
 */
export function sumsOf(before: Sums | undefined, lines: readonly StatementLine[], corrections = 0): Sums {
  const sum = (kind: BillingKind, which: (line: StatementLine) => boolean = () => true) =>
    lines.reduce(
      (total, line) => total + (line.kind === kind && line.currency === "usd" && which(line) ? line.amountCents : 0),
      0,
    );
  const isApplied = ({ applied }: StatementLine) => applied;
  const isOwed = ({ applied, replacesLoss }: StatementLine) => applied || replacesLoss;
  const isAgain = ({ replacesLoss }: StatementLine) => replacesLoss;
  const paidAgain = sum("receipt", isAgain) - sum("credit_note", isAgain) + sum("credit_reversal", isAgain);
  const opening = before?.closing ?? 0;
  return {
    opening,
    charges: sum("receipt", isApplied),
    credits: lines.reduce((all, line) => all + (line.applied && line.currency === "usd" ? line.creditedCents : 0), 0),
    payments: sum("receipt"),
    refunds: sum("credit_note") - sum("credit_reversal"),
    losses: sum("loss") - sum("loss_reversal"),
    closing: lines.reduce((balance, line) => balance + balanceCents(line), opening + corrections),
    owed: (before?.owed ?? 0) + sum("loss", isOwed) - sum("loss_reversal", isOwed) - paidAgain,
    corrections,
  };
}

/** Adds the members that the release that stored the sums did not have. */
export const completed = (stored: StoredSums, before: Sums | undefined): Sums => ({
  ...stored,
  losses: stored.losses ?? 0,
  owed: stored.owed ?? (before?.owed ?? 0) + (stored.losses ?? 0),
  corrections: stored.corrections ?? 0,
});

type ClosedRow = Omit<Statement, "sums" | "buyer" | "issuer" | "endsAt" | "isClosed"> & {
  id: number;
  endsAt: Date;
  issuer: Issuer;
  buyer: Buyer | null;
  buyerName: string;
  /** Null until a job computes the sums, soon after the month has closed. */
  stored: StoredSums | null;
};

/** A statement and all lines that its sums add up. */
export type StatementWithLines = { statement: Statement; lines: readonly StatementLine[] };

export async function closedMonths(db: Sql, { partnerId, environment }: Owner): Promise<ClosedRow[]> {
  return db.query<ClosedRow>(sql`
    SELECT s.id, s.month, s.starts_at AS "startsAt", s.ends_at AS "endsAt", s.zone, i.content AS issuer, b.content AS buyer,
      s.buyer_name AS "buyerName", t.sums AS stored, ${verified(statementState, sql`s`)},
      ${verifiedAll(balanceState, sql`q`, sql`FROM billing_balances q WHERE q.statement_id = s.id`)},
      ${verifiedAll(billingPartyState, sql`q`, sql`FROM billing_parties q WHERE q.id IN (s.issuer_id, s.buyer_id)`)}
    FROM billing_statements s JOIN billing_parties i ON i.id = s.issuer_id LEFT JOIN billing_parties b ON b.id = s.buyer_id
      LEFT JOIN billing_balances t ON t.statement_id = s.id
    WHERE s.partner_id = ${partnerId} AND s.environment = ${environment} ORDER BY s.starts_at`);
}

type Month = { month: string; startsAt: Date; endsAt: Date };

/**
 * The months from a time until now. The 15 days are added before truncating to the month, because after a change of the
 * time zone a month may start on the last day of the month before.
 */
const monthsFrom = (db: Sql, from: Date, now: Date, zone: string) =>
  db.query<Month>(sql`
    WITH span AS (
      SELECT date_trunc('month', (${from}::timestamptz + interval '15 days') AT TIME ZONE ${zone}::text) AS first,
        date_trunc('month', ${now}::timestamptz AT TIME ZONE ${zone}::text) AS last
    )
    SELECT to_char(at, 'YYYY-MM') AS month,
      CASE WHEN at = first THEN ${from}::timestamptz ELSE at AT TIME ZONE ${zone}::text END AS "startsAt",
      (at + interval '1 month') AT TIME ZONE ${zone}::text AS "endsAt"
    FROM span, generate_series(first, greatest(first, last), interval '1 month') at ORDER BY at`);

/**
 * The firm's statements, oldest first: the closed months, then those that have ended and are soon closed, then the
 * present month. For a closed month with stored sums, no documents are read.
 */
export async function statementsOf(
  { db, clock }: { db: Sql; clock: Clock },
  owner: Owner & { firmName: string },
): Promise<Statement[]> {
  const { partnerId, firmName } = owner;
  const all: Statement[] = [];
  for (const { id: _, buyerName, buyer, stored, ...row } of await closedMonths(db, owner)) {
    const before = all.at(-1)?.sums;
    const sums = stored ? completed(stored, before) : sumsOf(before, await linesOf(db, owner, row));
    all.push({ ...row, isClosed: true, buyer: buyer ?? { name: buyerName, address: [] }, sums });
  }
  const now = clock();
  const end = all.at(-1)?.endsAt ?? null;
  const lines = await linesOf(db, owner, { startsAt: end, endsAt: null });
  const issuer = await currentIssuer(db);
  const { zone } = issuer;
  const buyer = (await buyerOf(db, partnerId)) ?? { name: firmName, address: [] };
  const from = end ?? (await startOfMonth(db, lines[0]?.at ?? now, zone));
  const open = await monthsFrom(db, from, now, zone);
  for (const [index, { month, startsAt, endsAt }] of open.entries()) {
    const isLast = index === open.length - 1;
    const own = lines.filter(({ at }) => at >= startsAt && (isLast || at < endsAt));
    const sums = sumsOf(all.at(-1)?.sums, own);
    all.push({ month, startsAt, endsAt: isLast ? null : endsAt, isClosed: false, zone, issuer, buyer, sums });
  }
  return all;
}

async function startOfMonth(db: Sql, at: Date, zone: string): Promise<Date> {
  const [row] = await db.query<{ start: Date }>(sql`
    SELECT date_trunc('month', ${at}::timestamptz AT TIME ZONE ${zone}::text) AT TIME ZONE ${zone}::text AS start`);
  return row?.start ?? at;
}

/** @throws ServiceError for a month without a statement */
export async function statementOf(
  deps: { db: Sql; clock: Clock },
  owner: Owner & { firmName: string },
  month: string,
): Promise<StatementWithLines> {
  const statement = (await statementsOf(deps, owner)).findLast((each) => each.month === month);
  if (!statement) throw new ServiceError("not_found", "Statement not found.");
  return { statement, lines: await linesOf(deps.db, owner, statement) };
}
