import { type Clock, minuteMs } from "../../platform/clock.ts";
import type { Tx } from "../../platform/database/database.ts";
import { sql } from "../../platform/database/sql.ts";
import type { SealedJson } from "../sealed-json.ts";
import type { AnyAct } from "./act.ts";
import { resumeByHand } from "./by-hand.ts";
import { endIntent } from "./end.ts";
import { enqueueIntent, type IntentRow, updateIntent } from "./store.ts";

/** So many tries may fail; a provider that is away is not counted. */
export const mostFailures = 5;

/** A try failed, and provably did nothing: it begins again later, or has failed for good. @param why in that case */
export async function beginAgain(
  deps: { clock: Clock; sealed: SealedJson },
  tx: Tx,
  act: AnyAct,
  intent: IntentRow,
  why: string,
): Promise<void> {
  const { id, failures } = intent;
  if (failures + 1 >= mostFailures) {
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
