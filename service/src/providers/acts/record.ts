import { minuteMs } from "../../kernel/platform/clock.ts";
import type { Tx } from "../../kernel/platform/database/database.ts";
import { sql } from "../../kernel/platform/database/sql.ts";
import type { Exchange } from "../calls/call.ts";
import { providerNames } from "../names.ts";
import type { AnyAct } from "./act.ts";
import { beginAgain } from "./begin-again.ts";
import { openByHand, resumeByHand } from "./by-hand.ts";
import type { ActDeps } from "./deps.ts";
import { endIntent } from "./end.ts";
import type { Performed } from "./perform.ts";
import { enqueueIntent, type IntentRow, lockIntent, updateIntent } from "./store.ts";

/** Once a provider has been unavailable for this long, a task asks staff to do the work manually. */
const awayMs = 30 * minuteMs;
const minPauseMs = 30_000;
export const maxPauseMs = 10 * minuteMs;

/** Applies the outcome of an attempt to its intent. */
export async function recordPerformed(
  deps: ActDeps,
  tx: Tx,
  act: AnyAct,
  startedIntent: IntentRow,
  { outcome, exchange }: { outcome: Performed; exchange: Exchange | undefined },
): Promise<void> {
  const intent = await lockIntent(tx, deps.sealed, startedIntent.id);
  // While this node waited for the provider's response, another node looked up the act, and ended it or began it again.
  // So this outcome is ignored.
  if (!intent || intent.tries !== startedIntent.tries || !["begun", "unknown"].includes(intent.state)) {
    deps.log.error({ intent: startedIntent.id, act: act.name, outcome: outcome.kind }, "an act's answer came too late");
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
    case "error":
      deps.log.warn({ intent: intent.id, act: act.name, why: outcome.why }, "an act failed before its request");
      return beginAgain(deps, tx, act, intent, outcome.why);
    case "unknown": {
      const lookAt = new Date(deps.clock().getTime() + act.lookAfterMs);
      await updateIntent(tx, intent.id, sql`look_at = ${lookAt}, why = ${outcome.why}, away_since = NULL`);
      return enqueueIntent(tx, intent, act.lookAfterMs);
    }
  }
}

/**
 * Schedules another attempt of an act that was not done. The delay grows with the time for which the provider has been
 * unavailable.
 */
export async function waitForProvider(
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
  const pause = Math.min(Math.max(away / 2, minPauseMs), maxPauseMs);
  await enqueueIntent(tx, intent, Math.max(pause, retryAfterMs ?? 0));
}
