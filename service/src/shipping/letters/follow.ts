import { perform } from "../../fulfilment/fulfilment.ts";
import { type LockedOrder, lockOrder } from "../../orders/orders.ts";
import type { Tx } from "../../platform/database/database.ts";
import { sql } from "../../platform/database/sql.ts";
import { enqueueReceipt } from "../../receipts/receipts.ts";
import { closeTasks, openTask } from "../../tasks/tasks.ts";
import { actor, type LetterDeps } from "./deps.ts";
import { type Happening, isFinal, type LetterProgress, mailedAt, stageOf, withHappening } from "./progress.ts";
import { findLetter, keepProgress, type Letter, standingLetter } from "./store.ts";

/** Something that happened to a letter, as Lob says it. */
export type News = { what: Happening; at: Date; words: string };

/** Works on a letter with its order's row locked. @returns undefined for a letter that is on nobody's record */
export async function withLetter<T>(
  { db }: Pick<LetterDeps, "db">,
  letterId: string,
  work: (tx: Tx, order: LockedOrder, letter: Letter) => Promise<T>,
): Promise<T | undefined> {
  return db.transaction(async (tx) => {
    const [found] = await tx.query<{ code: string }>(sql`
      SELECT o.code FROM letters l JOIN orders o ON o.id = l.order_id WHERE l.letter_id = ${letterId}`);
    const order = found && (await lockOrder(tx, found.code));
    const letter = order && (await findLetter(tx, letterId));
    return letter && work(tx, order, letter);
  });
}

/** Keeps what happened to a letter, and moves its order by it. @returns whether any of it was new */
export async function applyNews(
  deps: LetterDeps,
  tx: Tx,
  order: LockedOrder,
  letter: Letter,
  news: readonly News[],
): Promise<boolean> {
  const before = letter.progress;
  const progress = news.reduce<LetterProgress>((known, { what, at }) => withHappening(known, what, at), before);
  if (progress !== before) await keepProgress(tx, letter.id, progress);
  const known = { ...letter, progress };
  await tellPeople(deps, tx, order, letter, known, news);
  if (progress.delivered && !before.delivered)
    await enqueueReceipt(tx, { orderId: order.id, kind: "mail_receipt", subject: letter.id });
  await moveByLetter(deps, tx, order, known);
  return progress !== before;
}

/** Moves an order to where its letter is; one that is elsewhere by now is left there. */
export async function moveByLetter(deps: LetterDeps, tx: Tx, order: LockedOrder, letter: Letter): Promise<void> {
  if ((await standingLetter(tx, order.id))?.id !== letter.id) return;
  const by = { actor, at: deps.clock(), log: deps.log };
  const stage = stageOf(letter.progress);
  let at = order;
  if (at.status === "ShippingPending" && mailedAt(letter.progress))
    at = (await perform(tx, at, "shipped", carriageOf(letter), by)).order;
  if (at.status === "Shipped" && stage === "delivered") await perform(tx, at, "delivered", {}, by);
  const reason = failureOf(letter);
  if (reason !== null && (at.status === "ShippingPending" || at.status === "Shipped"))
    await perform(tx, at, "shipping_failed", { reason }, by);
}

const carriageOf = ({ mailClass, trackingNumber, letterId }: Letter) => ({
  carrier: mailClass === "standard" ? "USPS First-Class Mail" : "USPS Certified Mail",
  trackingNumber: trackingNumber ?? letterId,
});

/** Why a letter will not arrive; null while it may. A letter that the house itself had cancelled is no failure. */
function failureOf({ letterId, progress, recalledAt }: Letter): string | null {
  const stage = stageOf(progress);
  if (stage === "returned") return `The post returns the letter ${letterId} to its sender.`;
  if (stage === "failed") return `Lob could not print or mail the letter ${letterId}.`;
  if (stage === "cancelled" && !recalledAt) return `The letter ${letterId} was cancelled at Lob.`;
  return null;
}

/** A task for what somebody has to look after, until the letter has ended. */
async function tellPeople(
  deps: LetterDeps,
  tx: Tx,
  { id: orderId }: LockedOrder,
  { letterId, progress: before }: Letter,
  { progress, recalledAt, trackingNumber }: Letter,
  news: readonly News[],
): Promise<void> {
  const at = deps.clock();
  const which = { orderId, kinds: ["delivery_trouble"], subject: letterId } as const;
  if (isFinal(stageOf(progress))) {
    if (stageOf(before) !== stageOf(progress))
      await tx.query(closeTasks(which, { state: "done", at, by: actor, outcome: stageOf(progress) }));
    return;
  }
  const trouble = news.find(({ what }) => (what === "trouble" || what === "rerouted") && !before[what]);
  const isPastRecall = recalledAt !== null && mailedAt(progress) !== null && mailedAt(before) === null;
  if (!trouble && !isPastRecall) return;
  const reason = trouble
    ? `The post says of the letter ${trackingNumber ?? letterId}: ${trouble.words}.`
    : `The letter ${letterId} was mailed before it could be cancelled.`;
  const subject = letterId;
  await tx.query(openTask({ kind: "delivery_trouble", at, environment: "live", orderId, subject, reason }));
}

/** The letter goes on its way: nobody prints another. */
export async function closePrinting(tx: Tx, orderId: number, at: Date): Promise<void> {
  const end = { state: "done", at, by: actor, outcome: sentByLob } as const;
  await tx.query(closeTasks({ orderId, kinds: ["packet_print"] }, end));
}

export const sentByLob = "sent by Lob";
