import { type Clock, minuteMs } from "../../kernel/platform/clock.ts";
import type { Tx } from "../../kernel/platform/database/database.ts";
import { sql } from "../../kernel/platform/database/sql.ts";
import type { SealedJson } from "../sealed-json.ts";
import type { AnyAct } from "./act.ts";
import { resumeByHand } from "./by-hand.ts";
import { endIntent } from "./end.ts";
import { enqueueIntent, type IntentRow, updateIntent } from "./store.ts";

/** The most failed tries of an intent. Tries while the provider is unavailable are not counted. */
const maxFailures = 5;

/**
 * After an attempt that certainly had no effect, schedules another attempt or ends the act as failed.
 * @param why the reason to record if the act ends as failed
 */
export async function beginAgain(
  deps: { clock: Clock; sealed: SealedJson },
  tx: Tx,
  act: AnyAct,
  intent: IntentRow,
  why: string,
): Promise<void> {
  const { id, failures } = intent;
  if (failures + 1 >= maxFailures) {
    await updateIntent(tx, id, sql`failures = failures + 1`);
    return endIntent(deps, tx, act, intent, { kind: "failed", code: null, why });
  }
  await updateIntent(
    tx,
    id,
    sql`state = 'intended', begun_at = NULL, look_at = NULL, looks = 0, failures = failures + 1, why = ${why}`,
  );
  await resumeByHand(tx, act, intent);
  await enqueueIntent(tx, intent, failures * minuteMs);
}
