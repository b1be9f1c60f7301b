import type { Environment, Owner } from "../../kernel/identity/identity.ts";
import type { Clock } from "../../kernel/platform/clock.ts";
import type { Database, Sql, Tx } from "../../kernel/platform/database/database.ts";
import { sql } from "../../kernel/platform/database/sql.ts";
import { type StateMac, verified, verifiedAll, writeStateMacs } from "../../kernel/platform/database/state-mac.ts";
import { ServiceError } from "../../kernel/platform/errors.ts";
import { stateRows } from "../../kernel/platform/protected-data.ts";
import { serviceFlags, verifiedOrder } from "../order/order.ts";
import { billingPartyState, lockBilling, processorEventState } from "../payments/payments.ts";
import type { BoughtServices } from "../pricing/pricing.ts";
import { type BillingKind, documentCents, numberText, verifiedAmount } from "./documents.ts";
import { type Buyer, buyerOf, currentIssuer, type Issuer } from "./parties.ts";

/** The columns of closed months that the MAC covers. A trigger forbids changes to them. */
const statementState: StateMac = {
  table: sql`billing_statements`,
  key: sql`id`,
  mac: sql`row_mac`,
  covered: (s) => sql`${s}.id, ${s}.partner_id, ${s}.environment, ${s}.month, extract(epoch FROM ${s}.starts_at),
    extract(epoch FROM ${s}.ends_at), ${s}.zone, ${s}.issuer_id, ${s}.buyer_id, ${s}.buyer_name, extract(epoch FROM ${s}.closed_at)`,
};

export const protectedTables = [stateRows(statementState)];

/** A receipt or credit note in a statement. */
type StatementLine = {
  number: string;
  kind: BillingKind;
  at: Date;
  orderCode: string;
  /** The firm's file number or other reference of the order. */
  reference: string | null;
  services: string;
  /** In the smallest unit of the currency. The sums include only US dollars. */
  amountCents: number;
  currency: string;
  /**
   * Whether the payment paid for its order. Money that arrived too late, or a second time, is held until it is
   * refunded.
   */
  applied: boolean;
};

/**
 * In US cents. `closing` is `opening + payments - refunds - (charges - credits)`: money that is held and paid for no
 * order.
 */
type Sums = {
  opening: number;
  charges: number;
  credits: number;
  payments: number;
  refunds: number;
  closing: number;
};

type Statement = {
  /** The month, such as `2026-11`. */
  month: string;
  startsAt: Date;
  /** Null while the month is open. */
  endsAt: Date | null;
  zone: string;
  issuer: Issuer;
  buyer: Buyer;
  sums: Sums;
};

type Line = Omit<StatementLine, "number" | "services"> &
  BoughtServices & { environment: Environment; year: number; number: number };

/** All lines of a firm up to an instant, in the order in which they were booked. */
async function linesUntil(db: Sql, { partnerId, environment }: Owner, until: Date | null): Promise<StatementLine[]> {
  const events = sql`FROM processor_events e WHERE e.order_id = p.order_id AND e.received_at = p.received_at`;
  const rows = await db.query<Line>(sql`
    SELECT d.environment, d.kind, d.year, d.number, d.booked_at AS at, o.code AS "orderCode@order", o.external_reference AS reference,
      o.sign, o.notarize, o.ship, o.fax, ${documentCents} AS "amountCents", lower(p.currency) AS currency,
      NOT EXISTS (SELECT ${events} AND e.outcome = 'unapplied') AS applied,
      ${verifiedAmount}, ${verifiedOrder}, ${verifiedAll(processorEventState, sql`e`, events)}
    FROM billing_documents d JOIN payments p ON p.id = d.payment_id JOIN orders o ON o.id = p.order_id
    WHERE d.partner_id = ${partnerId} AND d.environment = ${environment}
      AND (${until}::timestamptz IS NULL OR d.booked_at < ${until}) ORDER BY d.booked_at, d.id`);
  return rows.map(({ environment: env, year, number, sign, notarize, ship, fax, ...line }) => ({
    ...line,
    number: numberText({ kind: line.kind, environment: env, year, number }),
    services: serviceFlags({ sign, notarize, ship, fax }),
  }));
}

/** The sums of a month. @param opening the balance at its start */
function sumsOf(opening: number, lines: readonly StatementLine[]): Sums {
  const sum = (kind: BillingKind, which: (line: StatementLine) => boolean) =>
    lines.reduce(
      (total, line) => total + (line.kind === kind && line.currency === "usd" && which(line) ? line.amountCents : 0),
      0,
    );
  const [charges, credits] = [sum("receipt", ({ applied }) => applied), sum("credit_note", ({ applied }) => applied)];
  const [payments, refunds] = [sum("receipt", () => true), sum("credit_note", () => true)];
  return { opening, charges, credits, payments, refunds, closing: opening + payments - refunds - (charges - credits) };
}

type ClosedRow = Omit<Statement, "sums" | "buyer" | "issuer" | "endsAt"> & {
  endsAt: Date;
  issuer: Issuer;
  buyer: Buyer | null;
  buyerName: string;
};

/** A statement with the lines that its sums include. */
export type StatementWithLines = { statement: Statement; lines: readonly StatementLine[] };

/** The firm's statements, oldest first: the closed months, then the open month. */
export async function statementsOf(
  { db, clock }: { db: Sql; clock: Clock },
  owner: Owner & { firmName: string },
): Promise<StatementWithLines[]> {
  const { partnerId, environment, firmName } = owner;
  const closed = await db.query<ClosedRow>(sql`
    SELECT s.month, s.starts_at AS "startsAt", s.ends_at AS "endsAt", s.zone, i.content AS issuer, b.content AS buyer,
      s.buyer_name AS "buyerName", ${verified(statementState, sql`s`)},
      ${verifiedAll(billingPartyState, sql`q`, sql`FROM billing_parties q WHERE q.id IN (s.issuer_id, s.buyer_id)`)}
    FROM billing_statements s JOIN billing_parties i ON i.id = s.issuer_id LEFT JOIN billing_parties b ON b.id = s.buyer_id
    WHERE s.partner_id = ${partnerId} AND s.environment = ${environment} ORDER BY s.starts_at`);
  const lines = await linesUntil(db, owner, null);
  const issuer = await currentIssuer(db);
  const buyer = (await buyerOf(db, partnerId)) ?? { name: firmName, address: [] };
  const [{ month, startsAt } = { month: "", startsAt: clock() }] = await db.query<{
    month: string;
    startsAt: Date;
  }>(sql`
    SELECT to_char(${clock()}::timestamptz AT TIME ZONE ${issuer.zone}::text, 'YYYY-MM') AS month,
      date_trunc('month', ${lines[0]?.at ?? clock()}::timestamptz AT TIME ZONE ${issuer.zone}::text) AT TIME ZONE ${issuer.zone}::text AS "startsAt"`);
  const last = closed.at(-1);
  const open = { month, startsAt: last?.endsAt ?? startsAt, endsAt: null, zone: issuer.zone, issuer, buyer };
  const all = [
    ...closed.map(({ buyerName, ...row }) => ({ ...row, buyer: row.buyer ?? { name: buyerName, address: [] } })),
    open,
  ];
  let opening = 0;
  return all.map((row) => {
    const own = lines.filter(({ at }) => at >= row.startsAt && (row.endsAt === null || at < row.endsAt));
    const sums = sumsOf(opening, own);
    opening = sums.closing;
    return { statement: { ...row, sums }, lines: own };
  });
}

/** @throws ServiceError for a month without a statement */
export async function statementOf(
  deps: { db: Sql; clock: Clock },
  owner: Owner & { firmName: string },
  month: string,
): Promise<StatementWithLines> {
  const found = (await statementsOf(deps, owner)).findLast(({ statement }) => statement.month === month);
  if (!found) throw new ServiceError("not_found", "Statement not found.");
  return found;
}

/** Closes every month that has ended, for every firm with receipts. Safe to repeat and to run on several nodes. */
export async function closeMonths({ db, clock }: { db: Database; clock: Clock }, stopping: AbortSignal): Promise<void> {
  // A month has at least 28 days, and daylight saving time may shorten it by an hour. So 27 days never miss a month
  // that has ended.
  const firms = await db.query<Owner>(sql`
    SELECT d.partner_id AS "partnerId", d.environment FROM billing_documents d GROUP BY d.partner_id, d.environment
    HAVING coalesce((SELECT max(s.ends_at) FROM billing_statements s
      WHERE s.partner_id = d.partner_id AND s.environment = d.environment), '-infinity') <= ${clock()}::timestamptz - interval '27 days'`);
  for (const owner of firms) {
    let isBehind = true;
    while (isBehind && !stopping.aborted) isBehind = await db.transaction((tx) => closeNext(tx, owner, clock()));
  }
}

/** Closes the firm's next month. @returns false when that month has not ended */
async function closeNext(tx: Tx, owner: Owner, now: Date): Promise<boolean> {
  const { partnerId, environment } = owner;
  await lockBilling(tx, owner);
  const { zone } = await currentIssuer(tx);
  const own = sql`partner_id = ${partnerId} AND environment = ${environment}`;
  // Adds 15 days before truncating to the month: after a change of the time zone, the start may be on the last day of
  // the previous month.
  const [closed] = await tx.query<{ id: number }>(sql`
    WITH start AS (
      SELECT coalesce((SELECT max(ends_at) FROM billing_statements WHERE ${own}),
        date_trunc('month', (SELECT min(booked_at) FROM billing_documents WHERE ${own}) AT TIME ZONE ${zone}::text) AT TIME ZONE ${zone}::text) AS at
    ), month AS (
      SELECT at, date_trunc('month', (at + interval '15 days') AT TIME ZONE ${zone}::text) AS first FROM start
    )
    INSERT INTO billing_statements (partner_id, environment, month, starts_at, ends_at, zone, issuer_id, buyer_id, buyer_name, closed_at)
    SELECT ${partnerId}::uuid, ${environment}, to_char(first, 'YYYY-MM'), at, (first + interval '1 month') AT TIME ZONE ${zone}::text, ${zone},
      (SELECT max(id) FROM billing_parties WHERE partner_id IS NULL), (SELECT max(id) FROM billing_parties WHERE partner_id = ${partnerId}),
      (SELECT name FROM partners WHERE id = ${partnerId}), ${now}::timestamptz
    FROM month WHERE (first + interval '1 month') AT TIME ZONE ${zone}::text <= ${now}::timestamptz RETURNING id`);
  if (!closed) return false;
  await writeStateMacs(tx, statementState, sql`id = ${closed.id}`);
  return true;
}
