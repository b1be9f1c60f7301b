import type { Tx } from "../../../kernel/platform/database/database.ts";
import { sql } from "../../../kernel/platform/database/sql.ts";
import { type Marked, marked, writeStateMacs } from "../../../kernel/platform/database/state-mac.ts";
import { ServiceError } from "../../../kernel/platform/errors.ts";
import type { Log } from "../../../kernel/platform/logs.ts";
import type { LockedOrder } from "../../order/order.ts";
import { currency } from "../checkout/sessions.ts";
import { type Applied, applyEvent } from "../events/apply-event.ts";
import { chargesOfOrder, isOpenCharge } from "../records/charges.ts";
import { paymentState } from "../records/payments.ts";
import { hasDelayedStep, insertSteps, sandboxName } from "../records/sandbox-steps.ts";

export type SandboxOutcome = "success" | "decline" | "cancel" | "delayed";

const types: Readonly<Record<SandboxOutcome, string>> = {
  success: "checkout.session.completed",
  delayed: "checkout.session.completed",
  decline: "payment_intent.payment_failed",
  cancel: "checkout.session.expired",
};

/** A debit takes up to four business days. Advancing the test clock shortens the wait. */
const delayDays = 4;

/**
 * Pays a test order by the same code that applies the processor's verified events.
 * @param attempt distinguishes this event from other events of the same order
 * @throws ServiceError `not_payable` while a payment by the firm is in progress, which would pay the order twice
 */
export async function sandboxPayment(
  tx: Tx,
  order: LockedOrder,
  outcome: SandboxOutcome,
  { at, log, attempt }: { at: Date; log: Log; attempt: string },
): Promise<Applied> {
  if (order.environment !== "test") throw new Error("only the processor can report the payment of a live order");
  if ((await chargesOfOrder(tx, order.id)).some(isOpenCharge))
    throw new ServiceError(
      "not_payable",
      "A payment by your firm is under way. Advance the test clock until it has ended, or end it under Billing.",
    );
  const name = sandboxName(order.code);
  const object = {
    ...(types[outcome].startsWith("checkout") && { id: `${name}:${outcome}` }),
    metadata: { order_code: order.code },
    payment_status: outcome === "success" ? "paid" : "unpaid",
    payment_intent: name,
    amount_total: order.totalCents,
    currency,
  };
  const event = { id: `${name}:${attempt}`, type: types[outcome], data: { object } };
  const applied = await applyEvent(tx, event, { at, log, actor: "sandbox" });
  if (outcome === "delayed" && applied.order?.status === "AwaitingPayment" && !(await hasDelayedStep(tx, order.id))) {
    const { id: orderId, partnerId, totalCents: amountCents } = order;
    await insertSteps(
      tx,
      { partnerId, paymentId: null, orderId, amountCents },
      [{ kind: "settles", afterDays: delayDays }],
      at,
    );
  }
  return applied;
}

/**
 * Renames sandbox payments that earlier releases named by their order's code. The MAC covers the name, so each renamed
 * payment gets a new MAC. A payment whose MAC is wrong keeps its name and stays invalid. Must run as the owner of the
 * table.
 * @returns the number of new MACs
 */
export async function renameSandboxPayments(tx: Tx): Promise<number> {
  const which = sql`concat(payment_intent, ' ', session_id) ~ 'sandbox:[0-9a-f]{40}'`;
  const payments = await tx.query<{ id: number } & Marked>(sql`
    SELECT id, ${marked(paymentState, sql`payments`)} FROM payments WHERE ${which} FOR NO KEY UPDATE`);
  if (payments.length === 0) return 0;
  const guard = `ALTER TABLE ${paymentState.table.text}`;
  await tx.script(`${guard} DISABLE TRIGGER payments_refunded_once`);
  await tx.query(sql`
    UPDATE payments SET payment_intent = sandbox_name(payment_intent), session_id = sandbox_name(session_id) WHERE ${which}`);
  await tx.script(`${guard} ENABLE TRIGGER payments_refunded_once`);
  const authentic = payments.filter(({ isAuthentic }) => isAuthentic).map(({ id }) => id);
  await writeStateMacs(tx, paymentState, sql`id = ANY (${authentic}::bigint[])`);
  return authentic.length;
}
