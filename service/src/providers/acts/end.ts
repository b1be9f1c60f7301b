import type { Clock } from "../../kernel/platform/clock.ts";
import type { Tx } from "../../kernel/platform/database/database.ts";
import { sql } from "../../kernel/platform/database/sql.ts";
import { closeTasks, openTask } from "../../kernel/tasks/tasks.ts";
import { providerNames } from "../names.ts";
import type { SealedJson } from "../sealed-json.ts";
import type { ActEnd, AnyAct, Intent } from "./act.ts";
import { closeByHand, resumeByHand } from "./by-hand.ts";
import type { ActDeps } from "./deps.ts";
import { findIntent, type IntentRow, intentContext, lockIntent, updateIntent } from "./store.ts";

type EndDeps = { clock: Clock; sealed: SealedJson };

/**
 * Ends an intent and its tasks, and applies the result. The end `unclear` only records that the outcome is unknown, and
 * opens a task for staff to look it up. The caller must have locked the rows of the intent and the order.
 * @param by the actor; default: the provider
 */
export async function endIntent(
  { clock, sealed }: EndDeps,
  tx: Tx,
  act: AnyAct,
  intent: IntentRow,
  end: ActEnd<unknown> | { kind: "withdrawn" },
  by = `provider:${intent.provider}`,
): Promise<void> {
  const at = clock();
  const { id, orderId } = intent;
  if (end.kind === "unclear") {
    await updateIntent(tx, id, sql`state = 'unknown', why = ${end.why}`);
    const reason = `${act.name} at ${providerNames[intent.provider]}: ${end.why}`;
    const subject = String(id);
    await openTask(tx, { kind: "provider_unclear", at, environment: "live", orderId, subject, reason });
    return act.settled(tx, intent, end);
  }
  const result = end.kind === "done" ? sealed.seal(end.result, intentContext(intent)) : null;
  const { code, why } = end.kind === "failed" ? end : { code: null, why: null };
  await updateIntent(
    tx,
    id,
    sql`state = ${end.kind}, ended_at = ${at}, ended_by = ${by}, result = ${result}, code = ${code}, why = ${why},
      away_since = NULL`,
  );
  const ended = { at, by, outcome: endWords(end) };
  const unclear = { orderId, kinds: ["provider_unclear"], subject: String(id) } as const;
  await closeTasks(tx, unclear, { state: "done", ...ended });
  // A withdrawn act was not done, so the task for staff is reopened.
  if (end.kind === "withdrawn") return void (await resumeByHand(tx, act, intent));
  await closeByHand(tx, act, intent, ended);
  await act.settled(tx, intent, end);
}

const endWords = (end: ActEnd<unknown> | { kind: "withdrawn" }): string =>
  end.kind === "done" || end.kind === "withdrawn" ? end.kind : `${end.kind}: ${end.why}`;

/**
 * Ends an act with the outcome that an event reports.
 * @returns false for an unknown act, and for one that has not begun or has already ended
 */
export async function concludeIntent(
  deps: Pick<ActDeps, "clock" | "sealed" | "acts">,
  tx: Tx,
  which: Pick<Intent, "act" | "orderId" | "attempt">,
  end: Exclude<ActEnd<unknown>, { kind: "unclear" }>,
): Promise<boolean> {
  const act = deps.acts.get(which.act);
  const found = await findIntent(tx, deps.sealed, which);
  const intent = found && (await lockIntent(tx, deps.sealed, found.id));
  // An act that has not begun can't have been done, so an event can't end it.
  if (!act || !intent || !["begun", "unknown"].includes(intent.state)) return false;
  await endIntent(deps, tx, act, intent, end);
  return true;
}
