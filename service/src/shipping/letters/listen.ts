import { enqueue } from "../../platform/jobs/jobs.ts";
import { type AcceptedLetter, createLob, type EventHandler, readLetter } from "../../providers/providers.ts";
import { openTask } from "../../tasks/tasks.ts";
import { type LetterDeps, pollQueue } from "./deps.ts";
import { applyNews, type News, withLetter } from "./follow.ts";
import { isFinal, meaningOf, meaningOfTracking, stageOf } from "./progress.ts";
import { findLetter, type Letter, refreshLetter } from "./store.ts";

const dayMs = 24 * 3_600_000;
export const pollEveryMs = dayMs;
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
  const known = await findLetter(db, letterId);
  if (!known || !providers.has("lob")) return;
  const answer = await createLob(providers.callOf("lob")).get(letterId);
  const at = clock();
  const isOver = await withLetter(deps, letterId, async (tx, order, letter) => {
    const said = answer.kind === "done" ? answer.result : undefined;
    if (said) await refreshLetter(tx, letter.id, said);
    await applyNews(deps, tx, order, refreshed(letter, said), newsOf(said, at));
    const { progress } = (await findLetter(tx, letterId)) ?? letter;
    // An order on hold goes on by it later.
    if (isFinal(stageOf(progress))) return order.status !== "OnHold";
    if (at.getTime() - letter.acceptedAt.getTime() < mostPollMs) return false;
    const reason = `Nothing was heard of the letter ${letterId} to its end: ask the post or Lob.`;
    const task = {
      kind: "delivery_trouble",
      at,
      environment: "live",
      orderId: order.id,
      subject: letterId,
      reason,
    } as const;
    await tx.query(openTask(task));
    return true;
  });
  if (!isOver) await enqueue(db, pollQueue, { letterId }, new Date(at.getTime() + pollEveryMs));
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
