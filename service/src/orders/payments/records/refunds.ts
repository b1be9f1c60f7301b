import type { Sql, Tx } from "../../../kernel/platform/database/database.ts";
import { sql } from "../../../kernel/platform/database/sql.ts";
import { type StateMac, verified, writeStateMacs } from "../../../kernel/platform/database/state-mac.ts";
import { stateRows } from "../../../kernel/platform/protected-data.ts";
import type { RefundMessage } from "../processor/message.ts";
import { isShareRequest, shareRequest } from "../processor/processor.ts";

/** The columns of a refund at the processor that its MAC covers. */
export const refundState: StateMac = {
  table: sql`refunds`,
  key: sql`id`,
  mac: sql`row_mac`,
  covered: (
    r,
  ) => sql`${r}.id, ${r}.payment_intent, ${r}.amount_cents, ${r}.currency, ${r}.state, ${r}.request, ${r}.payment,
    extract(epoch FROM ${r}.seen_at), extract(epoch FROM ${r}.changed_at), ${r}.state_version`,
};

export const refundRows = [stateRows(refundState)];

export type RefundRowState = "pending" | "succeeded" | "failed";

const verifiedRefund = verified(refundState, sql`refunds`);

/**
 * Records the state of one refund at the processor. Events arrive in any order, so a failed refund stays failed, and a
 * succeeded one does not become pending again.
 * @returns `before` and `now`, the states before and after the event; `before` is null for a new refund. `isChange`:
 * the refund is new, or the event changed its state.
 */
export async function recordRefund(
  tx: Tx,
  { refundId: id, paymentIntent, state, amount, currency, request, share }: RefundMessage & { refundId: string },
  at: Date,
): Promise<{ before: RefundRowState | null; now: RefundRowState; isChange: boolean }> {
  const inserted = await tx.query(sql`
    INSERT INTO refunds (id, payment_intent, amount_cents, currency, state, request, payment, seen_at, changed_at)
    VALUES (${id}, ${paymentIntent}, ${amount}, ${currency}, ${state}, ${request}, ${share}, ${at}, ${at})
    ON CONFLICT (id) DO NOTHING RETURNING 1`);
  const isNew = inserted.length === 1;
  if (isNew) {
    await writeStateMacs(tx, refundState, sql`id = ${id}`);
    return { before: null, now: state, isChange: true };
  }
  const [row] = await tx.query<{ state: RefundRowState }>(
    sql`SELECT state, ${verifiedRefund} FROM refunds WHERE id = ${id} FOR NO KEY UPDATE`,
  );
  if (!row) throw new Error("a refund is on record once it was recorded");
  const steps = ["pending", "succeeded", "failed"];
  if (steps.indexOf(state) <= steps.indexOf(row.state)) return { before: row.state, now: row.state, isChange: false };
  await tx.query(sql`
    UPDATE refunds SET state = ${state}, changed_at = ${at}, amount_cents = coalesce(${amount}, amount_cents),
      currency = coalesce(${currency}, currency) WHERE id = ${id}`);
  await writeStateMacs(tx, refundState, sql`id = ${id}`);
  return { before: row.state, now: state, isChange: true };
}

type RefundRow = {
  id: string;
  amountCents: number | null;
  state: RefundRowState;
  request: string | null;
  payment: string | null;
  /** The time when the first event about the refund arrived. */
  seenAt: Date;
};

/**
 * The processor's refunds of a payment, in the order in which their first events arrived.
 * @throws ServiceError `unavailable` for a refund whose MAC is invalid
 */
export const refundsOfIntent = (db: Sql, paymentIntent: string): Promise<RefundRow[]> =>
  db.query<RefundRow>(sql`
    SELECT id, amount_cents::float8 AS "amountCents", state, request, payment, seen_at AS "seenAt",
      ${verifiedRefund} FROM refunds WHERE payment_intent = ${paymentIntent} ORDER BY seen_at, id`);

/**
 * The states of a request's refunds at the processor.
 * @throws ServiceError `unavailable` for a refund whose MAC is invalid
 */
export async function refundsOfRequest(db: Sql, paymentIntent: string, request: string): Promise<RefundRowState[]> {
  const rows = await refundsOfIntent(db, paymentIntent);
  return rows.filter((row) => row.request === request).map(({ state }) => state);
}

/**
 * The states at the processor of the refunds of a payment's whole share that a person's request asked for.
 * @param since when the request was approved. A refund by an earlier release, and a refund of the whole order, name no
 * request. Such a refund counts if it was first reported after this time
 * @throws ServiceError `unavailable` for a refund whose MAC is invalid
 */
export async function shareRefundsOf(
  db: Sql,
  paymentIntent: string,
  { payment, part, since }: { payment: number; part: string; since: Date },
): Promise<RefundRowState[]> {
  const rows = await refundsOfIntent(db, paymentIntent);
  const own = rows.filter(
    ({ request, seenAt }) =>
      request === shareRequest(payment, part) || (request === shareRequest(payment) && seenAt >= since),
  );
  return own.map(({ state }) => state);
}

/**
 * True if the service has requested a refund of this share of a payment from the processor, and the refund has not
 * failed.
 */
export async function isShareRefunded(db: Sql, paymentIntent: string, paymentId: number): Promise<boolean> {
  const rows = await refundsOfIntent(db, paymentIntent);
  return rows.some(({ request, state }) => isShareRequest(request, paymentId) && state !== "failed");
}
