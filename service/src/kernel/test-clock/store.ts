import type { Owner } from "../identity/identity.ts";
import { dayMs } from "../platform/clock.ts";
import type { Sql, Tx } from "../platform/database/database.ts";
import { nothing, type Statement, sql } from "../platform/database/sql.ts";

/** The state of a partner's clock in the database. */
export type ClockState = {
  /** The difference between the test clock and real time, in seconds. */
  seconds: number;
  /** Whether an advance is still being processed: work that it made due may be unfinished. */
  advancing: boolean;
  /** The number of advances in the last 24 hours. */
  lately: number;
};

const latest = sql`ORDER BY advanced_at DESC, id DESC LIMIT 1`;

/**
 * The sum of the clock's advances, in seconds, up to the last advance that `which` selects. A reset doesn't reduce the
 * sum. Costs one index look-up.
 */
const totalOf = (partnerId: string | Statement, which: Statement = nothing): Statement => sql`coalesce((
  SELECT total_seconds FROM test_clock_advances WHERE partner_id = ${partnerId} ${which} ${latest}), 0)`;

/**
 * SQL expression: the date of `at` in the firm's books. Books of test orders follow the test clock, so that a developer
 * can end a month. Live books use real time.
 * @param owner SQL columns or values
 */
export const bookTime = (at: Statement, { partnerId, environment }: Record<keyof Owner, Statement>): Statement =>
  sql`(${at} + CASE WHEN ${environment} = 'test' THEN make_interval(secs =>
    (${totalOf(partnerId)} - ${totalOf(partnerId, sql`AND reset_at IS NOT NULL`)})::float8) ELSE interval '0' END)`;

// The most that a time is moved back. The sum of a clock's advances includes those before a reset. Without this limit,
// a time could become too early for PostgreSQL.
const mostLeaptSeconds = 5 * 365 * 24 * 3600;
// A hundred years in seconds: no law requires longer retention.
const mostMovedSeconds = 100 * 365 * 24 * 3600;

const advancedSince = (since: Statement, partnerId: Statement): Statement =>
  sql`${totalOf(partnerId)} - ${totalOf(partnerId, sql`AND advanced_at < ${since}`)}`;

/** An SQL interval: the total by which the firm's test clock was advanced since a time. */
export const movedSince = (since: Statement, partnerId: Statement): Statement =>
  sql`make_interval(secs => least(${advancedSince(since, partnerId)}, ${mostMovedSeconds})::float8)`;

/** A time, moved back by the advances of the firm's test clock since then. */
export const leapt = (since: Statement, partnerId: Statement): Statement =>
  sql`${since} - make_interval(secs => least(${advancedSince(since, partnerId)}, ${mostLeaptSeconds})::float8)`;

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

/** Locks a partner's clock, so that only one change at a time runs. The firm's orders can still be written. */
export const lockClock = (tx: Tx, partnerId: string) =>
  tx.query(sql`SELECT FROM partners WHERE id = ${partnerId} FOR NO KEY UPDATE`);

/** The caller must have locked the clock. Advances have ascending times even if the machine's clock is set back. */
export const insertAdvance = (tx: Tx, partnerId: string, seconds: number, at: Date) =>
  tx.query(sql`
    INSERT INTO test_clock_advances (partner_id, seconds, advanced_at, total_seconds)
    SELECT ${partnerId}, ${seconds}, greatest(${at}::timestamptz, (
        SELECT advanced_at FROM test_clock_advances WHERE partner_id = ${partnerId} ${latest})),
      ${totalOf(partnerId)} + ${seconds}::bigint`);

/**
 * Marks the clock's advances as reset.
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
