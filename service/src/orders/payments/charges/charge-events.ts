/** Events and mails about charges of a firm's card or bank account. */
import { ownersWhoSee } from "../../../firms/members/members.ts";
import type { Tx } from "../../../kernel/platform/database/database.ts";
import { enqueue } from "../../../kernel/platform/jobs/jobs.ts";
import { closeTasks, type TaskEnd } from "../../../kernel/tasks/tasks.ts";
import { reportUnpaid } from "../debts/unpaid.ts";
import { type ChargeMoment, chargeMailQueue } from "../mails/charge-mail.ts";
import { detachQueue } from "../methods/methods.ts";
import { applyFailedDebit } from "../methods/unusable.ts";
import type { SessionMessage } from "../processor/message.ts";
import * as store from "../records/charges.ts";
import { selectMethod } from "../records/methods.ts";
import { tellOfWaiting, waitsForOwner } from "./waiting.ts";

/**
 * Updates the charges of a payment after a signed event about it. The caller has locked their orders, and applies the
 * event to them.
 * @returns the state of the charges before the event; undefined for an unknown payment. If a person ended the charges
 * and the event now reports their failure, returns `pending`, because the orders have not moved yet.
 */
export async function applyCharge(
  tx: Tx,
  { chargeId, kind, paymentIntent, reason }: SessionMessage,
  { at, actor }: { at: Date; actor: string },
): Promise<store.ChargeState | undefined> {
  const charges = chargeId === null ? [] : await store.chargesOfPayment(tx, chargeId);
  const [first] = charges;
  if (!first) return undefined;
  const { state: before } = first;
  const state = kind === "cleared" ? "succeeded" : kind === "pending" ? "pending" : "failed";
  // Events arrive late and in any order. A success is final. After a failure, only a success changes the charge.
  const isOver = before === "succeeded" || (before === "failed" && kind !== "cleared");
  if (isOver || (state === "pending" && (before === "declined" || before === "refused")))
    return before === "failed" && kind === "failed" && first.reason === store.endedByPerson ? "pending" : before;
  // If this service canceled the payment, the event has no reason, so the stored reason stays.
  const why = state === "failed" ? (reason ?? first.reason) : null;
  await store.updateCharges(tx, charges, { state, at, paymentIntent, reason: why });
  // A removed method is deleted at the processor once its charge has ended. For a failed charge, `notify` queues this.
  if (state === "succeeded") await enqueue(tx, detachQueue, { id: first.methodId });
  if (state === "failed") await applyFailedDebit(tx, await selectMethod(tx, first.methodId), reason, { at, actor });
  if (state !== "pending") await endChargeTasks(tx, charges, { state: "done", at, by: actor, outcome: state });
  if (state === "failed" && before !== "declined") await notify(tx, charges, "failed", at);
  if (state === "pending" && before !== "pending") await notify(tx, charges, "pending", at);
  return before;
}

/** Closes the task about an overdue payment. */
export const endChargeTasks = (tx: Tx, charges: readonly store.FirmCharge[], end: TaskEnd): Promise<void> =>
  closeTasks(tx, { orderId: charges.map(({ orderId }) => orderId), kinds: ["firm_charge"] }, end);

/**
 * Mails the firm's owners, and the member who requested the payment, about all of its orders at once. If the payment
 * waits for an owner, only owners get a mail, which covers all payments that wait. For postage that was not charged,
 * also opens a task, because the parcel waits. After a refusal or failure, queues the deletion of a removed method at
 * the processor.
 */
export async function notify(
  tx: Tx,
  charges: readonly store.FirmCharge[],
  moment: ChargeMoment,
  at: Date,
): Promise<void> {
  const [first] = charges;
  if (!first) return;
  const isOver = moment === "refused" || moment === "failed";
  if (isOver && first.methodId !== null) await enqueue(tx, detachQueue, { id: first.methodId });
  for (const charge of isOver ? charges : []) {
    const { supplementId, amountCents } = charge;
    const why = "the firm’s card or bank account was not charged";
    if (supplementId !== null) await reportUnpaid(tx, charge, { supplementId, amountCents, why, at });
  }
  const owners = await ownersWhoSee(tx, first);
  if (moment === "refused" && waitsForOwner(first)) return tellOfWaiting(tx, first, owners, at);
  const [kind, placer = ""] = first.askedBy.split(":");
  const people = new Set(kind === "member" ? [placer, ...owners] : owners);
  for (const userId of people) await enqueue(tx, chargeMailQueue, { id: store.paymentIdOf(first), moment, userId });
}
