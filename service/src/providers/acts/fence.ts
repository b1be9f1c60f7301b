import type { Clock } from "../../platform/clock.ts";
import type { Sql } from "../../platform/database/database.ts";
import { sql } from "../../platform/database/sql.ts";
import type { Caller } from "../calls/call.ts";
import type { AnyAct } from "./act.ts";
import type { IntentRow } from "./store.ts";

/** By so much the clocks of nodes may differ, and a request may leave later than it was let through. */
const marginMs = 5_000;

/** How long after an act has begun its request may leave: it has ended before anybody looks. */
export const leavesWithinMs = ({ lookAfterMs }: AnyAct, { timeoutMs }: Pick<Caller, "timeoutMs">): number =>
  lookAfterMs - timeoutMs - marginMs;

/**
 * Whether a request that acts may leave still. What came before it (reading files, waiting for workers) may have taken so long that
 * another node has looked the act up, and begun it again.
 * @returns why not, or null
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
  // After the query: it may have waited, too.
  const passed = clock().getTime() - (begunAt?.getTime() ?? 0);
  return passed > leavesWithinMs(act, caller) ? "its files were not ready in time" : null;
}
