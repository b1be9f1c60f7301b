/**
 * Methods that can't be charged any more. The processor ends the mandate after a debit is returned as unauthorized, or
 * after the payer withdraws the permission. Each further debit would be refused, or returned again at a fee.
 */
import { lockMembers } from "../../../firms/members/members.ts";
import { auditLine } from "../../../kernel/audit/audit.ts";
import type { Clock } from "../../../kernel/platform/clock.ts";
import type { Database, Tx } from "../../../kernel/platform/database/database.ts";
import { isAltered } from "../../../kernel/platform/database/state-mac.ts";
import type { Log } from "../../../kernel/platform/logs.ts";
import type { MandateMessage } from "../processor/message.ts";
import { methodsOfIntent } from "../records/charges.ts";
import type { Dispute } from "../records/disputes.ts";
import {
  accountChange,
  endUse,
  methodsElsewhere,
  methodsNamed,
  type PaymentMethod,
  selectMethod,
  updateMethod,
} from "../records/methods.ts";
import { notifyOwners } from "./methods.ts";

type Reason = "mandate_ended" | "debit_returned" | "refused_by_bank" | "account_changed";
type By = { at: Date; actor: string };

/**
 * Handles a signed event that the permission to debit a bank account has ended. Cards have mandates, too, but are
 * charged without them.
 * @returns false for a bank account that no firm has on file
 */
export async function applyMandate(tx: Tx, { method }: MandateMessage, by: By): Promise<boolean> {
  const methods = (await methodsNamed(tx, method)).filter(({ kind }) => kind === "bank");
  for (const each of methods) await becomeUnusable(tx, each, "mandate_ended", by);
  return methods.length > 0;
}

/**
 * If a firm's bank account made the disputed payment, ends the use of that account for further charges. A disputed card
 * stays in use, and so does a bank account whose dispute was decided for the service.
 * @param state the dispute's state after all events that have arrived so far
 */
export async function applyReturnedDebit(
  tx: Tx,
  { paymentIntent, state }: Pick<Dispute, "paymentIntent" | "state">,
  by: By,
): Promise<void> {
  if (state === "won") return;
  for (const method of await methodsOfIntent(tx, paymentIntent))
    if (method.kind === "bank") await becomeUnusable(tx, method, "debit_returned", by);
}

/**
 * The processor's refusal codes with a lasting reason: every later debit of the same bank account would get the same
 * code.
 */
const lasting: ReadonlySet<string> = new Set([
  "account_closed",
  "no_account",
  "invalid_account_number",
  "debit_not_authorized",
  "bank_account_restricted",
  "bank_account_unusable",
  "payment_method_bank_account_blocked",
  "payment_intent_mandate_invalid",
]);

/** After a debit failed: ends the use of its bank account if the reason is a lasting one. */
export async function applyFailedDebit(
  tx: Tx,
  method: PaymentMethod | undefined,
  reason: string | null,
  by: By,
): Promise<void> {
  if (method?.kind === "bank" && reason !== null && lasting.has(reason))
    await becomeUnusable(tx, method, "refused_by_bank", by);
}

/**
 * Ends the use of all cards and bank accounts that were added to an earlier processor account. Safe to repeat. Logs and
 * skips a method that was altered in the database.
 */
export async function leaveMethods({ db, clock, log }: { db: Database; clock: Clock; log: Log }): Promise<void> {
  for (const { id } of await methodsElsewhere(db))
    await db
      .transaction((tx) => leaveMethod(tx, id, clock()))
      .catch((error: unknown) => {
        if (!isAltered(error)) throw error;
        log.error({ method: id }, "a payment method of a firm was altered in the database");
      });
}

async function leaveMethod(tx: Tx, id: string, at: Date): Promise<void> {
  const found = await selectMethod(tx, id);
  if (!found) return;
  await lockMembers(tx, found.partnerId);
  const method = await selectMethod(tx, id);
  if (method?.state === "active") return becomeUnusable(tx, method, "account_changed", { at, actor: "system" });
  if (method?.state !== "verifying") return;
  await updateMethod(tx, id, { state: "failed" });
  await notifyOwners(tx, method, "failed");
}

/** Ends the use of a method, and mails the owners. Only an active method becomes unusable, so they are mailed once. */
async function becomeUnusable(tx: Tx, method: PaymentMethod, reason: Reason, { at, actor }: By): Promise<void> {
  const { id, partnerId, environment, kind, last4 } = method;
  if (!(await endUse(tx, id, reason === "account_changed" ? accountChange : null))) return;
  const detail = { method: id, environment, kind, last4, reason };
  await tx.query(auditLine({ at, action: "payment_method.unusable", actor, partnerId, detail }));
  await notifyOwners(tx, method, "unusable");
}
