import type { Sql, Tx } from "../../../kernel/platform/database/database.ts";
import { ServiceError } from "../../../kernel/platform/errors.ts";
import { enqueue, type Jobs } from "../../../kernel/platform/jobs/jobs.ts";
import type { Taker } from "../../../orders/fulfilment/fulfilment.ts";
import type { LockedOrder, PeopleEvent } from "../../../orders/order/order.ts";
import type { SearchMethod } from "../../../orders/search/search.ts";
import { eventsAbout, type MailClass } from "../../../providers/providers.ts";
import type { ReceiptSource, Receipts } from "../../receipts/receipts.ts";
import { actor, type LetterDeps, mailQueue, pollQueue } from "./deps.ts";
import { moveByLetter, sentByLob } from "./follow.ts";
import { intendLetter } from "./intend-letter.ts";
import { letterEvents, pollLetter } from "./listen.ts";
import { type LetterStage, mailedAt, stageOf } from "./progress.ts";
import { cancelAct } from "./recall.ts";
import { sendAct } from "./send-act.ts";
import { currentLetter, type Letter, letterActs, lettersOfOrder, lettersTrackedBy } from "./store.ts";

export { recallOrder } from "./recall.ts";

/** Finds orders by the tracking number of a letter, even before the letter is mailed. */
export const letterSearch: SearchMethod = ({ kind, text }) => (kind === "words" ? lettersTrackedBy(text) : null);

/**
 * Registers the acts, event handler and jobs of letters.
 * @returns the provider that does printing tasks instead of people; null without an account
 */
export function openLetters(jobs: Jobs, deps: LetterDeps, receipts: Receipts): Taker | null {
  const { providers } = deps;
  providers.defineAct(sendAct(deps));
  providers.defineAct(cancelAct(deps));
  providers.onEvent("lob", letterEvents(deps));
  receipts.register("mail_receipt", mailReceipt);
  jobs.work<{ orderId: number }>(mailQueue, ({ orderId }) => intendLetter(deps, orderId));
  jobs.work<{ letterId: string }>(pollQueue, ({ letterId }) => pollLetter(deps, letterId));
  return deps.planning.mailClass === null ? null : letterTaker(deps);
}

/**
 * The provider that mails documents as letters. The task for staff stays open until the request to Lob begins, so that
 * a person may still claim it.
 */
const letterTaker = (deps: LetterDeps): Taker => ({
  kind: "packet_print",
  actor,
  async accept(tx, order) {
    const { isUnderWay, isSending } = await letterActs(tx, order.id);
    // While the outcome of the request is unknown, Lob may be mailing the letter, so staff must not print it too. If
    // the look-up finds that the letter was not sent, the task is opened again.
    if (isSending) return { outcome: "being sent by Lob" };
    if (isUnderWay) return "taskStaysOpen";
    const letter = await currentLetter(tx, order.id);
    if (!letter) {
      await enqueue(tx, mailQueue, { orderId: order.id });
      return "taskStaysOpen";
    }
    // The letter may have been mailed or delivered while the order was on hold.
    await moveByLetter(deps, tx, order, letter);
    return { outcome: sentByLob };
  },
});

/** A letter as the operator's pages show it. */
export type LetterOnRecord = Pick<
  Letter,
  "letterId" | "pages" | "doubleSided" | "trackingNumber" | "expectedDelivery" | "acceptedAt"
> & { className: string; stage: LetterStage; mailedAt: Date | null; endedAt: Date | null };

/** The letters that Lob accepted for an order, oldest first. */
export async function lettersOnRecord(db: Sql, orderId: number): Promise<LetterOnRecord[]> {
  const letters = await lettersOfOrder(db, orderId);
  return letters.map(({ mailClass, progress, ...letter }) => {
    const stage = stageOf(progress);
    const endedAt = stage === "accepted" || stage === "mailed" ? null : (progress[stage] ?? null);
    return { ...letter, className: mailClassNames[mailClass], stage, mailedAt: mailedAt(progress), endedAt };
  });
}

/**
 * Prevents staff from shipping a document that Lob is also mailing.
 * @throws ServiceError `conflict` while Lob has a letter that is not mailed yet
 */
export async function requireNoLetter(tx: Tx, { id }: LockedOrder, on: PeopleEvent): Promise<void> {
  const letter = on === "shipped" ? await currentLetter(tx, id) : undefined;
  if (letter && stageOf(letter.progress) === "accepted")
    throw new ServiceError(
      "conflict",
      `Lob has the letter ${letter.letterId}: its first scan changes the order’s status. To cancel the letter, put the order on hold.`,
    );
}

const mailClassNames: Readonly<Record<MailClass, string>> = {
  certified: "USPS Certified Mail",
  certified_return_receipt: "USPS Certified Mail with electronic return receipt",
  standard: "USPS First-Class Mail",
};

const certified =
  "Lob reports that it printed and mailed the document named below, and that the United States Postal Service recorded its delivery.";
const sentences: Readonly<Record<MailClass, string>> = {
  certified,
  certified_return_receipt: certified,
  standard:
    "Lob reports that it printed and mailed the document named below. First-Class Mail has no proof of delivery. The time of delivery is the carrier’s estimate, as Lob reports it.",
};

/** The content of a delivered letter's receipt. */
export const mailReceipt: ReceiptSource = async (db, orderId, subject) => {
  const letter = (await lettersOfOrder(db, orderId)).find(({ id }) => id === subject);
  const delivered = letter?.progress.delivered;
  // A letter that was returned after its delivery gets no receipt of delivery.
  if (!delivered || stageOf(letter.progress) !== "delivered") return null;
  const { mailClass, letterId, trackingNumber, docSha256, pages, doubleSided, acceptedAt, progress } = letter;
  const mailed = mailedAt(progress);
  return {
    title: "Receipt of mailing",
    sentence: sentences[mailClass],
    rows: [
      ["Class", mailClassNames[mailClass]],
      ...(trackingNumber === null ? [] : [["Tracking number", trackingNumber] as const]),
      ["Letter at Lob", letterId],
      ["Pages", `${pages}, printed on ${doubleSided ? "both sides" : "one side"}`],
      ["Document SHA-256", docSha256],
      ["Accepted by Lob", acceptedAt.toISOString()],
      ...(mailed === null ? [] : [["Mailed", mailed.toISOString()] as const]),
      [mailClass === "standard" ? "Delivered (estimate)" : "Delivered", delivered.toISOString()],
    ],
    events: await eventsAbout(db, "lob", letterId, "letter.%"),
  };
};
