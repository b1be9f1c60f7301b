import { type Clock, hourMs, minuteMs } from "../../kernel/platform/clock.ts";
import type { Tx } from "../../kernel/platform/database/database.ts";
import { sql } from "../../kernel/platform/database/sql.ts";
import { closeTasks, openTasksOf } from "../../kernel/tasks/tasks.ts";
import { providerNames } from "../names.ts";
import type { SealedJson } from "../sealed-json.ts";
import type { AnyAct } from "./act.ts";
import { beginAgain } from "./begin-again.ts";
import { endIntent } from "./end.ts";
import { enqueueIntent, type IntentRow, lockIntent, updateIntent } from "./store.ts";

/**
 * The delays between the first look-ups of an act while its outcome stays unknown. If it is still unknown after the
 * last delay, a task asks staff to find it out.
 */
const pausesMs = [1, 2, 5, 10, 15].map((minutes) => minutes * minuteMs);
/** The most look-ups of an act after its first one: one after each delay of `pausesMs`, then one an hour for a day. */
export const maxLooks = pausesMs.length + 24;

type LookDeps = { clock: Clock; sealed: SealedJson };
type Seen = { kind: "done"; result: unknown } | { kind: "not_done" } | { kind: "unclear"; why: string };

/** Applies the result of a look-up to an intent with an unknown outcome. */
export async function recordLook(deps: LookDeps, tx: Tx, act: AnyAct, looked: IntentRow, seen: Seen): Promise<void> {
  const intent = await lockIntent(tx, deps.sealed, looked.id);
  if (!intent || intent.state !== looked.state || intent.tries !== looked.tries || intent.looks !== looked.looks)
    return;
  switch (seen.kind) {
    case "done":
      return endIntent(deps, tx, act, intent, seen);
    case "not_done":
      return again(deps, tx, act, intent);
    case "unclear":
      return lookLater(deps, tx, act, intent, seen.why);
  }
}

/**
 * The act was certainly not done, so it begins again, or ends as failed after too many tries. Does nothing if a person
 * has claimed the task to look it up.
 */
async function again(deps: LookDeps, tx: Tx, act: AnyAct, intent: IntentRow): Promise<void> {
  const { id, orderId, failures, provider } = intent;
  const which = { orderId, kinds: ["provider_unclear"], subject: String(id) } as const;
  const open = await openTasksOf(tx, which);
  if (open.some(({ state }) => state === "claimed")) return;
  const end = {
    state: "dropped",
    at: deps.clock(),
    by: "system",
    outcome: "it was not done, and begins again",
  } as const;
  await closeTasks(tx, which, end);
  const why = `${providerNames[provider]} was asked ${failures + 1} times and did nothing`;
  await beginAgain(deps, tx, act, intent, why);
}

async function lookLater(deps: LookDeps, tx: Tx, act: AnyAct, intent: IntentRow, why: string): Promise<void> {
  const { id, looks, state } = intent;
  const pause = pausesMs[looks] ?? hourMs;
  const lookAt = new Date(deps.clock().getTime() + pause);
  await updateIntent(tx, id, sql`looks = looks + 1, look_at = ${lookAt}, why = ${why}`);
  if (looks >= pausesMs.length && state === "begun") await endIntent(deps, tx, act, intent, { kind: "unclear", why });
  if (looks < maxLooks) await enqueueIntent(tx, intent, pause);
}
