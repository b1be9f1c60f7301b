/** Mails firms about cards that expire soon, and stores the new facts of cards that a bank has renewed. */
import { auditLine } from "../../../kernel/audit/audit.ts";
import type { Clock } from "../../../kernel/platform/clock.ts";
import type { Database, Tx } from "../../../kernel/platform/database/database.ts";
import { isAltered } from "../../../kernel/platform/database/state-mac.ts";
import type { Log } from "../../../kernel/platform/logs.ts";
import type { CardMessage } from "../processor/message.ts";
import * as store from "../records/methods.ts";
import { notifyOwners } from "./methods.ts";

/**
 * Handles a signed event about a card that a bank has renewed. The card keeps its id at the processor.
 * @returns false for a card that no firm uses
 */
export async function applyCard(
  tx: Tx,
  { method, brand, last4, expires }: CardMessage,
  { at, actor }: { at: Date; actor: string },
): Promise<boolean> {
  let isOnFile = false;
  for (const { id, partnerId, environment, kind } of await store.methodsNamed(tx, method)) {
    if (kind !== "card" || !(await store.renewCard(tx, id, { brand, last4, expires }))) continue;
    isOnFile = true;
    const detail = { method: id, environment, last4, expires };
    await tx.query(auditLine({ at, action: "payment_method.renewed", actor, partnerId, detail }));
  }
  return isOnFile;
}

/**
 * Mails a firm's owners in the last month of its card, once for each card and expiry. Logs and skips a card that was
 * altered in the database.
 */
export async function watchCards({ db, clock, log }: { db: Database; clock: Clock; log: Log }): Promise<void> {
  const month = store.monthOf(clock());
  for (const { id } of await store.cardsExpiringIn(db, month))
    try {
      await db.transaction(async (tx) => {
        const method = await store.selectMethod(tx, id);
        if (method && (await store.markExpiryNotified(tx, id, month))) await notifyOwners(tx, method, "expiring");
      });
    } catch (error) {
      if (!isAltered(error)) throw error;
      log.error({ method: id }, "a payment method of a firm was altered in the database");
    }
}
