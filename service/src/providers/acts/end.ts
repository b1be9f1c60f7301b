import type { Clock } from "../../platform/clock.ts";
import type { Tx } from "../../platform/database/database.ts";
import { sql } from "../../platform/database/sql.ts";
import { closeTasks, openTask } from "../../tasks/tasks.ts";
import { providerNames } from "../names.ts";
import type { SealedJson } from "../sealed-json.ts";
import type { ActEnd, AnyAct } from "./act.ts";
import { closeByHand, resumeByHand } from "./by-hand.ts";
import { type IntentRow, intentContext, updateIntent } from "./store.ts";

type EndDeps = { clock: Clock; sealed: SealedJson };

/** Ends an intent whose row and order are locked, with all that hangs on it. @param by who, default the provider */
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
    await tx.query(openTask({ kind: "provider_unclear", at, environment: "live", orderId, subject, reason }));
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
  await tx.query(closeTasks(unclear, { state: "done", ...ended }));
  // Withdrawn: people do it, or nobody.
  if (end.kind === "withdrawn") return void (await resumeByHand(tx, act, intent));
  await closeByHand(tx, act, intent, ended);
  await act.settled(tx, intent, end);
}

const endWords = (end: ActEnd<unknown> | { kind: "withdrawn" }): string =>
  end.kind === "done" || end.kind === "withdrawn" ? end.kind : `${end.kind}: ${end.why}`;
