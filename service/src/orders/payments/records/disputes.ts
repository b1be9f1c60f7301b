import type { Sql, Tx } from "../../../kernel/platform/database/database.ts";
import { sql } from "../../../kernel/platform/database/sql.ts";
import {
  type Marked,
  marked,
  type StateMac,
  verified,
  verifiedAll,
  writeStateMacs,
} from "../../../kernel/platform/database/state-mac.ts";
import { stateRows } from "../../../kernel/platform/protected-data.ts";
import type { DisputeMessage } from "../processor/message.ts";

/**
 * The columns of a dispute that its MAC covers. Without the MAC, a forged row could permit a refund while a dispute is
 * open.
 */
export const disputeState: StateMac = {
  table: sql`disputes`,
  key: sql`id`,
  mac: sql`row_mac`,
  covered: (d) => sql`${d}.id, ${d}.payment_intent, ${d}.amount_cents, ${d}.currency, ${d}.state,
    extract(epoch FROM ${d}.event_at), extract(epoch FROM ${d}.seen_at), extract(epoch FROM ${d}.changed_at), ${d}.state_version`,
};

export const disputeRows = [stateRows(disputeState, { backfill: { set: "disputes" } })];

/**
 * The queue of orders for which a dispute or a refund has ended. The job continues approved partial refunds that
 * waited, or closes them with a reason. Payload `{orderId}`.
 */
export const settledRefundQueue = "part-refund-news";

export type Dispute = {
  id: string;
  paymentIntent: string;
  /** The disputed amount in US cents; null when the bank named no amount, or one in another currency. */
  amountCents: number | null;
  /** The sum that the bank named in another currency; null for dollars, or if the bank named none. */
  foreign: { amount: number; currency: string } | null;
  state: "opened" | "won" | "lost";
};

type Row = Pick<Dispute, "id" | "paymentIntent" | "state"> & {
  amount: number | null;
  currency: string | null;
  eventAt: Date;
};

const columns = sql`id, payment_intent AS "paymentIntent", amount_cents::float8 AS amount, currency, state, event_at AS "eventAt"`;
const selectDisputes = sql`SELECT ${columns}, ${verified(disputeState, sql`disputes`)} FROM disputes`;

/**
 * Makes a dispute from its row. Payments are in dollars, so a sum in another currency doesn't show which part of a
 * payment is disputed. Only the bank knows that.
 */
function disputeOf({ id, paymentIntent, state, amount, currency }: Omit<Row, "eventAt">): Dispute {
  const isForeign = amount !== null && currency !== null && currency.toLowerCase() !== "usd";
  return {
    id,
    paymentIntent,
    state,
    amountCents: isForeign ? null : amount,
    foreign: isForeign ? { amount, currency } : null,
  };
}

/**
 * Serializes transactions about one payment. Otherwise, a dispute or a refund that is recorded at the same time as its
 * payment would not find the payment. Callers first lock the orders that they know.
 */
export async function lockIntent(tx: Tx, paymentIntent: string): Promise<void> {
  await tx.query(sql`SELECT pg_advisory_xact_lock(hashtextextended(${`intent ${paymentIntent}`}, 0))`);
}

/**
 * Records an event of a dispute. A decision replaces `opened`. Of two decisions, stores the later one by the
 * processor's time. If both have the same second, stores the loss.
 * @returns the dispute after the event. `isChange`: the dispute is new, or the event changed its state.
 */
export async function recordDispute(
  tx: Tx,
  { disputeId: id, paymentIntent, state, amount, currency }: DisputeMessage,
  { eventAt, at }: { eventAt: Date; at: Date },
): Promise<Dispute & { isChange: boolean }> {
  const inserted = await tx.query(sql`
    INSERT INTO disputes (id, payment_intent, amount_cents, currency, state, event_at, seen_at, changed_at)
    VALUES (${id}, ${paymentIntent}, ${amount}, ${currency}, ${state}, ${eventAt}, ${at}, ${at})
    ON CONFLICT (id) DO NOTHING RETURNING 1`);
  const [row] = await tx.query<Row>(
    sql`${selectDisputesToMark(inserted.length === 1)} WHERE id = ${id} FOR NO KEY UPDATE`,
  );
  if (!row) throw new Error("a dispute is on record once it was recorded");
  const counts = inserted.length === 0 && isNewer(row, state, eventAt);
  if (counts)
    await tx.query(sql`
      UPDATE disputes SET payment_intent = ${paymentIntent}, state = ${state}, event_at = ${eventAt}, changed_at = ${at},
        amount_cents = coalesce(${amount}, amount_cents), currency = coalesce(${currency}, currency) WHERE id = ${id}`);
  if (inserted.length === 1 || counts) await writeStateMacs(tx, disputeState, sql`id = ${id}`);
  const isChange = inserted.length === 1 || (counts && state !== row.state);
  const newest = { paymentIntent, state, amount: amount ?? row.amount, currency: currency ?? row.currency };
  return { ...disputeOf({ ...row, ...(counts && newest) }), isChange: isChange };
}

/** A row that this transaction has just inserted has no MAC yet, so it is read without verification. */
const selectDisputesToMark = (isNew: boolean) => (isNew ? sql`SELECT ${columns} FROM disputes` : selectDisputes);

function isNewer(row: Row, state: Dispute["state"], eventAt: Date): boolean {
  // Applies a later event of an open dispute, because it may state another amount.
  if (state === "opened") return row.state === "opened" && eventAt >= row.eventAt;
  if (row.state === "opened") return true;
  return (
    row.state !== state && (eventAt > row.eventAt || (eventAt.getTime() === row.eventAt.getTime() && state === "lost"))
  );
}

/**
 * The disputes about a payment, in the order of their ids.
 * @throws ServiceError `unavailable` for a dispute whose MAC is invalid
 */
export async function disputesOfIntent(db: Sql, paymentIntent: string): Promise<Dispute[]> {
  const rows = await db.query<Row>(sql`${selectDisputes} WHERE payment_intent = ${paymentIntent} ORDER BY id`);
  return rows.map(disputeOf);
}

/**
 * True if a bank is still deciding about a dispute of the order's payments. A refund is then unsafe: if the bank also
 * took the money back, the payer would get it twice.
 * @throws ServiceError `unavailable` for a dispute whose MAC is invalid
 */
export const isDisputed = async (db: Sql, orderId: number): Promise<boolean> =>
  (await openDisputes(db, orderId)).length > 0;

/**
 * The ids of the order's disputes that a bank has not decided yet.
 * @throws ServiceError `unavailable` for a dispute whose MAC is invalid
 */
export async function openDisputes(db: Sql, orderId: number): Promise<readonly string[]> {
  const own = sql`FROM disputes d WHERE d.payment_intent IN (SELECT payment_intent FROM payments WHERE order_id = ${orderId})`;
  const [found] = await db.query<{ ids: string[] }>(sql`
    SELECT ARRAY(SELECT d.id ${own} AND d.state = 'opened' ORDER BY d.id) AS ids, ${verifiedAll(disputeState, sql`d`, own)}`);
  return found?.ids ?? [];
}

/**
 * If a dispute is open for longer than this, the service asks the processor for the outcome. The event with the bank's
 * decision may have been lost.
 */
const decidedAfter = "7 days";

/**
 * Open disputes whose outcome the service requests from the processor: at most 1000, the oldest first. Marks altered
 * ones. Skips disputes of the sandbox, which the processor doesn't know.
 */
export const overdueDisputes = (db: Sql, at: Date): Promise<({ id: string } & Marked)[]> =>
  db.query<{ id: string } & Marked>(sql`
    SELECT id, ${marked(disputeState, sql`disputes`)} FROM disputes
    WHERE state = 'opened' AND id NOT LIKE 'sandbox:%' AND seen_at < ${at}::timestamptz - ${decidedAfter}::interval ORDER BY seen_at, id LIMIT 1000`);
