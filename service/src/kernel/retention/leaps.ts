import { nothing, type Statement, sql } from "../platform/database/sql.ts";

// The most that a time is moved back. The total of a clock's advances also counts those before a reset, so without this
// limit it could lead to a time that is too early for PostgreSQL.
const mostLeaptSeconds = 5 * 365 * 24 * 3600;
// A hundred years in seconds, which is longer than any law requires data to be kept.
const mostMovedSeconds = 100 * 365 * 24 * 3600;

/**
 * The total by which the firm's test clock was advanced, in seconds, up to the last advance that `which` selects. A
 * reset doesn't reduce the total. Takes one index look-up.
 */
const movedSeconds = (partnerId: Statement, which: Statement = nothing): Statement => sql`coalesce((
  SELECT total_seconds FROM test_clock_advances WHERE partner_id = ${partnerId} ${which}
  ORDER BY advanced_at DESC, id DESC LIMIT 1), 0)`;

/** An SQL interval: the total by which the firm's test clock was advanced since a time. */
export const movedSince = (since: Statement, partnerId: Statement): Statement => sql`make_interval(secs => least(
  ${movedSeconds(partnerId)} - ${movedSeconds(partnerId, sql`AND advanced_at < ${since}`)}, ${mostMovedSeconds})::float8)`;

/** A time, moved back by the advances of the firm's test clock since then. */
export const leapt = (since: Statement, partnerId: Statement): Statement => sql`${since} - make_interval(secs => least(
  ${movedSeconds(partnerId)} - ${movedSeconds(partnerId, sql`AND advanced_at < ${since}`)}, ${mostLeaptSeconds})::float8)`;
