import type { Clock } from "../../kernel/platform/clock.ts";
import type { Sql } from "../../kernel/platform/database/database.ts";
import { sql } from "../../kernel/platform/database/sql.ts";
import type { Caller } from "../calls/call.ts";
import type { AnyAct } from "./act.ts";
import type { IntentRow } from "./store.ts";

/** A margin for clock differences between nodes, and for the time between this check and the request. */
const marginMs = 5_000;

/**
 * The time limit for an act to send its request, counted from the start of the act. A later request could still be in
 * progress when another node looks up the act's outcome.
 */
export const leavesWithinMs = ({ lookAfterMs }: AnyAct, { timeoutMs }: Pick<Caller, "timeoutMs">): number =>
  lookAfterMs - timeoutMs - marginMs;

/**
 * Checks that the act may still send its request. Its preparation (reading files, queueing for workers) can take long.
 * Meanwhile, another node may have looked up the act and begun it again.
 * @returns the reason for not sending the request; null when it can be sent
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
  // The clock is read after the query, because the query may have been delayed as well.
  const passed = clock().getTime() - (begunAt?.getTime() ?? 0);
  return passed > leavesWithinMs(act, caller) ? "its files were not ready in time" : null;
}
