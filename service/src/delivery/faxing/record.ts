import { minuteMs } from "../../kernel/platform/clock.ts";
import type { Tx } from "../../kernel/platform/database/database.ts";
import { sql } from "../../kernel/platform/database/sql.ts";
import { perform, recordFaxAhead } from "../../orders/fulfilment/fulfilment.ts";
import { faxesAhead, type LockedOrder } from "../../orders/order/order.ts";
import type { TelnyxFax } from "../../providers/providers.ts";
import { enqueueReceipt } from "../receipts/receipts.ts";
import { closeTrouble, openTrouble } from "../trouble.ts";
import { decide, type FaxStep } from "./decide.ts";
import { actName, actor, type FaxDeps } from "./deps.ts";
import { advance, isOver, isSameProgress } from "./states.ts";
import { asDelivery, type FaxAttempt, insertAttempt, lockFaxes, updateAttempt, updateProgress } from "./store.ts";

/** A poll may report the end of a fax before Telnyx's signed event does. The receipt waits this long for the event. */
const receiptWaitsMs = 10 * minuteMs;
/** The most steps after one report. A report normally causes only a few, so this limit ends an endless loop. */
const maxSteps = 5;

/**
 * Applies Telnyx's report on a fax. The caller has locked the attempt's row.
 * @returns whether the report changed anything
 */
export async function applyFax(
  tx: Tx,
  attempt: FaxAttempt,
  fax: TelnyxFax,
  { at, eventId }: { at: Date; eventId: number | null },
): Promise<boolean> {
  const { status: state, failureReason: reason, pages, seconds } = fax;
  if (state === null) return false;
  const advanced = advance(attempt, { state, reason, pages, seconds, at });
  // A poll doesn't report when the call began. So `startedAt` from an earlier event is left unchanged.
  const progress = eventId === null ? { ...advanced, startedAt: attempt.startedAt } : advanced;
  const tellsEnd = progress.state === state && progress.endedAt !== null && attempt.eventId === null ? eventId : null;
  const isReplaced = progress.state === state && attempt.state !== state;
  const event = isReplaced && progress.endedAt !== null ? eventId : tellsEnd;
  if (attempt.faxId !== null && event === null && isSameProgress(progress, attempt)) return false;
  await updateProgress(tx, attempt.id, progress, attempt.faxId ?? fax.id, event);
  if (isOver(progress.state)) await closeTrouble(tx, asDelivery(attempt), { at, by: actor, outcome: progress.state });
  return true;
}

/**
 * Applies the state of the attempts to their order: performs the steps that `decide` returns, and queues receipts.
 * @returns whether a fax must be canceled at Telnyx
 */
export async function resume(deps: FaxDeps, tx: Tx, orderId: number): Promise<{ cancel: boolean }> {
  for (let n = 0; n < maxSteps; n++) {
    const faxes = await lockFaxes(tx, orderId);
    if (faxes?.order.environment !== "live") return { cancel: false };
    await receiptsOf(deps, tx, faxes);
    const step = decide(faxes.status, faxes.attempts, deps.clock());
    if (step === null) return { cancel: false };
    if (step.do === "cancel") return { cancel: true };
    await applyStep(deps, tx, faxes.order, faxes.attempts, step);
    if (step.do === "send") return { cancel: false };
  }
  return { cancel: false };
}

async function applyStep(
  deps: FaxDeps,
  tx: Tx,
  order: LockedOrder,
  attempts: readonly FaxAttempt[],
  step: Exclude<FaxStep, { do: "cancel" }>,
): Promise<void> {
  const last = attempts.at(-1);
  if (!last) return;
  const at = deps.clock();
  switch (step.do) {
    case "move": {
      const reason = "reason" in step ? step.reason : undefined;
      if (step.on === "fax_failed") await updateAttempt(tx, last.id, sql`is_settled = true`);
      const by = { actor, at, log: deps.log };
      if (faxesAhead(order)) await recordFaxAhead(tx, order, step.on, { reason, doneAt: last.endedAt ?? at }, by);
      else await perform(tx, order, step.on, { reason }, by);
      return;
    }
    case "attempt":
      await newAttempt(deps, tx, order, { attempt: last.attempt + 1, retries: step.retries, dueAt: step.dueAt });
      return;
    case "send":
      return intend(deps, tx, last);
    case "withdraw":
      await updateAttempt(tx, last.id, sql`state = 'withdrawn'`);
  }
}

export async function newAttempt(
  { clock, from }: FaxDeps,
  tx: Tx,
  order: LockedOrder,
  next: { attempt: number; retries: number; dueAt: Date },
): Promise<void> {
  await insertAttempt(tx, order, { ...next, faxTo: order.faxTo ?? "", faxFrom: from }, clock());
}

/** Starts the act that sends a due attempt. A repeated call starts no second act. */
const intend = ({ providers, clock }: FaxDeps, tx: Tx, { id, orderId, attempt }: FaxAttempt): Promise<void> =>
  providers.intend(tx, {
    act: actName,
    provider: "telnyx",
    orderId,
    attempt,
    payload: { attemptId: id },
    at: clock(),
  });

async function receiptsOf(
  { clock }: FaxDeps,
  tx: Tx,
  { attempts }: { attempts: readonly FaxAttempt[] },
): Promise<void> {
  const at = clock();
  for (const { id, orderId, state, eventId, endedAt, receiptAt, pages, sentPages } of attempts) {
    if (state !== "delivered" || receiptAt !== null) continue;
    if (eventId === null && at.getTime() - (endedAt ?? at).getTime() < receiptWaitsMs) continue;
    await updateAttempt(tx, id, sql`receipt_at = ${at}`);
    if (pages !== null && sentPages !== null && pages < sentPages) {
      const subject = `pages of ${asDelivery({ id, orderId }).subject}`;
      const reason = `The receiving machine confirmed ${pages} of the ${sentPages} pages that were faxed: ask the recipient`;
      await openTrouble(tx, { orderId, subject }, at, reason);
    }
    await enqueueReceipt(tx, { orderId, kind: "fax_certificate", subject: id });
  }
}
