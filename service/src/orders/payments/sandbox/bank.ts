/**
 * The sandbox's simulated bank. Turns each due step of a test payment into an event, and applies it with the function
 * that handles the processor's events.
 */
import type { Clock } from "../../../kernel/platform/clock.ts";
import type { Database, Tx } from "../../../kernel/platform/database/database.ts";
import { nothing, sql } from "../../../kernel/platform/database/sql.ts";
import { type Marked, marked } from "../../../kernel/platform/database/state-mac.ts";
import type { Log } from "../../../kernel/platform/logs.ts";
import { fromOrders, lockOrder } from "../../order/order.ts";
import { currency } from "../checkout/sessions.ts";
import { applyEvent } from "../events/apply-event.ts";
import type { SignedEvent } from "../processor/processor.ts";
import { chargesOfPayment } from "../records/charges.ts";
import { type StepKind, sandboxIntent, sandboxName, stepState } from "../records/sandbox-steps.ts";

type Step = {
  id: number;
  partnerId: string;
  paymentId: string | null;
  orderCode: string | null;
  kind: StepKind;
  amountCents: number;
  reason: string | null;
  dueAt: Date;
};

type BankDeps = { db: Database; clock: Clock; log: Log };

const atOnce = 100;

/**
 * Applies the steps that are due, in the order of their due times. Safe to repeat and to run on several nodes. A step
 * that fails stays due, and does not stop the other payments.
 * @param partnerId only the steps of this firm
 */
export async function applySandboxSteps(deps: BankDeps, stopping?: AbortSignal, partnerId?: string): Promise<void> {
  const { db, clock, log } = deps;
  // The ids of steps that failed, or that another run is applying.
  const passed: number[] = [];
  for (;;) {
    const due = await db.query<{ id: number }>(sql`
      SELECT s.id FROM sandbox_steps s
      WHERE s.done_at IS NULL AND s.due_at <= ${clock()} AND s.id <> ALL (${passed}::bigint[])
        ${partnerId === undefined ? nothing : sql`AND s.partner_id = ${partnerId}`}
        AND NOT EXISTS (SELECT FROM sandbox_steps b WHERE b.payment_id = s.payment_id AND b.done_at IS NULL
          AND (b.due_at, b.id) < (s.due_at, s.id))
      ORDER BY s.due_at, s.id LIMIT ${atOnce}`);
    if (due.length === 0) return;
    for (const { id } of due) {
      if (stopping?.aborted) return;
      const isApplied = await db
        .transaction((tx) => applyStep(tx, deps, id))
        .catch((error: unknown) => {
          log.error({ err: error, step: id }, "a step of the sandbox's bank failed");
          return false;
        });
      if (!isApplied) passed.push(id);
    }
  }
}

/**
 * Applies one due step of a payment.
 * @returns false for a step that another run is applying, or has applied
 */
async function applyStep(tx: Tx, { clock, log }: BankDeps, id: number): Promise<boolean> {
  const [step] = await tx.query<Step & Marked>(sql`
    SELECT s.id, s.partner_id AS "partnerId", s.payment_id AS "paymentId", s.kind, s.amount_cents::float8 AS "amountCents",
      s.reason, s.due_at AS "dueAt", (SELECT o.code ${fromOrders} WHERE o.id = s.order_id) AS "orderCode@order",
      ${marked(stepState, sql`s`)}
    FROM sandbox_steps s WHERE s.id = ${id} AND s.done_at IS NULL FOR NO KEY UPDATE OF s SKIP LOCKED`);
  if (!step) return false;
  const at = clock();
  await tx.query(sql`UPDATE sandbox_steps SET done_at = ${at} WHERE id = ${id}`);
  if (!step.isAuthentic) {
    log.error({ step: id }, "a step of the sandbox's bank was altered in the database");
    return true;
  }
  const event = step.paymentId === null ? await delayedEvent(tx, step) : await paymentEvent(tx, step, step.paymentId);
  if (event) await applyEvent(tx, event, { at, log, actor: "sandbox" });
  return true;
}

const types: Readonly<Record<StepKind, string>> = {
  processing: "payment_intent.processing",
  settles: "payment_intent.succeeded",
  fails: "payment_intent.payment_failed",
  disputed: "charge.dispute.created",
  won: "charge.dispute.closed",
  lost: "charge.dispute.closed",
};

/** The event about a payment by the firm's test method; null unless all of its orders are test orders. */
async function paymentEvent(tx: Tx, step: Step, paymentId: string): Promise<SignedEvent | null> {
  const { id, kind, amountCents: amount, reason, dueAt } = step;
  const charges = await chargesOfPayment(tx, paymentId);
  if (charges.length === 0 || charges.some(({ environment }) => environment !== "test")) return null;
  const intent = sandboxIntent(paymentId);
  const about = { id: `sandbox:dispute:${paymentId}`, payment_intent: intent, amount, currency };
  const isDispute = kind === "disputed" || kind === "won" || kind === "lost";
  const object = isDispute
    ? { ...about, status: kind === "disputed" ? "needs_response" : kind }
    : {
        id: intent,
        metadata: { charge: paymentId },
        currency,
        amount_received: kind === "settles" ? amount : 0,
        last_payment_error: reason === null ? null : { code: reason },
      };
  return { id: `sandbox:step:${id}`, type: types[kind], created: Math.floor(dueAt.getTime() / 1000), data: { object } };
}

/** The event about a delayed payment of a test order; null when the order no longer waits for it. */
async function delayedEvent(tx: Tx, { id, orderCode }: Step): Promise<SignedEvent | null> {
  const order = orderCode === null ? undefined : await lockOrder(tx, orderCode);
  if (order?.environment !== "test" || order.status !== "AwaitingPayment") return null;
  const name = sandboxName(order.code);
  const object = {
    id: `${name}:delayed`,
    metadata: { order_code: order.code },
    payment_status: "paid",
    payment_intent: name,
    amount_total: order.totalCents,
    currency,
  };
  return { id: `sandbox:step:${id}`, type: "checkout.session.async_payment_succeeded", data: { object } };
}
