/** The payments by firms' own methods about which the processor's event is overdue. */
import type { Environment } from "../../../kernel/identity/identity.ts";
import type { Sql } from "../../../kernel/platform/database/database.ts";
import { nothing, sql } from "../../../kernel/platform/database/sql.ts";
import { type Marked, markedAll } from "../../../kernel/platform/database/state-mac.ts";
import { joinOrder } from "../../order/order.ts";
import { wasOtherAccount } from "../processor/account.ts";
import { agedOf, chargeState, type FirmCharge, isOpen } from "../records/charges.ts";

/** A payment whose event is overdue. `id`, `orderId` and `orderCode` are those of its first charge. */
export type OverdueCharge = Pick<
  FirmCharge,
  "id" | "orderId" | "orderCode" | "environment" | "amountCents" | "askedAt" | "sentAt" | "state"
> & {
  /** The ids of the orders that the payment pays. */
  orderIds: number[];
  /** True if the charge was sent to another processor account than the one in use now. */
  isElsewhere: boolean;
  /**
   * If an earlier account has open checkouts for these orders: the time when the last one expires. Otherwise null. The
   * charge is sent only after that time.
   */
  pageEndsAt: Date | null;
  /** The payment's place in the list. It must not move while the pages are read. */
  changedAt: string;
};

type Limits = { sentBefore: Date; bankBefore: Date };

/** The payments of one environment or, with `partnerId`, of one firm there. */
type Which = { environment: Environment; partnerId?: string };

/** The place of a payment in the list. `changedAt`: with microseconds, which a `Date` would lose. */
type Place = { changedAt: string; id: string };

/** The number of payments on a page of the list. */
export const chargesOnPage = 100;

/**
 * One page of the payments whose event is overdue, the oldest first. Marks a payment that was altered in the database.
 * @param after the place of the last payment on the previous page; null for the first page
 */
export function overdueCharges(
  db: Sql,
  { sentBefore, bankBefore }: Limits,
  { environment, partnerId }: Which,
  after: Place | null = null,
): Promise<(OverdueCharge & Marked)[]> {
  const parts = sql`FROM firm_charges q WHERE q.id = c.id OR q.group_id = c.group_id`;
  return db.query<OverdueCharge & Marked>(sql`
    SELECT c.id, c.changed_at::text AS "changedAt", c.order_id AS "orderId", o.code AS "orderCode@order", c.environment, c.asked_at AS "askedAt", c.sent_at AS "sentAt", c.state,
      c.environment = 'live' AND ${wasOtherAccount(sql`c.sent_at`)} AS "isElsewhere",
      (SELECT max(s.expires_at) FROM checkout_sessions s
        WHERE s.status IN ('minting', 'open', 'replacing') AND ${wasOtherAccount(sql`s.created_at`)}
          AND (s.order_id IN (SELECT q.order_id ${parts}) OR s.id IN (
            SELECT k.checkout_id FROM checkout_parts k WHERE k.order_id IN (SELECT q.order_id ${parts})))) AS "pageEndsAt",
      (SELECT sum(q.amount_cents) ${parts})::float8 AS "amountCents",
      (SELECT json_agg(q.order_id) ${parts}) AS "orderIds",
      ${markedAll(chargeState, sql`q`, parts)}
    FROM firm_charges c ${joinOrder(sql`c.order_id`)}
    WHERE ${isOpen(sql`c`)} AND c.environment = ${environment}
      ${partnerId === undefined ? nothing : sql`AND c.partner_id = ${partnerId}`}
      AND ${agedOf(sql`c`, sql`c.changed_at`)} < CASE c.state WHEN 'pending' THEN ${bankBefore}::timestamptz ELSE ${sentBefore}::timestamptz END
      AND NOT EXISTS (SELECT FROM firm_charges q WHERE q.group_id = c.group_id AND q.order_id < c.order_id)
      ${after === null ? nothing : sql`AND (c.changed_at, c.id) > (${after.changedAt}::timestamptz, ${after.id}::uuid)`}
    ORDER BY c.changed_at, c.id LIMIT ${chargesOnPage}`);
}

/**
 * The place of the payment with this charge in the list. Null for a charge that has ended, because its time is newer
 * than those in the list, and for an unknown one: the list then begins at its first page.
 */
export async function placeOf(db: Sql, id: string): Promise<Place | null> {
  const [place] = await db.query<Place>(sql`
    SELECT c.id, c.changed_at::text AS "changedAt" FROM firm_charges c WHERE c.id = ${id} AND ${isOpen(sql`c`)}`);
  return place ?? null;
}

/** All payments whose event is overdue, the oldest first, page by page. */
export async function* allOverdue(db: Sql, limits: Limits, which: Which): AsyncGenerator<OverdueCharge & Marked> {
  for (let after: Place | null = null; ; ) {
    const page: (OverdueCharge & Marked)[] = await overdueCharges(db, limits, which, after);
    yield* page;
    if (page.length < chargesOnPage) return;
    after = page.at(-1) ?? null;
  }
}
