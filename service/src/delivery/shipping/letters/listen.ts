import { dayMs, hourMs } from "../../../kernel/platform/clock.ts";
import type { Tx } from "../../../kernel/platform/database/database.ts";
import { enqueue } from "../../../kernel/platform/jobs/jobs.ts";
import {
  type AcceptedLetter,
  createLob,
  type EventHandler,
  hasLaterEvent,
  readLetter,
} from "../../../providers/providers.ts";
import { hadTrouble, openTrouble } from "../../trouble.ts";
import { type LetterDeps, pollQueue } from "./deps.ts";
import { applyReports, type LetterReport, withLetter } from "./follow.ts";
import { isFinal, meaningOf, meaningOfTracking, stageOf } from "./progress.ts";
import { asDelivery, findLetter, type Letter, refreshLetter } from "./store.ts";

export const pollEveryMs = dayMs;
const withoutKeyMs = hourMs;
/**
 * `usualWayMs`: the assumed delivery time if Lob gives no estimate. `silentMs`: how long after the expected day a task
 * for staff is opened, if there was no report.
 */
const [usualWayMs, silentMs] = [6 * dayMs, 5 * dayMs];
/** Polling stops after this time, because the postal service reports nothing about an older letter. */
const maxPollMs = 45 * dayMs;

/** Handles Lob's events about letters. They may arrive in any order, and a repeated event reports nothing new. */
export const letterEvents =
  (deps: LetterDeps): EventHandler =>
  async ({ type, objectId, occurredAt, body }) => {
    const what = meaningOf(type);
    if (!what) return "irrelevant";
    const current = readLetter((body as { body?: unknown }).body)?.value;
    const event: LetterReport = { what, at: occurredAt, words: type };
    const isNew = await withLetter(deps, objectId, async (tx, order, letter) => {
      const fresh = current?.letterId === letter.letterId ? current : undefined;
      // An event that arrives late has Lob's earlier data, so it must not replace the data of a later event.
      const isLate = fresh && (await hasLaterEvent(tx, "lob", objectId, occurredAt));
      const latest = fresh && isLate ? { ...fresh, ...storedFirst(letter, fresh) } : fresh;
      if (latest) await refreshLetter(tx, letter.id, latest);
      return applyReports(deps, tx, order, refreshed(letter, latest), [event, ...reportsIn(latest)]);
    });
    if (isNew === undefined) return "unknown";
    return isNew ? "applied" : "known";
  };

/**
 * Polls Lob about a letter, in case an event was lost. Polling ends at `maxPollMs`, or once the letter's state is final
 * and the order is not on hold.
 */
export async function pollLetter(deps: LetterDeps, letterId: string): Promise<void> {
  const { db, clock, providers } = deps;
  // Without an API key nothing is polled, but the job is repeated, because a key may be configured later.
  const canAsk = providers.has("lob");
  const answer = canAsk ? await createLob(providers.callOf("lob")).get(letterId) : null;
  const at = clock();
  const isOver = await withLetter(deps, letterId, async (tx, order, letter) => {
    const current = answer?.kind === "done" ? answer.result : undefined;
    if (current) await refreshLetter(tx, letter.id, current);
    await applyReports(deps, tx, order, refreshed(letter, current), reportsIn(current, at));
    const after = (await findLetter(tx, letterId)) ?? letter;
    // The letter's state is final, so polling ends, except during a hold. The first poll after the hold moves the order
    // to the letter's state.
    if (isFinal(stageOf(after.progress))) return order.status !== "OnHold";
    return tellOfSilence(tx, after, at);
  });
  if (isOver !== false) return;
  await enqueue(db, pollQueue, { letterId }, new Date(at.getTime() + (canAsk ? pollEveryMs : withoutKeyMs)));
}

/**
 * Opens a task when there has been no report for too long.
 * @returns whether no further report is expected
 */
async function tellOfSilence(tx: Tx, letter: Letter, at: Date): Promise<boolean> {
  const { letterId, acceptedAt, expectedDelivery, progress } = letter;
  if (at.getTime() - acceptedAt.getTime() >= maxPollMs) {
    await openTrouble(
      tx,
      asDelivery(letter),
      at,
      `Nothing was heard of the letter ${letterId} to its end: ask the post or Lob.`,
    );
    return true;
  }
  const expected = expectedDelivery === null ? acceptedAt.getTime() + usualWayMs : Date.parse(expectedDelivery);
  const due = new Date(expected + silentMs);
  if (stageOf(progress) !== "accepted" || at < due || (await hadTrouble(tx, asDelivery(letter), due))) return false;
  const since = acceptedAt.toISOString().slice(0, 10);
  const reason = `Nothing was heard of the letter ${letterId} since Lob accepted it on ${since}: look at it there. A test key prints nothing.`;
  await openTrouble(tx, asDelivery(letter), at, reason);
  return false;
}

/** The stored values, or Lob's where none is stored. */
const storedFirst = (letter: Letter, { trackingNumber, expectedDelivery }: AcceptedLetter) => ({
  trackingNumber: letter.trackingNumber ?? trackingNumber,
  expectedDelivery: letter.expectedDelivery ?? expectedDelivery,
});

const refreshed = (letter: Letter, current: AcceptedLetter | undefined): Letter => ({
  ...letter,
  trackingNumber: current?.trackingNumber ?? letter.trackingNumber,
});

/**
 * The reports contained in Lob's response about a letter.
 * @param at the time of the poll. Lob states no time for a cancellation, so `at` is recorded. If `at` is undefined, a
 * cancellation is left out
 */
function reportsIn(current: AcceptedLetter | undefined, at?: Date): LetterReport[] {
  if (!current) return [];
  const listed = current.tracking.flatMap(({ name, at: time }) => {
    const what = meaningOfTracking(name);
    return what ? [{ what, at: time, words: name }] : [];
  });
  return current.isCanceled && at ? [...listed, { what: "cancelled", at, words: "cancelled" }] : listed;
}
