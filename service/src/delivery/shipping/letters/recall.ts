import { minuteMs } from "../../../kernel/platform/clock.ts";
import type { Tx } from "../../../kernel/platform/database/database.ts";
import { enqueue } from "../../../kernel/platform/jobs/jobs.ts";
import { type LockedOrder, lockOrder, lockOrderById } from "../../../orders/order/order.ts";
import { type Act, createLob, type Intent } from "../../../providers/providers.ts";
import { openTrouble } from "../../trouble.ts";
import { type LetterDeps, mailQueue } from "./deps.ts";
import { applyReports, closePrinting } from "./follow.ts";
import { stageOf } from "./progress.ts";
import {
  asDelivery,
  currentLetter,
  findLetter,
  type Letter,
  letterActs,
  lettersOfOrder,
  markRecalled,
} from "./store.ts";

const lookAfterMs = 2 * minuteMs;

type Recalled = { letterId: string; orderCode: string };
const recalledOf = (intent: Intent): Recalled => intent.payload as Recalled;

/** Asks Lob to cancel letters that the order no longer needs and that are not mailed yet. */
async function recallLetters(deps: LetterDeps, tx: Tx, order: LockedOrder): Promise<void> {
  for (const letter of await lettersOfOrder(tx, order.id)) await recallWhereUnwanted(deps, tx, order, letter);
}

/**
 * Asks Lob to cancel a letter if it isn't mailed yet and its order no longer needs it. The caller must have locked the
 * order's row.
 */
export async function recallWhereUnwanted(deps: LetterDeps, tx: Tx, order: LockedOrder, letter: Letter): Promise<void> {
  if (letter.recalledAt || stageOf(letter.progress) !== "accepted") return;
  if (await isWanted(tx, order, letter)) return;
  const at = deps.clock();
  const { id: orderId, code: orderCode } = order;
  const { letterId } = letter;
  const { nextCancel: attempt } = await letterActs(tx, orderId);
  await markRecalled(tx, letter.id, at);
  const payload: Recalled = { letterId, orderCode };
  await deps.providers.intend(tx, {
    act: "letter.cancel",
    provider: "lob",
    orderId,
    attempt,
    payload,
    at,
    isBeside: true,
  });
}

/** True if the order still needs this letter. */
async function isWanted(tx: Tx, order: LockedOrder, letter: Letter): Promise<boolean> {
  if (["OnHold", "RefundPending", "Refunded", "Cancelled", "ShippingFailed"].includes(order.status)) return false;
  return (await currentLetter(tx, order.id))?.id === letter.id;
}

/** The request that cancels a letter at Lob. */
export const cancelAct = (deps: LetterDeps): Act<null> => ({
  name: "letter.cancel",
  provider: "lob",
  byHand: null,
  lookAfterMs,
  async wanted(tx, intent) {
    const letter = await findLetter(tx, recalledOf(intent).letterId);
    return letter !== undefined && stageOf(letter.progress) === "accepted";
  },
  async perform(intent, call) {
    const outcome = await createLob(call).cancel(recalledOf(intent).letterId);
    // A 404 may mean that the letter is already canceled. After `unknown`, a look-up finds out whether that is so.
    return outcome.kind === "refused" && outcome.status === 404 ? { kind: "unknown", why: outcome.why } : outcome;
  },
  async lookUp(intent, call) {
    const letter = await createLob(call).get(recalledOf(intent).letterId);
    // Lob has no letter with this id, so it won't print one.
    if (letter.kind === "refused" && letter.status === 404) return { kind: "done", result: null };
    if (letter.kind !== "done") return { kind: "unclear", why: letter.why };
    return letter.result.isCanceled ? { kind: "done", result: null } : { kind: "not_done" };
  },
  resultOf: () => null,
  async settled(tx, intent, end) {
    const { letterId, orderCode } = recalledOf(intent);
    const order = await lockOrder(tx, orderCode);
    const letter = await findLetter(tx, letterId);
    if (!order || !letter || end.kind === "unclear") return;
    if (end.kind === "done") {
      await applyReports(deps, tx, order, letter, [{ what: "cancelled", at: deps.clock(), words: "cancelled" }]);
    } else if (stageOf(letter.progress) === "accepted") {
      // In any later stage, the letter was mailed or canceled already, and staff know about it.
      await keepLetter(deps, tx, order, letter, end.why);
    }
    // The order may need another letter: a hold may have ended before the cancellation, or the order is being shipped
    // again. The queued job checks whether this is so.
    await enqueue(tx, mailQueue, { orderId: order.id });
  },
});

/** Records that a letter was not canceled. Tells staff, unless the order needs the letter again. */
async function keepLetter(deps: LetterDeps, tx: Tx, order: LockedOrder, letter: Letter, why: string): Promise<void> {
  const at = deps.clock();
  await markRecalled(tx, letter.id, null);
  if (await isWanted(tx, order, letter)) return closePrinting(tx, order.id, at);
  // The request may never have reached Lob. So the text doesn't claim that it is too late to cancel: only Lob's own
  // words in `why`, if any, can say so.
  const reason = `The letter ${letter.letterId} is not cancelled (${why}). Lob will mail it, unless somebody can still cancel it there.`;
  await openTrouble(tx, asDelivery(letter), at, reason);
}

/** Runs `recallLetters` for a job. */
export const recallOrder = (deps: LetterDeps, orderId: number): Promise<void> =>
  deps.db.transaction(async (tx) => {
    const order = await lockOrderById(tx, orderId);
    if (order) await recallLetters(deps, tx, order);
  });
