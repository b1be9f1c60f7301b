import type { Owner } from "../../kernel/identity/identity.ts";
import type { Clock } from "../../kernel/platform/clock.ts";
import type { Sql } from "../../kernel/platform/database/database.ts";
import { type Statement as SqlText, sql } from "../../kernel/platform/database/sql.ts";
import { type StateMac, verified, verifiedAll } from "../../kernel/platform/database/state-mac.ts";
import { ServiceError } from "../../kernel/platform/errors.ts";
import { stateRows } from "../../kernel/platform/protected-data.ts";
import { bookNow } from "../../kernel/test-clock/test-clock.ts";
import { joinOrder, type TitleOf } from "../order/order.ts";
import { billingDocuments, billingPartyState, joinPayment, lossPayments, zoneOf } from "../payments/payments.ts";
import { balanceCents, linesOf, lossLines, owedUntil, type StatementLine, type Sums, sumsOf } from "./lines.ts";
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

type Newer = "losses" | "owed" | "corrections";
/** The sums as an earlier release may have stored them, without the members that it did not have. */
type StoredSums = Omit<Sums, Newer> & Partial<Pick<Sums, Newer>>;

type Statement = {
  /** The month, such as `2026-11`. */
  month: string;
  startsAt: Date;
  /** The end of the month; null until the month has ended. */
  endsAt: Date | null;
  /** True if the month will never change again. A month that has ended is closed within an hour. */
  isClosed: boolean;
  zone: string;
  issuer: Issuer;
  buyer: Buyer;
  sums: Sums;
};

/** Adds the members that sums stored by an earlier release lack. */
const completed = (stored: StoredSums, before: Sums | undefined): Sums => ({
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
  /** Null until a job computes the sums, soon after the month has closed. An altered row prevents that. */
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

/**
 * The closed months with their sums, and the cents by which the last closing balance is wrong. Stored sums are trusted
 * up to the last month that stores `corrections`. Sums stored for later months are from an earlier release, and their
 * balances may be wrong. So the documents of these months are read, and those of months without stored sums.
 */
export async function sumsOfClosed(
  db: Sql,
  owner: Owner,
  lost: readonly StatementLine[],
): Promise<{ months: readonly (ClosedRow & { sums: Sums })[]; corrections: number }> {
  const rows = await closedMonths(db, owner);
  const lastRight = rows.findLastIndex(({ stored }) => stored?.corrections !== undefined);
  const months: (ClosedRow & { sums: Sums })[] = [];
  let real = 0;
  for (const [index, row] of rows.entries()) {
    const before = months.at(-1)?.sums;
    if (row.stored && index <= lastRight) {
      months.push({ ...row, sums: completed(row.stored, before) });
      real = row.stored.closing;
      continue;
    }
    const lines = await linesOf(db, owner, row);
    const of = { owed: owedUntil(lost, row.endsAt), corrections: real - (before?.closing ?? 0) };
    months.push({ ...row, sums: row.stored ? completed(row.stored, before) : sumsOf(before, lines, of) });
    real = lines.reduce((balance, line) => balance + balanceCents(line), real);
  }
  return { months, corrections: real - (months.at(-1)?.sums.closing ?? 0) };
}

type Month = { month: string; startsAt: Date; endsAt: Date };

/**
 * The months from `from` until now. After a change of the time zone, a month may start on the last day of the previous
 * month. So 15 days are added before truncating to the month.
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
 * The firm's statements, oldest first: closed months, ended months that a job will soon close, and the current month.
 */
export async function statementsOf(
  { db, clock }: { db: Sql; clock: Clock },
  owner: Owner & { firmName: string },
): Promise<Statement[]> {
  const { partnerId, firmName } = owner;
  const all: Statement[] = [];
  const lost = await lossLines(db, owner);
  const { months, corrections } = await sumsOfClosed(db, owner, lost);
  for (const { id: _, buyerName, buyer, stored: __, ...row } of months)
    all.push({ ...row, isClosed: true, buyer: buyer ?? { name: buyerName, address: [] } });
  const now = await bookNow(db, owner, clock());
  const end = all.at(-1)?.endsAt ?? null;
  const lines = await linesOf(db, owner, { startsAt: end, endsAt: null });
  const issuer = await currentIssuer(db);
  const zone = await zoneOf(db, partnerId);
  const buyer = (await buyerOf(db, partnerId)) ?? { name: firmName, address: [] };
  const from = end ?? (await startOfMonth(db, lines[0]?.at ?? now, zone));
  const open = await monthsFrom(db, from, now, zone);
  for (const [index, { month, startsAt, endsAt }] of open.entries()) {
    const isLast = index === open.length - 1;
    const own = lines.filter(({ at }) => at >= startsAt && (isLast || at < endsAt));
    const owed = owedUntil(lost, isLast ? null : endsAt);
    const sums = sumsOf(all.at(-1)?.sums, own, { owed, corrections: index === 0 ? corrections : 0 });
    all.push({ month, startsAt, endsAt: isLast ? null : endsAt, isClosed: false, zone, issuer, buyer, sums });
  }
  return all;
}

/** For a search: each statement with the number of its lines whose file number contains the text. */
export async function withMatches<Month extends Pick<Statement, "startsAt" | "endsAt">>(
  { db }: { db: Sql },
  { partnerId, environment }: Owner,
  statements: readonly Month[],
  file: string,
): Promise<(Month & { matches: number })[]> {
  const select = (rows: SqlText) => sql`
    SELECT d.booked_at AS at FROM ${rows} ${joinPayment(sql`d.payment_id`)} ${joinOrder(sql`p.order_id`)}
    WHERE d.partner_id = ${partnerId} AND d.environment = ${environment}
      AND position(lower(${file}::text) IN lower(o.external_reference)) > 0`;
  const booked = await db.query<{ at: Date }>(
    sql`${select(billingDocuments(sql`d`))} UNION ALL ${select(lossPayments(sql`d`))}`,
  );
  return statements.map((each) => ({
    ...each,
    matches: booked.filter(({ at }) => at >= each.startsAt && (each.endsAt === null || at < each.endsAt)).length,
  }));
}

async function startOfMonth(db: Sql, at: Date, zone: string): Promise<Date> {
  const [row] = await db.query<{ start: Date }>(sql`
    SELECT date_trunc('month', ${at}::timestamptz AT TIME ZONE ${zone}::text) AT TIME ZONE ${zone}::text AS start`);
  return row?.start ?? at;
}

/**
 * The firm's statement of one month, with its lines. The month may be closed or still open.
 * @throws ServiceError for a month without a statement
 */
export async function statementOf(
  deps: { db: Sql; clock: Clock; titleOf?: TitleOf },
  owner: Owner & { firmName: string },
  month: string,
): Promise<StatementWithLines> {
  const statement = (await statementsOf(deps, owner)).findLast((each) => each.month === month);
  if (!statement) throw new ServiceError("not_found", "Statement not found.");
  const { startsAt, endsAt } = statement;
  const span = { startsAt, endsAt, ...(deps.titleOf && { titleOf: deps.titleOf }) };
  return { statement, lines: await linesOf(deps.db, owner, span) };
}
