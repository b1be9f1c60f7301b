import { auditLine } from "../../../kernel/audit/audit.ts";
import type { Environment } from "../../../kernel/identity/identity.ts";
import { type Clock, dayMs } from "../../../kernel/platform/clock.ts";
import type { Database, Sql } from "../../../kernel/platform/database/database.ts";
import { sql } from "../../../kernel/platform/database/sql.ts";
import { isAltered, type Marked, marked } from "../../../kernel/platform/database/state-mac.ts";
import { ServiceError } from "../../../kernel/platform/errors.ts";
import type { Log } from "../../../kernel/platform/logs.ts";
import { isUuid } from "../../../kernel/platform/text.ts";
import { closeTasks, openTask } from "../../../kernel/tasks/tasks.ts";
import { lockOrders } from "../../order/order.ts";
import { isOfOtherAccount, wasOtherAccount } from "../processor/account.ts";
import { type Processor, processorFor } from "../processor/processor.ts";
import { endPending, environmentOfSession, ordersOf, sessionState } from "./store.ts";

/** A bank debit takes up to four business days, after a checkout session of up to one day. Holidays add more days. */
const answerWithinMs = 10 * dayMs;

/** A checkout that the payer has completed, before the bank's money has arrived or failed. */
export type PendingPayment = {
  id: string;
  createdAt: Date;
  amountCents: number;
  /** True if the payment is so old that the bank should have answered by now. */
  isOverdue: boolean;
  /** True if the payment is in an earlier processor account, which the present account can't read. */
  isElsewhere: boolean;
  orderCodes: string[];
};

/** Checkouts that wait for a bank's money, the oldest first, at most 200. Omits altered ones. */
export async function pendingPayments(
  { db, clock }: { db: Sql; clock: Clock },
  environment: Environment,
): Promise<PendingPayment[]> {
  const overdueBefore = clock().getTime() - answerWithinMs;
  const rows = await db.query<Omit<PendingPayment, "isOverdue" | "orderCodes"> & Marked>(sql`
    SELECT s.id, s.created_at AS "createdAt", s.amount_cents AS "amountCents",
      ${wasOtherAccount(sql`s.created_at`)} AS "isElsewhere", ${marked(sessionState, sql`s`)}
    FROM checkout_sessions s WHERE s.status = 'pending_funds' AND ${environmentOfSession} = ${environment} ORDER BY s.created_at, s.id LIMIT 200`);
  const shown: PendingPayment[] = [];
  for (const { isAuthentic, ...row } of rows) {
    if (!isAuthentic) continue;
    const orderCodes = (await ordersOf(db, row.id)).map(({ orderCode }) => orderCode);
    shown.push({ ...row, isOverdue: row.createdAt.getTime() < overdueBefore, orderCodes });
  }
  return shown;
}

/**
 * Opens a task for each payment whose bank's answer is overdue. The orders can't be paid in another way until the bank
 * answers or a person ends the wait. Altered payments are logged and skipped.
 */
export async function watchPending(
  { db, clock, log }: { db: Database; clock: Clock; log: Log },
  stopping?: AbortSignal,
): Promise<void> {
  const at = clock();
  const overdue = await db.query<{ id: string }>(sql`
    SELECT id FROM checkout_sessions
    WHERE status = 'pending_funds' AND created_at < ${new Date(at.getTime() - answerWithinMs)} ORDER BY created_at, id`);
  for (const { id } of overdue) {
    if (stopping?.aborted) return;
    try {
      const [first] = await ordersOf(db, id);
      if (!first) continue;
      const reason = "The bank has not answered for ten days. Ask the payment processor, and let the client pay again.";
      const { orderId, environment } = first;
      const task = { kind: "bank_payment", at, environment, orderId, subject: id, reason } as const;
      await db.transaction((tx) => openTask(tx, task));
    } catch (error) {
      if (!isAltered(error)) throw error;
      log.error({ checkout: id }, "a checkout that waits for a bank was altered in the database");
    }
  }
}

/**
 * Asks the processor about a pending payment. If the payment has failed, stops waiting for it, so that its orders can
 * be paid again. Moves no order, because only the processor's signed event may. For a payment in an earlier account,
 * stops waiting without a request: the operator must have checked that account before.
 * @throws ServiceError `not_found`; `payments_not_configured`; `conflict` with the processor's answer when the wait
 * continues
 */
export async function endPendingPayment(
  { db, clock, processor }: { db: Database; clock: Clock; processor: Processor | null },
  { id, environment, actor }: { id: string; environment: Environment; actor: string },
): Promise<void> {
  const orders = isUuid(id) ? await ordersOf(db, id) : [];
  const [first] = orders;
  if (first?.environment !== environment || first.sessionId === null) throw unknown();
  const own = processorFor(processor, environment);
  if (!own) throw new ServiceError("payments_not_configured", "Payments are not configured.");
  const isElsewhere = await isOfOtherAccount({ db, clock, processor: own }, first.createdAt);
  const state = isElsewhere ? "failed" : await own.paymentOf(first.sessionId);
  if (state === "unknown")
    throw new ServiceError("conflict", "The payment processor does not know this checkout. Nothing was changed.");
  if (state === "processing")
    throw new ServiceError("conflict", "The payment processor still waits for the bank. Nothing was changed.");
  if (state === "paid")
    throw new ServiceError(
      "conflict",
      "The payment processor has the money, and its event did not arrive. Send the event again there. Nothing was changed.",
    );
  await db.transaction(async (tx) => {
    const at = clock();
    const locked = await lockOrders(
      tx,
      orders.map(({ orderCode }) => orderCode),
    );
    if ((await endPending(tx, id)) === 0) throw unknown();
    const end = { state: "done", at, by: actor, outcome: "the bank payment failed" } as const;
    await closeTasks(tx, { orderId: locked.map((order) => order.id), kinds: ["bank_payment"] }, end);
    for (const { id: orderId, partnerId } of locked)
      await tx.query(
        auditLine({
          at,
          action: "payment.wait_ended",
          actor,
          partnerId,
          orderId,
          detail: { checkout: id, ...(isElsewhere && { isElsewhere }) },
        }),
      );
  });
}

const unknown = () => new ServiceError("not_found", "No payment of this checkout waits for a bank.");
