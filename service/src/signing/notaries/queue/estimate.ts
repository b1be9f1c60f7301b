/**
 * Estimates the waiting time of people in the queue from measured facts only, such as the lengths of earlier sessions.
 */

import type { Environment } from "../../../kernel/identity/identity.ts";
import { minuteMs } from "../../../kernel/platform/clock.ts";
import type { Sql } from "../../../kernel/platform/database/database.ts";
import { sql } from "../../../kernel/platform/database/sql.ts";
import { type Marked, marked } from "../../../kernel/platform/database/state-mac.ts";
import { joinOrder } from "../../../orders/order/order.ts";
import { sessionState } from "../sessions/store.ts";

/** The smallest number of earlier sessions from which a waiting time is estimated. */
const minSessions = 5;
const roundedMinutes = 5;

export type Estimate =
  /** No notary on duty may act for this order. */
  | { kind: "nobody" }
  /** There are enough free notaries for this person and everybody ahead in the queue, so there is no wait. */
  | { kind: "free" }
  | { kind: "minutes"; minutes: number; sessions: number }
  /** There were too few earlier sessions for an estimate. */
  | { kind: "unknown" };

type Line = {
  /** The position in the queue, counted from 1. */
  place: number;
  /**
   * The number of notaries on duty who may act for the order. `free` counts those who are not in a session and have
   * called nobody.
   */
  notaries: number;
  free: number;
  /** The lengths of earlier sessions, in milliseconds. */
  lengths: readonly number[];
};

export function estimateOf({ place, notaries, free, lengths }: Line): Estimate {
  if (notaries === 0) return { kind: "nobody" };
  if (place <= free) return { kind: "free" };
  if (lengths.length < minSessions) return { kind: "unknown" };
  // Assumes that each person ahead in the queue, and each running session, needs the length of the median session. A
  // running session is counted with its full length, because its end is unknown.
  const rounds = Math.ceil((place - free) / notaries);
  const minutes = (rounds * medianOf(lengths)) / minuteMs;
  return {
    kind: "minutes",
    minutes: Math.max(1, Math.ceil(minutes / roundedMinutes)) * roundedMinutes,
    sessions: lengths.length,
  };
}

function medianOf(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other);
  const at = (index: number) => sorted[index] ?? 0;
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1 ? at(middle) : (at(middle - 1) + at(middle)) / 2;
}

/** The notaries who are in a session now. */
export async function notariesInSession(db: Sql): Promise<ReadonlySet<string>> {
  const rows = await db.query<{ notaryId: string }>(
    sql`SELECT DISTINCT notary_id AS "notaryId" FROM live_sessions WHERE state <> 'ended'`,
  );
  return new Set(rows.map(({ notaryId }) => notaryId));
}

/** The lengths in milliseconds of the latest sessions that ended with a completed act. */
export async function lengthsOfSessions(db: Sql, environment: Environment, since: Date): Promise<number[]> {
  const rows = await db.query<{ ms: number } & Marked>(sql`
    SELECT (extract(epoch FROM l.ended_at - l.opened_at) * 1000)::float8 AS ms, ${marked(sessionState, sql`l`)}
    FROM live_sessions l ${joinOrder(sql`l.order_id`)}
    WHERE l.outcome = 'done' AND l.ended_at > ${since} AND o.environment = ${environment} ORDER BY l.ended_at DESC LIMIT 50`);
  return rows.filter(({ isAuthentic }) => isAuthentic).map(({ ms }) => ms);
}
