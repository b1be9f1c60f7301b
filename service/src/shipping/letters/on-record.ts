import type { LockedOrder, PeopleEvent } from "../../orders/orders.ts";
import type { Sql, Tx } from "../../platform/database/database.ts";
import { ServiceError } from "../../platform/errors.ts";
import { type LetterStage, mailedAt, stageOf } from "./progress.ts";
import { mailClassNames } from "./receipt.ts";
import { currentLetter, type Letter, lettersOfOrder } from "./store.ts";

/** A letter as an operator sees it. */
export type LetterOnRecord = Pick<
  Letter,
  "letterId" | "pages" | "doubleSided" | "trackingNumber" | "expectedDelivery" | "acceptedAt"
> & { className: string; stage: LetterStage; mailedAt: Date | null; endedAt: Date | null };

/** The letters that Lob accepted for an order, the first attempt first. */
export async function lettersOnRecord(db: Sql, orderId: number): Promise<LetterOnRecord[]> {
  const letters = await lettersOfOrder(db, orderId);
  return letters.map(({ mailClass, progress, ...letter }) => {
    const stage = stageOf(progress);
    const endedAt = stage === "accepted" || stage === "mailed" ? null : (progress[stage] ?? null);
    return { ...letter, className: mailClassNames[mailClass], stage, mailedAt: mailedAt(progress), endedAt };
  });
}

/** By hand or by Lob, never both. @throws ServiceError `conflict` while a letter waits to be mailed */
export async function requireNoLetter(tx: Tx, { id }: LockedOrder, on: PeopleEvent): Promise<void> {
  const letter = on === "shipped" ? await currentLetter(tx, id) : undefined;
  if (letter && stageOf(letter.progress) === "accepted")
    throw new ServiceError(
      "conflict",
      `Lob has the letter ${letter.letterId}: its first scan moves the order. A hold has it cancelled.`,
    );
}
