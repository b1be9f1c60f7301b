/** The wait of somebody in the queue, by what is known and no more. */
import type { Environment } from "../../../kernel/identity/identity.ts";
import { minuteMs } from "../../../kernel/platform/clock.ts";
import type { Sql } from "../../../kernel/platform/database/database.ts";
import { sql } from "../../../kernel/platform/database/sql.ts";
import { type Marked, marked } from "../../../kernel/platform/database/state-mac.ts";
import { sessionState } from "../sessions/store.ts";

/** Fewer sessions say nothing about the next one. */
const leastSessions = 5;
const roundedMinutes = 5;

export type Estimate =
  /** No notary who is on duty may take this order. */
  | { kind: "nobody" }
  /** As many notaries are free as people are before this one, and one more. */
  | { kind: "free" }
  | { kind: "minutes"; minutes: number; sessions: number }
  /** Too few sessions were held. */
  | { kind: "unknown" };

type Line = {
  /** From 1. */
  place: number;
  /** Notaries on duty who may take the order, and how many of them are in no session. */
  notaries: number;
  free: number;
  /** Of earlier sessions, in milliseconds. */
  lengths: readonly number[];
};

export function estimateOf({ place, notaries, free, lengths }: Line): Estimate {
  if (notaries === 0) return { kind: "nobody" };
  if (place <= free) return { kind: "free" };
  if (lengths.length < leastSessions) return { kind: "unknown" };
  // Everybody who is before this one, and those who are in sessions, take a median session each. A running one counts in full:
  // nobody knows when it ends.
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

/** How long the latest sessions took that ended with the act, in milliseconds. */
export async function lengthsOfSessions(db: Sql, environment: Environment, since: Date): Promise<number[]> {
  const rows = await db.query<{ ms: number } & Marked>(sql`
    SELECT (extract(epoch FROM l.ended_at - l.opened_at) * 1000)::float8 AS ms, ${marked(sessionState, sql`l`)}
    FROM live_sessions l JOIN orders o ON o.id = l.order_id
    WHERE l.outcome = 'done' AND l.ended_at > ${since} AND o.environment = ${environment} ORDER BY l.ended_at DESC LIMIT 50`);
  return rows.filter(({ isAuthentic }) => isAuthentic).map(({ ms }) => ms);
}
