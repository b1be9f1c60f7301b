import { dayMs, hourMs } from "../../platform/clock.ts";
import type { Tx } from "../../platform/database/database.ts";
import { enqueue } from "../../platform/jobs/jobs.ts";
import { type AcceptedLetter, createLob, type EventHandler, readLetter } from "../../providers/providers.ts";
import { type LetterDeps, pollQueue } from "./deps.ts";
import { applyNews, type News, withLetter } from "./follow.ts";
import { isFinal, meaningOf, meaningOfTracking, stageOf } from "./progress.ts";
import { findLetter, type Letter, refreshLetter } from "./store.ts";
import { hadTrouble, openTrouble } from "./trouble.ts";

export const pollEveryMs = dayMs;
const withoutKeyMs = hourMs;
/** How long a letter takes of which Lob does not say when it is expected, and how much later one is that was lost. */
const [usualWayMs, silentMs] = [6 * dayMs, 5 * dayMs];
/** After so long the post says nothing more of a letter. */
const mostPollMs = 45 * dayMs;

/** What Lob's events mean to letters: kept once, in whatever order they come. */
export const letterEvents =
  (deps: LetterDeps): EventHandler =>
  async ({ type, objectId, occurredAt, body }) => {
    const what = meaningOf(type);
    if (!what) return "irrelevant";
    const said = readLetter((body as { body?: unknown }).body)?.value;
    const event: News = { what, at: occurredAt, words: type };
    const isNew = await withLetter(deps, objectId, async (tx, order, letter) => {
      const fresh = said?.letterId === letter.letterId ? said : undefined;
      if (fresh) await refreshLetter(tx, letter.id, fresh);
      return applyNews(deps, tx, order, refreshed(letter, fresh), [event, ...newsOf(fresh)]);
    });
    if (isNew === undefined) return "unknown";
    return isNew ? "applied" : "known";
  };

/** Asks Lob for a letter, in case that an event was lost, until nothing more can be heard of it. */
export async function pollLetter(deps: LetterDeps, letterId: string): Promise<void> {
  const { db, clock, providers } = deps;
  // Without its key now, there may be one later.
  const canAsk = providers.has("lob");
  const answer = canAsk ? await createLob(providers.callOf("lob")).get(letterId) : null;
  const at = clock();
  const isOver = await withLetter(deps, letterId, async (tx, order, letter) => {
    const said = answer?.kind === "done" ? answer.result : undefined;
    if (said) await refreshLetter(tx, letter.id, said);
    await applyNews(deps, tx, order, refreshed(letter, said), newsOf(said, at));
    const after = (await findLetter(tx, letterId)) ?? letter;
    // An order on hold goes on by it later.
    if (isFinal(stageOf(after.progress))) return order.status !== "OnHold";
    return tellOfSilence(tx, after, at);
  });
  if (isOver !== false) return;
  await enqueue(db, pollQueue, { letterId }, new Date(at.getTime() + (canAsk ? pollEveryMs : withoutKeyMs)));
}

/** Has a person ask where the post said nothing for too long. @returns whether it will not say anything any more */
async function tellOfSilence(tx: Tx, letter: Letter, at: Date): Promise<boolean> {
  const { letterId, acceptedAt, expectedDelivery, progress } = letter;
  if (at.getTime() - acceptedAt.getTime() >= mostPollMs) {
    await openTrouble(tx, letter, at, `Nothing was heard of the letter ${letterId} to its end: ask the post or Lob.`);
    return true;
  }
  const expected = expectedDelivery === null ? acceptedAt.getTime() + usualWayMs : Date.parse(expectedDelivery);
  const due = new Date(expected + silentMs);
  if (stageOf(progress) !== "accepted" || at < due || (await hadTrouble(tx, letter, due))) return false;
  const since = acceptedAt.toISOString().slice(0, 10);
  const reason = `Nothing was heard of the letter ${letterId} since Lob accepted it on ${since}: look at it there. A test key prints nothing.`;
  await openTrouble(tx, letter, at, reason);
  return false;
}

const refreshed = (letter: Letter, said: AcceptedLetter | undefined): Letter => ({
  ...letter,
  trackingNumber: said?.trackingNumber ?? letter.trackingNumber,
});

/** What a letter lists of its way. @param at when it was asked for, for what bears no time */
function newsOf(said: AcceptedLetter | undefined, at?: Date): News[] {
  if (!said) return [];
  const listed = said.tracking.flatMap(({ name, at: time }) => {
    const what = meaningOfTracking(name);
    return what ? [{ what, at: time, words: name }] : [];
  });
  return said.isCancelled && at ? [...listed, { what: "cancelled", at, words: "cancelled" }] : listed;
}
