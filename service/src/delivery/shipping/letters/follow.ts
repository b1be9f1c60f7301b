import type { Tx } from "../../../kernel/platform/database/database.ts";
import { sql } from "../../../kernel/platform/database/sql.ts";
import { closeTasks } from "../../../kernel/tasks/tasks.ts";
import { perform } from "../../../orders/fulfilment/fulfilment.ts";
import { joinOrder, type LockedOrder, lockOrder } from "../../../orders/order/order.ts";
import { enqueueReceipt } from "../../receipts/receipts.ts";
import { closeTrouble, openTrouble } from "../../trouble.ts";
import { actor, type LetterDeps } from "./deps.ts";
import { type Happening, isFinal, type LetterProgress, mailedAt, stageOf, withHappening } from "./progress.ts";
import { asDelivery, findLetter, keepProgress, type Letter, shippingLetter } from "./store.ts";

/** One report about a letter, from an event, a poll or this service. */
export type LetterReport = { what: Happening; at: Date; words: string };

/**
 * Locks the row of a letter's order, then passes the order and the letter to the caller's function.
 * @returns undefined for an unknown letter
 */
export async function withLetter<T>(
  { db }: Pick<LetterDeps, "db">,
  letterId: string,
  work: (tx: Tx, order: LockedOrder, letter: Letter) => Promise<T>,
): Promise<T | undefined> {
  return db.transaction(async (tx) => {
    const [found] = await tx.query<{ code: string }>(sql`
      SELECT o.code AS "code@order" FROM letters l ${joinOrder(sql`l.order_id`)} WHERE l.letter_id = ${letterId}`);
    const order = found && (await lockOrder(tx, found.code));
    const letter = order && (await findLetter(tx, letterId));
    return letter && work(tx, order, letter);
  });
}

/**
 * Records reports on a letter, and moves its order accordingly.
 * @returns whether any report was new
 */
export async function applyReports(
  deps: LetterDeps,
  tx: Tx,
  order: LockedOrder,
  letter: Letter,
  reports: readonly LetterReport[],
): Promise<boolean> {
  const before = letter.progress;
  const progress = reports.reduce<LetterProgress>((soFar, { what, at }) => withHappening(soFar, what, at), before);
  if (progress !== before) await keepProgress(tx, letter.id, progress);
  const updated = { ...letter, progress };
  const moved = await moveByLetter(deps, tx, order, updated);
  await tellPeople(tx, { order, moved, letter: updated, before, reports, at: deps.clock() });
  if (stageOf(progress) === "delivered" && !before.delivered)
    await enqueueReceipt(tx, { orderId: order.id, kind: "mail_receipt", subject: letter.id });
  return progress !== before;
}

/**
 * Moves an order to the status that fits its letter, unless the order's status doesn't allow that move any more.
 * @returns the order afterwards; null when the order's shipping does not depend on this letter
 */
export async function moveByLetter(
  deps: LetterDeps,
  tx: Tx,
  order: LockedOrder,
  letter: Letter,
): Promise<LockedOrder | null> {
  if ((await shippingLetter(tx, order.id))?.id !== letter.id) return null;
  const by = { actor, at: deps.clock(), log: deps.log };
  const stage = stageOf(letter.progress);
  let at = order;
  if (at.status === "ShippingPending" && mailedAt(letter.progress))
    at = (await perform(tx, at, "shipped", carriageOf(letter), by)).order;
  if (at.status === "Shipped" && stage === "delivered") at = (await perform(tx, at, "delivered", {}, by)).order;
  const reason = failureOf(letter);
  if (reason !== null && (at.status === "ShippingPending" || at.status === "Shipped"))
    at = (await perform(tx, at, "shipping_failed", { reason }, by)).order;
  return at;
}

const carriageOf = ({ mailClass, trackingNumber, letterId }: Letter) => ({
  carrier: mailClass === "standard" ? "USPS First-Class Mail" : "USPS Certified Mail",
  trackingNumber: trackingNumber ?? letterId,
});

/**
 * The reason why the letter won't reach the recipient. Null while the letter may still arrive, and for a letter that
 * this service canceled.
 */
function failureOf({ letterId, progress, recalledAt }: Letter): string | null {
  const stage = stageOf(progress);
  if (stage === "returned") return `The post returns the letter ${letterId} to its sender.`;
  if (stage === "failed") return `Lob could not print or mail the letter ${letterId}.`;
  if (stage === "cancelled" && !recalledAt) return `The letter ${letterId} was cancelled at Lob.`;
  return null;
}

type Followed = {
  /**
   * The order before the reports changed it. `moved`: the order afterwards; null when its shipping does not depend on
   * this letter.
   */
  order: LockedOrder;
  moved: LockedOrder | null;
  letter: Letter;
  before: LetterProgress;
  reports: readonly LetterReport[];
  at: Date;
};

/**
 * Opens a task when staff must look into a report. Closes the earlier task about the letter when the letter's state
 * becomes final and the order's status or a new task shows that state. A cancellation always closes the earlier task.
 */
async function tellPeople(tx: Tx, followed: Followed): Promise<void> {
  const { moved, letter, before, at } = followed;
  const stage = stageOf(letter.progress);
  const reason = troubleOf(followed);
  const isShown = moved !== null && !gone.has(moved.status);
  const hasEnded = isFinal(stage) && stageOf(before) !== stage;
  // A task has one reason. So the earlier task is closed before one with a new reason is opened.
  if (hasEnded && (reason !== null || isShown || stage === "cancelled"))
    await closeTrouble(tx, asDelivery(letter), { at, by: actor, outcome: stage });
  if (reason !== null) await openTrouble(tx, asDelivery(letter), at, reason);
}

/** Statuses of an order that no longer needs its letter. */
const gone: ReadonlySet<string> = new Set(["OnHold", "RefundPending", "Refunded", "Cancelled"]);

/** The reason for a task: a new report that the order's status doesn't show; null for none. */
function troubleOf({ order, moved, letter, before, reports }: Followed): string | null {
  const { letterId, progress, recalledAt, trackingNumber } = letter;
  const stage = stageOf(progress);
  if (stage !== stageOf(before) && (stage === "returned" || stage === "failed")) {
    const hasFailed = moved?.status === "ShippingFailed" && order.status !== "ShippingFailed";
    return hasFailed ? null : `${failureOf(letter)} The order is ${order.status}.`;
  }
  const isNew = (what: Happening): boolean => progress[what] !== undefined && before[what] === undefined;
  const isMailed = mailedAt(progress) !== null && mailedAt(before) === null;
  if (moved === null && isNew("delivered"))
    return `The letter ${letterId} was delivered, though the order waits for it no more.`;
  if (moved === null && isMailed) return `The letter ${letterId} was mailed, though the order waits for it no more.`;
  if (isFinal(stage)) return null;
  const trouble = reports.find(({ what }) => (what === "trouble" || what === "rerouted") && isNew(what));
  if (trouble) return `The carrier reports about the letter ${trackingNumber ?? letterId}: ${trouble.words}.`;
  return recalledAt && isMailed ? `The letter ${letterId} was mailed before it could be canceled.` : null;
}

/** Closes the printing task once the letter is on its way. */
export async function closePrinting(tx: Tx, orderId: number, at: Date): Promise<void> {
  const end = { state: "done", at, by: actor, outcome: sentByLob } as const;
  await closeTasks(tx, { orderId, kinds: ["packet_print"] }, end);
}

export const sentByLob = "sent by Lob";
