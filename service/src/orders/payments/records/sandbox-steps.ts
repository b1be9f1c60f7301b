/**
 * The later steps of a test order's payment: it clears, fails or is disputed. Each step is a row with a due time, which
 * moves earlier when the test clock is advanced. `sandbox/bank.ts` applies the steps that are due.
 */
import { hash } from "node:crypto";
import type { Sql, Tx } from "../../../kernel/platform/database/database.ts";
import { sql } from "../../../kernel/platform/database/sql.ts";
import { type StateMac, writeStateMacs } from "../../../kernel/platform/database/state-mac.ts";
import { enqueue } from "../../../kernel/platform/jobs/jobs.ts";
import { stateRows } from "../../../kernel/platform/protected-data.ts";

/**
 * The columns of a step that its MAC covers. A forged step could settle or take back a payment of a test order. The MAC
 * does not cover the due time, because the test clock changes it.
 */
export const stepState: StateMac = {
  table: sql`sandbox_steps`,
  key: sql`id`,
  mac: sql`row_mac`,
  covered: (s) =>
    sql`${s}.id, ${s}.partner_id, ${s}.payment_id, ${s}.order_id, ${s}.kind, ${s}.amount_cents, ${s}.reason`,
};

export const sandboxRows = stateRows(stepState);

/** The queue of firms whose steps are due at once; payload `{partnerId}`. */
export const sandboxQueue = "sandbox-money";

export type StepKind = "processing" | "settles" | "fails" | "disputed" | "won" | "lost";

/** A step, and the days after the payment's start at which it is due. */
export type NewStep = { kind: StepKind; afterDays: number; reason?: string };

type Subject = { partnerId: string; amountCents: number } & (
  | { paymentId: string; orderId: null }
  | { paymentId: null; orderId: number }
);

/** Inserts the steps of a payment, and queues those that are due at once. */
export async function insertSteps(tx: Tx, subject: Subject, steps: readonly NewStep[], at: Date): Promise<void> {
  const { partnerId, paymentId, orderId, amountCents } = subject;
  for (const { kind, afterDays, reason = null } of steps) {
    const [added] = await tx.query<{ id: number }>(sql`
      INSERT INTO sandbox_steps (partner_id, payment_id, order_id, kind, amount_cents, reason, due_at)
      VALUES (${partnerId}, ${paymentId}, ${orderId}, ${kind}, ${amountCents}, ${reason},
        ${at}::timestamptz + make_interval(days => ${afterDays}))
      ON CONFLICT DO NOTHING RETURNING id`);
    if (added) await writeStateMacs(tx, stepState, sql`id = ${added.id}`);
  }
  await enqueue(tx, sandboxQueue, { partnerId });
}

/** Serializes transactions that start or cancel the same payment. */
export const lockPayment = (tx: Tx, paymentId: string) =>
  tx.query(sql`SELECT pg_advisory_xact_lock(hashtextextended(${`sandbox payment ${paymentId}`}, 0))`);

export type PaymentSteps = { kind: StepKind; reason: string | null; isDone: boolean }[];

const selectSteps = (paymentId: string) => sql`
  SELECT kind, reason, done_at IS NOT NULL AS "isDone" FROM sandbox_steps WHERE payment_id = ${paymentId} ORDER BY id`;

/**
 * The steps of a payment, in the sequence in which they were planned. Their due times can be in another sequence,
 * because the test clock moves only those of steps that have not happened.
 */
export const stepsOfPayment = (db: Sql, paymentId: string): Promise<PaymentSteps> => db.query(selectSteps(paymentId));

/**
 * Locks and reads the steps of a payment, in the sequence of `stepsOfPayment`. Waits while another transaction applies
 * one of them.
 */
export const lockSteps = (tx: Tx, paymentId: string): Promise<PaymentSteps> =>
  tx.query(sql`${selectSteps(paymentId)} FOR NO KEY UPDATE`);

/**
 * Makes a payment fail at once, and cancels its other steps that have not happened. A payment fails at most once. So a
 * failure that was due later happens now, and keeps its reason.
 */
export async function failNow(
  tx: Tx,
  { reason, ...subject }: Subject & { paymentId: string; reason: string },
  at: Date,
): Promise<void> {
  const own = sql`payment_id = ${subject.paymentId} AND done_at IS NULL`;
  await tx.query(sql`UPDATE sandbox_steps SET done_at = ${at} WHERE ${own} AND kind <> 'fails'`);
  await tx.query(sql`UPDATE sandbox_steps SET due_at = ${at} WHERE ${own}`);
  await insertSteps(tx, subject, [{ kind: "fails", afterDays: 0, reason }], at);
}

/** True if a delayed payment of the order has not been settled yet. */
export const hasDelayedStep = async (tx: Tx, orderId: number): Promise<boolean> =>
  (await tx.query(sql`SELECT FROM sandbox_steps WHERE order_id = ${orderId} AND done_at IS NULL`)).length > 0;

/** Moves the due times of a firm's steps earlier, for its test clock. */
export const bringSandboxMoneyNearer = (tx: Tx, partnerId: string, seconds: number) =>
  tx.query(sql`
    UPDATE sandbox_steps SET due_at = due_at - make_interval(secs => ${seconds})
    WHERE partner_id = ${partnerId} AND done_at IS NULL`);

/** The payment intent of a sandbox checkout: a hash of the order's code, which doesn't reveal the code. */
export const sandboxName = (code: string): string =>
  `sandbox:${hash("sha256", `sandbox payment ${code}`).slice(0, 32)}`;

/** The payment intent of a payment by a test method. */
export const sandboxIntent = (paymentId: string): string => `sandbox:charge:${paymentId}`;
