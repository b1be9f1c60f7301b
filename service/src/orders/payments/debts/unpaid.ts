/** Tasks and mails about payments that failed, and about supplements that nobody pays. */
import type { Environment } from "../../../kernel/identity/identity.ts";
import type { Clock } from "../../../kernel/platform/clock.ts";
import type { Database, Tx } from "../../../kernel/platform/database/database.ts";
import { type Statement, sql } from "../../../kernel/platform/database/sql.ts";
import { maskCode } from "../../../kernel/platform/ids.ts";
import type { Log } from "../../../kernel/platform/logs.ts";
import { neverOpened, openTask } from "../../../kernel/tasks/tasks.ts";
import { leapt } from "../../../kernel/test-clock/test-clock.ts";
import { dollars } from "../../dollars.ts";
import { isPayable, joinOrder, type LockedOrder, lockOrder, mailClient } from "../../order/order.ts";
import { tellFirm, tellOfPostage } from "../mails/money-mail.ts";
import type { SessionMessage } from "../processor/message.ts";
import { chargesOfPayment, endedByPerson, isOpen, methodsOfIntent } from "../records/charges.ts";
import { dueLossOf, dueOf, lateSubject, subjectOf, supplementsOf, waiting } from "../records/supplements.ts";

/**
 * Opens a task for an unpaid order whose bank debit failed. A debit fails days after it was requested, when a deadline
 * may be near. A decline of a card is shown to its payer at once, and has no task.
 */
export async function reportDebit(
  tx: Tx,
  order: LockedOrder,
  { sessionId, chargeId, paymentIntent }: SessionMessage,
  at: Date,
): Promise<void> {
  const { id: orderId, environment, status, isRush, totalCents } = order;
  const payment = sessionId ?? chargeId;
  if (status !== "PaymentFailed" || payment === null) return;
  // Opens no task if a person ended the charge, because that person already handles the order.
  const charges = chargeId === null ? [] : await chargesOfPayment(tx, chargeId);
  if (charges.some(({ reason }) => reason === endedByPerson)) return;
  // A checkout fails by an event only if its payer chose a bank debit. For a charge, the firm's method shows whether it
  // was a debit.
  const methods = sessionId === null && paymentIntent !== null ? await methodsOfIntent(tx, paymentIntent) : [];
  if (sessionId === null && !methods.some(({ kind }) => kind === "bank")) return;
  const of = sessionId === null ? "the firm’s bank account" : "the payer’s bank account";
  const reason = `A debit of ${of} failed, and ${dollars(totalCents ?? 0)} of this order is unpaid. The payer was mailed. Ask the payer for another payment, or cancel the order.`;
  const subject = `debit:${payment}`;
  const once = sql`(SELECT) AS one WHERE ${neverOpened("debit_failed", subject, orderId)}`;
  await openTask(tx, { kind: "debit_failed", at, environment, orderId, subject, isRush, reason }, once);
}

type Failed = { at: Date; share: { amount: number | null; supplementId: number | null } };

/**
 * Notifies the firm that its bank debit at the checkout failed, even if the client is the order's payer. The client is
 * not notified. For a failed charge, `notify` mails the firm instead. A declined card is shown to its payer at once.
 */
export async function reportFirmsDebit(
  tx: Tx,
  order: LockedOrder,
  { sessionId }: SessionMessage,
  { at, share: { amount, supplementId } }: Failed,
): Promise<void> {
  const { id: orderId, environment, status } = order;
  if (sessionId === null) return;
  if (supplementId !== null) {
    const due = await unpaidSupplement(tx, order, supplementId);
    if (!due) return;
    const about = { supplementId, amountCents: due.amountCents, why: "the firm’s bank payment for it failed", at };
    await reportUnpaid(tx, { orderId, environment }, about);
  } else if (!isPayable(status)) return;
  await tellFirm(tx, order, { moment: "debit_failed", cents: amount, about: sessionId });
}

/**
 * A client's bank debit for a supplement failed days after the client left. Opens a task, and mails the client the link
 * again. The processor's page shows a declined card to its payer at once.
 */
export async function reportSupplement(
  tx: Tx,
  order: LockedOrder,
  { sessionId }: SessionMessage,
  { at, share: { supplementId } }: Failed,
): Promise<void> {
  const { id: orderId, environment } = order;
  if (sessionId === null || supplementId === null) return;
  const due = await unpaidSupplement(tx, order, supplementId);
  if (!due) return;
  const about = { supplementId, amountCents: due.amountCents, why: "the bank payment for it failed", at };
  await reportUnpaid(tx, { orderId, environment }, about);
  await mailClient(tx, orderId, due.replacesLoss ? "pay_again" : "supplement_due", at);
}

/** The supplement of this id, if it is due. While postage is due, `dueOf` names only the postage, and not the loss. */
async function unpaidSupplement(tx: Tx, { id, status }: LockedOrder, supplementId: number) {
  const supplements = await supplementsOf(tx, id);
  return [dueOf(status, supplements), dueLossOf(status, supplements)].find((each) => each?.id === supplementId);
}

type Unpaid = { supplementId: number; amountCents: number; why: string; at: Date };

/**
 * Opens a task about an unpaid supplement for postage, because the parcel waits for the money. Opens none for a price
 * that is to be paid again, because nothing waits for that money.
 */
export async function reportUnpaid(
  tx: Tx,
  { orderId, environment }: { orderId: number; environment: Environment },
  { supplementId, amountCents, why, at }: Unpaid,
  subject = subjectOf(supplementId),
): Promise<void> {
  if ((await supplementsOf(tx, orderId)).some(({ id, replacesLoss }) => id === supplementId && replacesLoss)) return;
  const reason = `${dollars(amountCents)} more is due for the postage, and ${why}. The parcel waits. It goes on when somebody pays by the checkout or another card, when the address is corrected back, or when you buy the label anyway; or the firm asks for a refund.`;
  await openTask(tx, { kind: "postage_dearer", at, environment, orderId, subject, reason });
}

/**
 * After this time without a payment, staff and the payer are notified, because the payer may have overlooked the first
 * mail.
 */
const paidWithin = "3 days";

/**
 * The supplements for postage that nobody has paid for days, without a task about it and without a payment in progress.
 */
const late = (at: Date): Statement => sql`
  SELECT s.id, o.code AS "code@order" FROM supplements s ${joinOrder(sql`s.order_id`)}
  WHERE s.state = 'asked' AND NOT s.replaces_loss AND o.status = ${waiting}
    AND CASE WHEN o.environment = 'test' THEN ${leapt(sql`s.asked_at`, sql`o.partner_id`)} ELSE s.asked_at END
      < ${at}::timestamptz - ${paidWithin}::interval
    AND ${neverOpened("postage_dearer", sql`'supplement:' || s.id || ':late'`, sql`s.order_id`)}
    AND NOT EXISTS (SELECT FROM firm_charges c WHERE c.order_id = s.order_id AND c.supplement_id = s.id
      AND ${isOpen(sql`c`)})
    AND NOT EXISTS (SELECT FROM checkout_sessions c WHERE c.order_id = s.order_id AND c.supplement_id = s.id
      AND c.status = 'pending_funds')
    AND NOT EXISTS (SELECT FROM checkout_parts p JOIN checkout_sessions c ON c.id = p.checkout_id
      WHERE p.order_id = s.order_id AND p.supplement_id = s.id AND c.status = 'pending_funds')`;

type WatchDeps = { db: Database; clock: Clock; log: Log };

/**
 * For each supplement for postage that nobody has paid for days, opens a task and mails the payer once more. A payment
 * that a bank is still moving has more time. Skips an order that can't be read.
 */
export async function watchSupplements({ db, clock, log }: WatchDeps, stopping?: AbortSignal): Promise<void> {
  const found = await db.query<{ id: number; code: string }>(sql`
    ${late(clock())} ORDER BY s.asked_at DESC, s.id LIMIT 1000`);
  for (const { id, code } of found) {
    if (stopping?.aborted) return;
    try {
      await db.transaction((tx) => reportLate(tx, id, code, clock()));
    } catch (err) {
      log.error({ err, order: maskCode(code) }, "an unpaid supplement could not be reported");
    }
  }
}

async function reportLate(tx: Tx, id: number, code: string, at: Date): Promise<void> {
  const order = await lockOrder(tx, code);
  const unpaid = order && dueOf(order.status, await supplementsOf(tx, order.id));
  // Checks again, because a payment may have begun before the order was locked.
  const isLate = (await tx.query(sql`${late(at)} AND s.id = ${id}`)).length === 1;
  if (!order || unpaid?.id !== id || !isLate) return;
  const { id: orderId, environment } = order;
  const about = { supplementId: id, amountCents: unpaid.amountCents, why: "nobody has paid it for three days", at };
  await reportUnpaid(tx, { orderId, environment }, about, lateSubject(id));
  await mailClient(tx, orderId, "supplement_due", at);
  await tellOfPostage(tx, order, unpaid, "late");
}
