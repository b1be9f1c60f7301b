import type { Taker } from "../../fulfilment/fulfilment.ts";
import { enqueue, type Jobs } from "../../platform/jobs/jobs.ts";
import { actor, type LetterDeps, mailQueue, pollQueue } from "./deps.ts";
import { moveByLetter, sentByLob } from "./follow.ts";
import { intendLetter } from "./intend-letter.ts";
import { letterEvents, pollLetter } from "./listen.ts";
import { cancelAct } from "./recall.ts";
import { mailReceipt } from "./receipt.ts";
import { sendAct } from "./send-act.ts";
import { currentLetter, letterActs } from "./store.ts";

export { type LetterOnRecord, lettersOnRecord, requireNoLetter } from "./on-record.ts";
export { recallOrder } from "./recall.ts";

/** Sets the acts, the handler of events and the jobs of letters. @returns who takes orders on; null without an account */
export function openLetters(jobs: Jobs, deps: LetterDeps): Taker | null {
  const { providers, receipts } = deps;
  providers.defineAct(sendAct(deps));
  providers.defineAct(cancelAct(deps));
  providers.onEvent("lob", letterEvents(deps));
  receipts.register("mail_receipt", mailReceipt);
  jobs.work<{ orderId: number }>(mailQueue, ({ orderId }) => intendLetter(deps, orderId));
  jobs.work<{ letterId: string }>(pollQueue, ({ letterId }) => pollLetter(deps, letterId));
  return deps.mailClass === null ? null : letterTaker(deps);
}

/** The task stays open until the letter begins to be sent: a person may still claim it. */
const letterTaker = (deps: LetterDeps): Taker => ({
  kind: "packet_print",
  actor,
  async take(tx, order) {
    const { isUnderWay, isSending } = await letterActs(tx, order.id);
    // Nobody prints what may be on its way; if it is not, its end opens the task again.
    if (isSending) return { outcome: "being sent by Lob" };
    if (isUnderWay) return "beside";
    const letter = await currentLetter(tx, order.id);
    if (!letter) {
      await enqueue(tx, mailQueue, { orderId: order.id });
      return "beside";
    }
    // It was on hold, and its letter went on.
    await moveByLetter(deps, tx, order, letter);
    return { outcome: sentByLob };
  },
});
