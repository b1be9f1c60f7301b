import type { Clock } from "../../platform/clock.ts";
import type { Database, Tx } from "../../platform/database/database.ts";
import { sql } from "../../platform/database/sql.ts";
import type { Log } from "../../platform/logs.ts";
import type { Call, Caller, CallOutcome, Exchange } from "../calls/call.ts";
import { type ProviderName, providerNames } from "../names.ts";
import type { SealedJson } from "../sealed-json.ts";
import type { AnyAct } from "./act.ts";
import { isClaimedByHand, openByHand, pauseByHand, resumeByHand } from "./by-hand.ts";
import { endIntent } from "./end.ts";
import { recordLook } from "./look.ts";
import { enqueueIntent, type IntentRow, lockIntent, updateIntent } from "./store.ts";

export type ActDeps = {
  db: Database;
  clock: Clock;
  log: Log;
  sealed: SealedJson;
  acts: ReadonlyMap<string, AnyAct>;
  /** Null for a provider without an account. */
  callerOf: (provider: ProviderName) => Caller | null;
};

const minuteMs = 60_000;
/** Once a provider has been away for so long, people are asked to do it by hand. */
const awayMs = 30 * minuteMs;
const [shortestPauseMs, longestPauseMs] = [30_000, 10 * minuteMs];

/** What is to be done with an intent now, outside of any transaction. */
type Step = { step: "perform" | "look"; intent: IntentRow; act: AnyAct; caller: Caller };

/** Takes an intent further: begins it, or looks it up where nobody knows whether it was done. */
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
  const exchanges: Exchange[] = [];
  const call = caller.watched((exchange) => exchanges.push(exchange));
  const outcome = await perform(act, intent, call, exchanges);
  await deps.db.transaction((tx) => recordPerformed(deps, tx, act, intent, outcome, exchanges.at(-1)));
}

/** Decides by the rows as they are; what is to begin is recorded as begun before its request leaves. */
async function nextStep(deps: ActDeps, tx: Tx, id: number): Promise<Step | null> {
  const intent = await lockIntent(tx, deps.sealed, id);
  if (!intent || !["intended", "begun", "unknown"].includes(intent.state)) return null;
  const act = deps.acts.get(intent.act);
  if (!act) throw new Error(`nobody knows the act ${intent.act}`);
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
  // It may still be on its way, by this node or another.
  if (early > 0 || !caller) {
    await enqueueIntent(tx, id, caller ? early : longestPauseMs);
    return null;
  }
  return { step: "look", intent, act, caller };
}

/** An error of the act's own is no answer: whether something was done is known by what was sent. */
async function perform(act: AnyAct, intent: IntentRow, call: Call, exchanges: readonly Exchange[]) {
  try {
    return await act.perform(intent, call);
  } catch (error) {
    const isUndone = exchanges.every(({ outcome }) => outcome.kind === "unavailable" || outcome.kind === "refused");
    const why = wordsOf(error);
    return isUndone ? ({ kind: "unavailable", why, retryAfterMs: null } as const) : ({ kind: "unknown", why } as const);
  }
}

type Performed = { kind: "done"; result: unknown } | Exclude<CallOutcome, { kind: "answered" }>;

async function recordPerformed(
  deps: ActDeps,
  tx: Tx,
  act: AnyAct,
  begun: IntentRow,
  outcome: Performed,
  exchange: Exchange | undefined,
): Promise<void> {
  const intent = await lockIntent(tx, deps.sealed, begun.id);
  // It was looked up meanwhile, and ended or begun again.
  if (!intent || intent.tries !== begun.tries || !["begun", "unknown"].includes(intent.state)) {
    deps.log.error({ intent: begun.id, act: act.name, outcome: outcome.kind }, "an act's answer came too late");
    return;
  }
  if (exchange) {
    const { requestSha256, answerSha256 } = exchange;
    await updateIntent(tx, intent.id, sql`request_sha256 = ${requestSha256}, answer_sha256 = ${answerSha256}`);
  }
  switch (outcome.kind) {
    case "done":
      return endIntent(deps, tx, act, intent, outcome);
    case "refused":
      return endIntent(deps, tx, act, intent, { kind: "failed", code: outcome.code, why: outcome.why });
    case "unavailable":
      return waitForProvider(deps, tx, act, intent, outcome);
    case "unknown": {
      const lookAt = new Date(deps.clock().getTime() + act.lookAfterMs);
      await updateIntent(tx, intent.id, sql`look_at = ${lookAt}, why = ${outcome.why}, away_since = NULL`);
      return enqueueIntent(tx, intent.id, act.lookAfterMs);
    }
  }
}

/** Not done, and to be tried again; the longer the provider has been away the later. */
async function waitForProvider(
  deps: ActDeps,
  tx: Tx,
  act: AnyAct,
  intent: IntentRow,
  { why, retryAfterMs }: { why: string; retryAfterMs: number | null },
): Promise<void> {
  const at = deps.clock();
  const awaySince = intent.awaySince ?? at;
  const away = at.getTime() - awaySince.getTime();
  await updateIntent(
    tx,
    intent.id,
    sql`state = 'intended', begun_at = NULL, look_at = NULL, away_since = ${awaySince}, why = ${why}`,
  );
  await resumeByHand(tx, act, intent);
  if (away >= awayMs) {
    const reason = `${providerNames[intent.provider]} does not take it since ${awaySince.toISOString()}: ${why}`;
    await openByHand(tx, act, intent, { at, reason });
  }
  const pause = Math.min(Math.max(away / 2, shortestPauseMs), longestPauseMs);
  await enqueueIntent(tx, intent.id, Math.max(pause, retryAfterMs ?? 0));
}

const wordsOf = (error: unknown): string => (error instanceof Error ? error.message : String(error)).slice(0, 500);
