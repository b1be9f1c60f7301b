import type { Sql, Tx } from "../../../kernel/platform/database/database.ts";
import { type Statement, sql } from "../../../kernel/platform/database/sql.ts";
import {
  digestOf,
  MacOfState,
  type Marked,
  markedAll,
  type StateMac,
} from "../../../kernel/platform/database/state-mac.ts";
import { stateRows } from "../../../kernel/platform/protected-data.ts";
import { joinOrder } from "../../order/order.ts";
import { environmentOfSession } from "../checkout/store.ts";
import { copies, isNotCopied, isOutOfSight, requestedAt, wasOtherAccount } from "../processor/account.ts";
import type { Movement } from "../processor/balance.ts";
import { isOpen } from "../records/charges.ts";
import { disputeState } from "../records/disputes.ts";
import { paymentState } from "../records/payments.ts";
import { refundState } from "../records/refunds.ts";

/** The columns of a copied movement that its MAC covers. A forged movement would hide a difference. */
const movementState: StateMac = {
  table: sql`balance_transactions`,
  key: sql`id`,
  mac: sql`row_mac`,
  covered: (
    b,
  ) => sql`${b}.id, ${b}.kind, ${b}.source, ${b}.payment_intent, ${b}.is_ours, ${b}.amount_cents, ${b}.fee_cents,
    ${b}.currency, extract(epoch FROM ${b}.created_at)`,
};

export const reconcileRows = [stateRows(movementState)];

/** Stores copies of movements. A movement that was copied before stays unchanged. */
export async function insertMovements(tx: Tx, movements: readonly Movement[]): Promise<void> {
  if (movements.length === 0) return;
  const column = <T>(of: (movement: Movement) => T): T[] => movements.map(of);
  const inserted = await tx.query<{ id: string; digest: Buffer }>(sql`
    INSERT INTO balance_transactions
      (id, kind, source, payment_intent, is_ours, amount_cents, fee_cents, currency, created_at)
    SELECT * FROM unnest(${column(({ id }) => id)}::text[], ${column(({ kind }) => kind)}::text[],
      ${column(({ source }) => source)}::text[], ${column(({ paymentIntent }) => paymentIntent)}::text[],
      ${column(({ isOurs }) => isOurs)}::boolean[], ${column(({ amountCents }) => amountCents)}::bigint[],
      ${column(({ feeCents }) => feeCents)}::bigint[], ${column(({ currency }) => currency)}::text[],
      ${column(({ createdAt }) => createdAt.toISOString())}::timestamptz[])
    ON CONFLICT (id) DO NOTHING RETURNING id, ${digestOf(movementState, sql`balance_transactions`)} AS digest`);
  const macs = inserted.map(({ digest }) => new MacOfState(movementState.table.text, digest.toString("hex")));
  await tx.query(sql`
    UPDATE balance_transactions b SET row_mac = written.mac
    FROM unnest(${inserted.map(({ id }) => id)}::text[], ${macs}::bytea[]) AS written (id, mac) WHERE b.id = written.id`);
}

export type Difference = {
  kind: Movement["kind"];
  /**
   * The processor's id of the charge, refund or dispute. For a payment that the processor doesn't have: the id of its
   * payment intent.
   */
  source: string;
  paymentIntent: string;
  /**
   * `hereCents`: the sum of our rows; null without rows, or for a row without an amount. `thereCents`: the sum of the
   * processor's movements; null without movements. Money that left is negative.
   */
  hereCents: number | null;
  thereCents: number | null;
  hereCurrency: string | null;
  thereCurrency: string | null;
  /** False when the MAC of one of the compared rows is invalid. */
  isAuthentic: boolean;
};

/**
 * A difference is normal until these times have passed. An event can arrive an hour after the money moved. The
 * processor can book a movement a day after the event.
 */
const eventWithin = "1 hour";
const bookedWithin = "1 day";

/**
 * A statement of a comparison reads at most this many payments, so that its duration is limited after any number of
 * changes.
 */
const comparedAtOnce = 10_000;

/**
 * Compares each payment in `payments_to_compare`: its rows here with all of the processor's movements of it since the
 * first comparison. Triggers insert changed payments into that table. This function deletes payments without a
 * difference from the table, so that only the others are compared again.
 *
 * Charges are matched by payment. Refunds and disputes are matched by their ids, each together with its reversals. A
 * pending refund or an open dispute makes no difference, even if its money has moved. Leaves out payments that need the
 * books of an earlier account.
 * @returns the differences that are too old to be normal
 */
export async function comparePayments(tx: Tx, at: Date): Promise<Difference[]> {
  const differences: Difference[] = [];
  for (let last: string | null = ""; last !== null; ) {
    const compared: Compared = await compareNext(tx, last, at);
    differences.push(...compared.differences);
    last = compared.last;
  }
  return differences;
}

/** `last`: the last of the compared payments; null when none was left. */
type Compared = { last: string | null; differences: Difference[] };

/** Compares some of the payments that changed: the next ones after `last`, in the order of their ids. */
export async function compareNext(tx: Tx, last: string, at: Date): Promise<Compared> {
  const changed = await tx.query<{ intent: string }>(sql`
    SELECT DISTINCT payment_intent AS intent FROM payments_to_compare WHERE payment_intent > ${last} ORDER BY 1
    LIMIT ${comparedAtOnce}`);
  const intents = changed.map(({ intent }) => intent);
  return { last: intents.at(-1) ?? null, differences: intents.length === 0 ? [] : await compareSome(tx, intents, at) };
}

/**
 * Compares these payments, and deletes those without a difference from `payments_to_compare`. One statement reads the
 * payments and deletes only the rows that it saw. So a row that a concurrent transaction adds stays.
 */
function compareSome(tx: Tx, intents: readonly string[], at: Date): Promise<Difference[]> {
  const ofSource = sql`FROM balance_transactions x WHERE x.payment_intent = d.payment_intent AND x.kind = d.kind
    AND (d.kind = 'charge' OR x.source = d.key)`;
  const own = (intent: Statement) => sql`FROM payments p WHERE p.payment_intent = ${intent} AND NOT p.simulated`;
  const requested = sql`(SELECT min(${requestedAt(sql`p`)}) ${own(sql`d.payment_intent`)})`;
  return tx.query<Difference & Marked>(sql`
    WITH ${copies}, since AS (SELECT min(asked_at) AS at FROM reconciliations), changed AS MATERIALIZED (
      SELECT payment_intent, EXISTS (SELECT ${own(sql`i.payment_intent`)}) AS is_own
      FROM unnest(${intents}::text[]) AS i (payment_intent)
    ), there AS (
      SELECT b.payment_intent, b.kind, CASE b.kind WHEN 'charge' THEN b.payment_intent ELSE b.source END AS key,
        min(b.source) AS source, bool_or(b.is_ours) AS is_ours, sum(b.amount_cents) AS cents,
        CASE WHEN count(DISTINCT b.currency) = 1 THEN min(b.currency) ELSE 'several' END AS currency,
        min(b.created_at) AS first_at, max(b.created_at) AS last_at
      FROM changed JOIN balance_transactions b USING (payment_intent) GROUP BY 1, 2, 3
    ), here AS (
      SELECT p.payment_intent, 'charge' AS kind, p.payment_intent AS key, sum(p.amount_cents) AS cents, true AS is_final,
        CASE WHEN count(DISTINCT lower(p.currency)) = 1 THEN min(lower(p.currency)) ELSE 'several' END AS currency,
        min(p.received_at) AS at
      FROM changed JOIN payments p USING (payment_intent)
      WHERE NOT p.simulated AND EXISTS (SELECT FROM billing_documents b WHERE b.payment_id = p.id AND b.kind = 'receipt')
      GROUP BY 1
      UNION ALL
      SELECT payment_intent, 'refund', r.id, CASE WHEN r.state = 'failed' THEN 0 ELSE -r.amount_cents END,
        r.state <> 'pending', lower(r.currency), r.changed_at
      FROM changed JOIN refunds r USING (payment_intent) WHERE is_own
      UNION ALL
      SELECT payment_intent, 'dispute', q.id, CASE WHEN q.state = 'won' THEN 0 ELSE -q.amount_cents END,
        q.state <> 'opened', lower(q.currency), q.changed_at
      FROM changed JOIN disputes q USING (payment_intent) WHERE is_own
    ), differing AS MATERIALIZED (
      SELECT payment_intent, kind, key, t.source, h.cents AS here_cents, t.cents AS there_cents,
        h.currency AS here_currency, t.currency AS there_currency, h.at, t.last_at,
        h.is_final IS NULL AS is_missing_here, t.source IS NULL AS is_missing_there
      FROM here h FULL JOIN there t USING (payment_intent, kind, key) JOIN changed USING (payment_intent) CROSS JOIN since
      WHERE CASE
        WHEN h.is_final IS NULL THEN t.cents <> 0 AND t.first_at >= since.at AND (t.is_ours OR is_own)
        WHEN t.source IS NULL THEN h.is_final AND h.cents <> 0
        WHEN coalesce(h.currency, t.currency) <> t.currency THEN true
        WHEN h.is_final THEN t.cents IS DISTINCT FROM h.cents
        ELSE t.cents NOT IN (0, coalesce(h.cents, t.cents))
      END
    ), open AS MATERIALIZED (
      SELECT d.*, CASE WHEN NOT is_missing_here THEN ${requested} END AS requested_at FROM differing d
    ), kept AS MATERIALIZED (
      SELECT d.*, NOT ${isOutOfSight(sql`d.requested_at`, sql`d.at`, bookedWithin)} AND CASE
          WHEN is_missing_here THEN last_at < ${at}::timestamptz - ${eventWithin}::interval
          WHEN is_missing_there THEN d.at >= since.at AND d.at < ${at}::timestamptz - ${bookedWithin}::interval
          WHEN coalesce(here_currency, there_currency) <> there_currency THEN true
          ELSE greatest(d.at, last_at) < ${at}::timestamptz - ${eventWithin}::interval
        END AS is_due
      FROM open d CROSS JOIN since
      WHERE NOT is_missing_there OR d.at >= since.at OR ${isNotCopied(sql`d.requested_at`, sql`d.at`, bookedWithin)}
    ), agreeing AS (
      SELECT payment_intent FROM changed EXCEPT SELECT payment_intent FROM kept
    ), unmarked AS (
      DELETE FROM payments_to_compare c USING agreeing a WHERE c.payment_intent = a.payment_intent
    )
    SELECT d.kind, coalesce(d.source, d.key) AS source, d.payment_intent AS "paymentIntent",
      d.here_cents::float8 AS "hereCents", d.there_cents::float8 AS "thereCents", d.here_currency AS "hereCurrency",
      d.there_currency AS "thereCurrency", ${markedAll(movementState, sql`x`, ofSource)},
      ${markedAll(paymentState, sql`p`, sql`FROM payments p WHERE p.payment_intent = d.payment_intent`)},
      ${markedAll(refundState, sql`r`, sql`FROM refunds r WHERE d.kind = 'refund' AND r.id = d.key`)},
      ${markedAll(disputeState, sql`q`, sql`FROM disputes q WHERE d.kind = 'dispute' AND q.id = d.key`)}
    FROM kept d WHERE d.is_due ORDER BY d.kind, d.key`);
}

/** Counts of the open objects in an earlier account, and of its payments that were not compared with its books. */
export type LeftInAccount = {
  charges: number;
  checkouts: number;
  refunds: number;
  disputes: number;
  payments: number;
  /** The sum, in cents, of the `payments` that were not compared. */
  cents: number;
};

/**
 * Counts the open objects in an earlier account. Call this after `comparePayments`, which deletes payments without a
 * difference from `payments_to_compare`. Doesn't verify MACs, because the result has only counts and a sum.
 */
export async function leftInAccount(db: Sql, now: Date): Promise<LeftInAccount> {
  const ofPayments = (intent: Statement) => sql`EXISTS (SELECT FROM payments p ${joinOrder(sql`p.order_id`)}
    WHERE p.payment_intent = ${intent} AND ${wasOtherAccount(requestedAt(sql`p`))} AND NOT p.simulated AND o.environment = 'live')`;
  const [left] = await db.query<LeftInAccount>(sql`
    WITH ${copies}, unseen AS (
      SELECT p.payment_intent, sum(p.amount_cents) AS cents
      FROM (SELECT DISTINCT payment_intent FROM payments_to_compare) c JOIN payments p USING (payment_intent) ${joinOrder(sql`p.order_id`)}
      WHERE NOT p.simulated AND o.environment = 'live'
        AND ${isOutOfSight(requestedAt(sql`p`), sql`p.received_at`, bookedWithin)}
        AND NOT EXISTS (SELECT FROM balance_transactions b WHERE b.payment_intent = p.payment_intent AND b.kind = 'charge')
      GROUP BY 1
    )
    SELECT
      (SELECT count(DISTINCT coalesce(c.group_id, c.id)) FROM firm_charges c WHERE c.environment = 'live'
        AND ${isOpen(sql`c`)} AND ${wasOtherAccount(sql`c.sent_at`)})::int AS charges,
      (SELECT count(*) FROM checkout_sessions s WHERE ${wasOtherAccount(sql`s.created_at`)} AND ${environmentOfSession} = 'live'
        AND (s.status = 'pending_funds' OR s.status IN ('minting', 'open', 'replacing') AND s.expires_at > ${now}))::int AS checkouts,
      (SELECT count(*) FROM refunds r WHERE r.state = 'pending' AND ${ofPayments(sql`r.payment_intent`)})::int AS refunds,
      (SELECT count(*) FROM disputes d WHERE d.state = 'opened' AND ${ofPayments(sql`d.payment_intent`)})::int AS disputes,
      (SELECT count(*) FROM unseen)::int AS payments, (SELECT coalesce(sum(cents), 0) FROM unseen)::float8 AS cents`);
  if (!left) throw new Error("the counts of no rows are zero");
  return left;
}
