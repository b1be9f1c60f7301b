import type { Clock } from "../../kernel/platform/clock.ts";
import type { Sql } from "../../kernel/platform/database/database.ts";
import { sql } from "../../kernel/platform/database/sql.ts";
import type { Caller } from "../calls/call.ts";
import type { AnyAct } from "./act.ts";
import type { IntentRow } from "./store.ts";

/** A margin for the difference between the nodes' clocks, and for the time between this check and the request. */
const marginMs = 5_000;

/**
 * An act may send its request for this long after its start. A later request could still be running when the act is
 * looked up.
 */
export const leavesWithinMs = ({ lookAfterMs }: AnyAct, { timeoutMs }: Pick<Caller, "timeoutMs">): number =>
  lookAfterMs - timeoutMs - marginMs;

/**
 * Whether the act may still send its request. Its preparation (reading files, waiting for workers) may have taken so
 * long that another node has looked up the act and begun it again.
 * @returns the reason why not, or null
 */
export async function whyTooLate(
  { db, clock }: { db: Sql; clock: Clock },
  act: AnyAct,
  { id, tries, begunAt }: IntentRow,
  caller: Pick<Caller, "timeoutMs">,
): Promise<string | null> {
  const same = await db.query(
    sql`SELECT FROM provider_calls WHERE id = ${id} AND state = 'begun' AND tries = ${tries}`,
  );
  if (same.length === 0) return "another node has taken it up";
  // Reads the clock after the query, because the query may have waited, too.
  const passed = clock().getTime() - (begunAt?.getTime() ?? 0);
  return passed > leavesWithinMs(act, caller) ? "its files were not ready in time" : null;
}
