import type { Tx } from "../../kernel/platform/database/database.ts";
import { sql } from "../../kernel/platform/database/sql.ts";
import type { Caller } from "../calls/call.ts";
import type { AnyAct } from "./act.ts";
import { isClaimedByHand, pauseByHand } from "./by-hand.ts";
import type { ActDeps } from "./deps.ts";
import { endIntent } from "./end.ts";
import { recordLook } from "./look.ts";
import { performAct, wordsOf } from "./perform.ts";
import { maxPauseMs, recordPerformed, waitForProvider } from "./record.ts";
import { enqueueIntent, type IntentRow, lockIntent, updateIntent } from "./store.ts";

/** The next step of an intent, performed outside of any transaction. */
type Step = { step: "perform" | "look"; intent: IntentRow; act: AnyAct; caller: Caller };

/**
 * Performs the act of an intent. If the outcome of an earlier attempt is unknown, looks it up at the provider and sends
 * nothing.
 */
export async function runIntent(deps: ActDeps, id: number): Promise<void> {
  const found = await deps.db.transaction((tx) => nextStep(deps, tx, id));
  if (!found) return;
  const { step, intent, act, caller } = found;
  if (step === "look") {
    const seen = await act
      .lookUp(intent, caller.call)
      .catch((error) => ({ kind: "unclear" as const, why: wordsOf(error) }));
    return deps.db.transaction((tx) => recordLook(deps, tx, act, intent, seen));
  }
  const performed = await performAct(deps, act, intent, caller);
  await deps.db.transaction((tx) => recordPerformed(deps, tx, act, intent, performed));
}

/** Decides the next step from the stored state. An act is recorded as begun before its request is sent. */
async function nextStep(deps: ActDeps, tx: Tx, id: number): Promise<Step | null> {
  const intent = await lockIntent(tx, deps.sealed, id);
  if (!intent || !["intended", "begun", "unknown"].includes(intent.state)) return null;
  const act = deps.acts.get(intent.act);
  if (!act) throw new Error(`this release does not know the act ${intent.act}`);
  const caller = deps.callerOf(intent.provider);
  const at = deps.clock();
  if (intent.state === "intended") {
    const isWanted = !(await isClaimedByHand(tx, act, intent)) && (await act.wanted(tx, intent));
    if (!isWanted) {
      await endIntent(deps, tx, act, intent, { kind: "withdrawn" });
      return null;
    }
    if (!caller || caller.health().isPaused) {
      await waitForProvider(deps, tx, act, intent, { why: "no requests are made now", retryAfterMs: null });
      return null;
    }
    await pauseByHand(tx, act, intent);
    await updateIntent(tx, id, sql`state = 'begun', begun_at = ${at}, look_at = NULL, looks = 0, tries = tries + 1`);
    return {
      step: "perform",
      intent: { ...intent, state: "begun", begunAt: at, tries: intent.tries + 1 },
      act,
      caller,
    };
  }
  const lookAt = intent.lookAt?.getTime() ?? (intent.begunAt ?? at).getTime() + act.lookAfterMs;
  const early = lookAt - at.getTime();
  // Until the time of the look-up, the act's request may still be in progress, on this node or another.
  if (early > 0 || !caller) {
    await enqueueIntent(tx, intent, caller ? early : maxPauseMs);
    return null;
  }
  return { step: "look", intent, act, caller };
}
