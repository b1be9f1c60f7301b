import type { Owner } from "../identity/identity.ts";
import { dayMs } from "../platform/clock.ts";
import type { Sql, Tx } from "../platform/database/database.ts";
import { nothing, type Statement, sql } from "../platform/database/sql.ts";

/** The state of a partner's clock in the database. */
export type ClockState = {
  /** How far the test clock is ahead of real time, in seconds. */
  seconds: number;
  /** True if an advance is still being processed, so that due work may be unfinished. */
  advancing: boolean;
  /** The number of advances in the last 24 hours. */
  lately: number;
};

const latest = sql`ORDER BY advanced_at DESC, id DESC LIMIT 1`;

/**
 * SQL expression: the sum of the clock's advances, in seconds, up to the last advance that `which` selects. Advances
 * before a reset count too. The expression costs one index look-up.
 */
const totalOf = (partnerId: string | Statement, which: Statement = nothing): Statement => sql`coalesce((
  SELECT total_seconds FROM test_clock_advances WHERE partner_id = ${partnerId} ${which} ${latest}), 0)`;

/**
 * SQL expression: the time `at` as the firm's books see it. For test orders, the books follow the test clock, so that a
 * developer can end a month. For live orders they use real time.
 * @param partnerId a column or a value, as is `environment`
 */
export const bookTime = (at: Statement, { partnerId, environment }: Record<keyof Owner, Statement>): Statement =>
  sql`(${at} + CASE WHEN ${environment} = 'test' THEN make_interval(secs =>
    (${totalOf(partnerId)} - ${totalOf(partnerId, sql`AND reset_at IS NOT NULL`)})::float8) ELSE interval '0' END)`;

// The most seconds by which `leapt` moves a time back. The sum of a clock's advances includes those before a reset.
// Without this limit, the sum could move a time back to a date that PostgreSQL can't represent.
const maxLeaptSeconds = 5 * 365 * 24 * 3600;
// The most seconds that `movedSince` returns: a hundred years, because no law requires longer retention.
const maxMovedSeconds = 100 * 365 * 24 * 3600;

const advancedSince = (since: Statement, partnerId: Statement): Statement =>
  sql`${totalOf(partnerId)} - ${totalOf(partnerId, sql`AND advanced_at < ${since}`)}`;

/** SQL interval: the sum of the advances of the firm's test clock since a time. */
export const movedSince = (since: Statement, partnerId: Statement): Statement =>
  sql`make_interval(secs => least(${advancedSince(since, partnerId)}, ${maxMovedSeconds})::float8)`;

/** SQL expression: a time, made earlier by the sum of the advances of the firm's test clock since that time. */
export const leapt = (since: Statement, partnerId: Statement): Statement =>
  sql`${since} - make_interval(secs => least(${advancedSince(since, partnerId)}, ${maxLeaptSeconds})::float8)`;

/** The present time in the firm's books. */
export async function bookNow(db: Sql, { partnerId, environment }: Owner, now: Date): Promise<Date> {
  if (environment !== "test") return now;
  return new Date(now.getTime() + (await readClock(db, partnerId, now)).seconds * 1000);
}

export async function readClock(db: Sql, partnerId: string, now: Date): Promise<ClockState> {
  const [state] = await db.query<ClockState>(sql`
    SELECT (${totalOf(partnerId)} - ${totalOf(partnerId, sql`AND reset_at IS NOT NULL`)})::float8 AS seconds,
      EXISTS (SELECT FROM test_clock_advances WHERE partner_id = ${partnerId} AND settled_at IS NULL) AS advancing,
      (SELECT count(*)::int FROM test_clock_advances
        WHERE partner_id = ${partnerId} AND advanced_at > ${new Date(now.getTime() - dayMs)}) AS lately`);
  return state ?? { seconds: 0, advancing: false, lately: 0 };
}

/**
 * Locks a partner's clock, so that only one transaction at a time changes it. Other writes for the firm, such as
 * orders, don't wait.
 */
export const lockClock = (tx: Tx, partnerId: string) =>
  tx.query(sql`SELECT FROM partners WHERE id = ${partnerId} FOR NO KEY UPDATE`);

/**
 * Inserts an advance of a clock, which the caller must have locked. Its time is never before that of the last advance,
 * even if the machine's clock is set back.
 */
export const insertAdvance = (tx: Tx, partnerId: string, seconds: number, at: Date) =>
  tx.query(sql`
    INSERT INTO test_clock_advances (partner_id, seconds, advanced_at, total_seconds)
    SELECT ${partnerId}, ${seconds}, greatest(${at}::timestamptz, (
        SELECT advanced_at FROM test_clock_advances WHERE partner_id = ${partnerId} ${latest})),
      ${totalOf(partnerId)} + ${seconds}::bigint`);

/**
 * Stores the time of a reset in the row of the clock's last advance.
 * @returns false when the clock already shows real time
 */
export async function resetAdvances(tx: Tx, partnerId: string, at: Date): Promise<boolean> {
  const reset = await tx.query(sql`
    UPDATE test_clock_advances SET reset_at = ${at}
    WHERE id = (SELECT id FROM test_clock_advances WHERE partner_id = ${partnerId} ${latest}) AND reset_at IS NULL
    RETURNING 1`);
  return reset.length === 1;
}

/** The last advance whose due work may be unfinished; null when there is none. */
export async function lastUnsettled(db: Sql, partnerId: string): Promise<number | null> {
  const [row] = await db.query<{ id: number | null }>(sql`
    SELECT max(id) AS id FROM test_clock_advances WHERE partner_id = ${partnerId} AND settled_at IS NULL`);
  return row?.id ?? null;
}

export const settle = (db: Sql, partnerId: string, last: number, at: Date) =>
  db.query(sql`
    UPDATE test_clock_advances SET settled_at = ${at}
    WHERE partner_id = ${partnerId} AND id <= ${last} AND settled_at IS NULL`);
