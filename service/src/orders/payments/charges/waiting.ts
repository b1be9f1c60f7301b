/** Unpaid orders that the firm pays and for which no charge is queued: their list, and the mail about them. */
import { findActiveActor } from "../../../firms/members/members.ts";
import type { Environment, Owner } from "../../../kernel/identity/identity.ts";
import { hourMs, minuteMs } from "../../../kernel/platform/clock.ts";
import type { Sql, Tx } from "../../../kernel/platform/database/database.ts";
import { sql } from "../../../kernel/platform/database/sql.ts";
import { type Marked, marked, markedAll, nullIfAltered } from "../../../kernel/platform/database/state-mac.ts";
import { enqueueUnlessDue, jobValues } from "../../../kernel/platform/jobs/jobs.ts";
import { defineMail } from "../../../kernel/platform/mail/mail-jobs.ts";
import { dollars } from "../../dollars.ts";
import { firmChargeQueue, fromOrders, isPayable, orderState, orderStatuses } from "../../order/order.ts";
import { type FirmCharge, isOpen } from "../records/charges.ts";
import { activeMethod } from "../records/methods.ts";
import { isPostageDue, supplementCents, supplementState, waiting as withPostage } from "../records/supplements.ts";

/**
 * SQL condition: true if a job is about to charge the firm for the order `o`. A job whose `methodId` is null charges
 * nobody. PostgreSQL reads the jobs once, and not once for each order.
 */
const isQueued = sql`coalesce(o.id::text IN (${jobValues(
  firmChargeQueue,
  sql`jsonb_array_elements_text(coalesce(payload -> 'orderIds', jsonb_build_array(payload -> 'orderId')))`,
  sql`payload -> 'methodId' IS DISTINCT FROM 'null'::jsonb`,
)}), false)`;

/** SQL condition: true if a bank is moving money of a checkout for the order `o`. Reads these checkouts once. */
const isPendingAtBank = sql`coalesce(o.id IN (
  SELECT s.order_id FROM checkout_sessions s WHERE s.status = 'pending_funds'
  UNION ALL SELECT k.order_id FROM checkout_parts k JOIN checkout_sessions s ON s.id = k.checkout_id
    WHERE s.status = 'pending_funds'), false)`;

/** The ids of the orders for which a job is about to charge the firm. */
export async function queuedForCharge(db: Sql, orderIds: readonly number[]): Promise<ReadonlySet<number>> {
  const found = await db.query<{ id: number }>(
    sql`SELECT o.id ${fromOrders} WHERE o.id = ANY (${orderIds}::bigint[]) AND ${isQueued}`,
  );
  return new Set(found.map(({ id }) => id));
}

/**
 * `totalCents`: the sum that is due now. `isPostage`: true if that sum is for more postage, and not the order's price.
 */
type WaitingOrder = {
  id: number;
  code: string;
  reference: string | null;
  totalCents: number;
  isPostage: boolean;
};

/** The first waiting orders, and the number and the sum of all of them. */
export type Waiting = { orders: readonly WaitingOrder[]; count: number; totalCents: number };

/** At most this many waiting orders are read. */
const maxWaiting = 1_000;

/**
 * The orders that wait for the firm's payment, oldest first: unpaid orders, and orders whose parcel waits for more
 * postage. The orders after the first `max` are counted without a check of their MACs. Leaves out:
 * - orders that a job, a charge in progress or a bank payment is about to pay
 * - altered orders
 * - orders of $0.00, which only a checkout completes
 * - orders for which the bank wants a person to confirm a charge of the present method
 */
export async function waitingOrders(db: Sql, owner: Owner, max = maxWaiting): Promise<Waiting> {
  const { partnerId, environment } = owner;
  const methodId = (await activeMethod(db, owner).catch(nullIfAltered))?.id ?? null;
  const statuses = orderStatuses.filter(isPayable);
  const payable = sql`o.status = ANY (${statuses}::text[])`;
  const cents = sql`CASE WHEN ${payable} THEN o.total_cents ELSE ${supplementCents} END`;
  const found = await db.query<WaitingOrder & Marked & { count: number; allCents: number }>(sql`
    SELECT o.id, o.code AS "code@order", o.external_reference AS reference, NOT ${payable} AS "isPostage",
      ${cents} AS "totalCents", (count(*) OVER ())::float8 AS count, (sum(${cents}) OVER ())::float8 AS "allCents",
      ${marked(orderState, sql`o`)}, ${markedAll(supplementState, sql`s`, sql`FROM supplements s WHERE s.order_id = o.id`)}
    ${fromOrders}
    WHERE o.partner_id = ${partnerId} AND o.environment = ${environment} AND o.pay_by = 'firm'
      AND o.status = ANY (${[...statuses, withPostage]}::text[]) AND (${payable} OR ${isPostageDue}) AND NOT ${isQueued}
      AND NOT EXISTS (SELECT FROM firm_charges c WHERE c.order_id = o.id AND (${isOpen(sql`c`)}
        OR (c.reason = 'authentication_required' AND c.method_id = ${methodId}::uuid)))
      AND NOT ${isPendingAtBank} AND ${cents} > 0
    ORDER BY o.id LIMIT ${max}`);
  const [{ count, allCents } = { count: 0, allCents: 0 }] = found;
  const altered = found.filter(({ isAuthentic }) => !isAuthentic);
  return {
    orders: found
      .filter(({ isAuthentic }) => isAuthentic)
      .map(({ isAuthentic: _, count: __, allCents: ___, ...order }) => order),
    count: count - altered.length,
    totalCents: allCents - sumOfWaiting(altered),
  };
}

export const sumOfWaiting = (orders: readonly WaitingOrder[]): number =>
  orders.reduce((sum, { totalCents }) => sum + totalCents, 0);

/**
 * True if the charge was refused for lack of a method, an agreement, or a key's limit. One mail covers all such orders.
 */
export const waitsForOwner = ({ reason, askedBy }: Pick<FirmCharge, "reason" | "askedBy">): boolean =>
  reason === "no_method" || reason === "not_agreed" || (reason === "no_limit" && askedBy.startsWith("key:"));

/** SQL condition on a charge `c`: it was refused, and `waitsForOwner` is true. */
const isForOwner = sql`(c.reason IN ('no_method', 'not_agreed') OR (c.reason = 'no_limit' AND starts_with(c.asked_by, 'key:')))`;

const queue = "firm-waiting-mail";

/** The first mail waits this long, so that orders placed one after another share it. */
const firstAfterMs = 10 * minuteMs;

/** Queues the mail about the orders that wait. After the first mail, each owner gets at most one an hour. */
export async function tellOfWaiting(
  tx: Tx,
  { id, partnerId, environment, groupId }: FirmCharge,
  owners: readonly string[],
  at: Date,
): Promise<void> {
  const [earlier] = await tx.query<{ at: Date }>(sql`
    SELECT c.asked_at AS at FROM firm_charges c
    WHERE c.partner_id = ${partnerId} AND c.environment = ${environment} AND c.asked_at > ${new Date(at.getTime() - hourMs)}
      AND c.id <> ${id} AND c.group_id IS DISTINCT FROM ${groupId ?? id} AND ${isForOwner}
    LIMIT 1`);
  for (const userId of owners)
    await enqueueUnlessDue(tx, queue, { partnerId, environment, userId }, earlier ? hourMs : firstAfterMs);
}

type Payload = { partnerId: string; environment: Environment; userId: string };

/** Tells an owner how many orders wait for the firm's payment, and how they are paid. */
export const waitingMail = defineMail({
  queue,
  async load({ userId, ...owner }: Payload, deps) {
    const waiting = await waitingOrders(deps.db, owner);
    const reader = await findActiveActor(deps.db, deps, owner, `member:${userId}`);
    if (waiting.count === 0 || reader?.role !== "owner" || reader.email === null) return null;
    // The mail's id contains the charge that was refused last. An order's id would not do: an older order may begin to
    // wait later, and not all of many orders are read.
    const [last] = await deps.db.query<{ id: string }>(sql`
      SELECT c.id FROM firm_charges c
      WHERE c.partner_id = ${owner.partnerId} AND c.environment = ${owner.environment} AND ${isForOwner}
      ORDER BY c.asked_at DESC, c.id LIMIT 1`);
    const hasMethod = (await activeMethod(deps.db, owner)) !== undefined;
    return { waiting, to: reader.email, hasMethod, cause: last?.id };
  },
  write: ({ waiting: { count, totalCents }, to, hasMethod, cause }, { environment, userId }, { baseUrl }) => {
    const isOne = count === 1;
    return {
      id: `firm-waiting:${cause}:${userId}`,
      to,
      environment,
      greeting: "Hello,",
      subject: isOne ? "An order waits for a payment of your firm" : `${count} orders wait for a payment of your firm`,
      lines: [
        hasMethod
          ? `${isOne ? "An order that your firm pays was" : "Orders that your firm pays were"} not charged: nobody of your firm has agreed to the sum, or an owner has not allowed the API key that placed ${isOne ? "it" : "them"} to spend. An owner can charge ${isOne ? "it" : "all of them at once"} under Billing.`
          : `Your firm has no card or bank account that can be charged. Add one under Billing; an owner then charges ${isOne ? "it" : "all of them at once"} there.`,
        `Nothing is charged until somebody of your firm asks for it. Each order can also be paid on its own page.`,
      ],
      facts: [["Orders", String(count)] as const, ["Together", dollars(totalCents)] as const],
      link: { label: "Open Billing", url: `${baseUrl}/dashboard/billing#waiting` },
      caution: "You receive this email because you are an owner of the firm.",
    };
  },
});
