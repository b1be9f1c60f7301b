import { nothing, type Statement, sql } from "../platform/database/sql.ts";

// The most that PostgreSQL can compute with. A plan that uses test clocks never keeps longer.
const mostLeaptSeconds = 5 * 365 * 24 * 3600;
// Longer than any law asks for.
const mostMovedSeconds = 100 * 365 * 24 * 3600;

/** How far the firm's test clock was moved in all, after the last of these advances, with one index look-up. */
const movedSeconds = (partnerId: Statement, which: Statement = nothing): Statement => sql`coalesce((
  SELECT total_seconds FROM test_clock_advances WHERE partner_id = ${partnerId} ${which}
  ORDER BY advanced_at DESC, id DESC LIMIT 1), 0)`;

/** How far the firm's test clock was moved since then, as an interval. */
export const movedSince = (since: Statement, partnerId: Statement): Statement => sql`make_interval(secs => least(
  ${movedSeconds(partnerId)} - ${movedSeconds(partnerId, sql`AND advanced_at < ${since}`)}, ${mostMovedSeconds})::float8)`;

/** The time moved back by the firm's test clock advances since then. */
export const leapt = (since: Statement, partnerId: Statement): Statement => sql`${since} - make_interval(secs => least(
  ${movedSeconds(partnerId)} - ${movedSeconds(partnerId, sql`AND advanced_at < ${since}`)}, ${mostLeaptSeconds})::float8)`;
