import { setTimeout as sleep } from "node:timers/promises";
import { formatEntry, type LogEntry } from "@signsealship/evidence/log";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Environment } from "../../kernel/identity/identity.ts";
import type { Sql } from "../../kernel/platform/database/database.ts";
import { sql } from "../../kernel/platform/database/sql.ts";

/** How far a line is. `witnessed`: a checkpoint over it has its quorum. `anchored`: authorities or calendars have one. */
export type LineState = "queued" | "logged" | "witnessed" | "anchored";

/** The farthest state of a line, how many witnesses cosigned the best checkpoint over it, and whether the log asks any. */
export async function lineState(
  db: Sql,
  log: Environment,
  entry: LogEntry,
): Promise<{ state: LineState; cosignatures: number; isAsked: boolean }> {
  const [row] = await db.query<{
    isLogged: boolean;
    isWitnessed: boolean;
    isAnchored: boolean;
    cosignatures: number;
    isAsked: boolean;
  }>(sql`
    SELECT EXISTS (SELECT FROM log_witnesses w WHERE w.log = e.log AND next_at > now() - interval '1 hour') AS "isAsked",
      EXISTS (SELECT FROM log_checkpoints c WHERE c.log = e.log AND c.size > e.leaf) AS "isLogged",
      EXISTS (SELECT FROM log_cosignatures q WHERE q.log = e.log AND q.size > e.leaf AND is_quorum) AS "isWitnessed",
      EXISTS (SELECT FROM log_anchors a WHERE a.log = e.log AND a.size > e.leaf AND proof IS NOT NULL) AS "isAnchored",
      coalesce((SELECT max(n) FROM (
        SELECT count(*)::int AS n FROM log_cosignatures q WHERE q.log = e.log AND q.size > e.leaf GROUP BY q.size LIMIT 100
      ) AS sizes), 0) AS cosignatures
    FROM log_entries e WHERE log = ${log} AND line = ${formatEntry(entry)}`);
  if (!row) return { state: "queued", cosignatures: 0, isAsked: false };
  const { isLogged, isWitnessed, isAnchored, cosignatures, isAsked } = row;
  const state = isAnchored ? "anchored" : isWitnessed ? "witnessed" : isLogged ? "logged" : "queued";
  return { state, cosignatures, isAsked };
}

/** The longest wait that a caller gets. */
export const mostWaitSeconds = 10;
const lookEveryMs = 100;

/** The wait that a caller prefers (RFC 7240, section 4.3: `Prefer: wait=N`), in seconds; null for none that can be read. */
export function preferredWait({ headers }: Pick<FastifyRequest, "headers">): number | null {
  // The first of several is the one that counts (section 2).
  const wait = [headers.prefer ?? []]
    .flat()
    .join(",")
    .split(",")
    .map((one) => /^\s*wait\s*=\s*"?(\d{1,9})"?\s*(;|$)/i.exec(one)?.[1])
    .find((seconds) => seconds !== undefined);
  return wait === undefined ? null : Math.min(Number(wait), mostWaitSeconds);
}

/**
 * Waits, where the caller prefers that, until the log has a line and its witnesses cosigned it, and says so in `Preference-Applied`.
 * @returns the state then; null where nobody asked for a wait
 */
export async function preferredState(
  request: FastifyRequest,
  reply: FastifyReply,
  { db, log, entry }: { db: Sql; log: Environment; entry: LogEntry },
): Promise<LineState | null> {
  const seconds = preferredWait(request);
  if (seconds === null) return null;
  reply.header("Preference-Applied", `wait=${seconds}`);
  for (let waitedMs = 0; ; waitedMs += lookEveryMs) {
    const { state, isAsked } = await lineState(db, log, entry);
    const isEnough = state !== "queued" && !(state === "logged" && isAsked);
    // Nobody reads the answer of a request that was cut off.
    if (isEnough || waitedMs >= seconds * 1_000 || request.raw.socket.destroyed) return state;
    await sleep(lookEveryMs);
  }
}
