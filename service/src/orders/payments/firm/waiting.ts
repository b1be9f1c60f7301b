/** Unpaid orders that the firm pays and for which no charge is queued: their list, and the mail about them. */
import { findActiveActor } from "../../../firms/members/members.ts";
import type { Environment, Owner } from "../../../kernel/identity/identity.ts";
import { dayMs, minuteMs } from "../../../kernel/platform/clock.ts";
import type { Sql, Tx } from "../../../kernel/platform/database/database.ts";
import { sql } from "../../../kernel/platform/database/sql.ts";
import { type Marked, marked } from "../../../kernel/platform/database/state-mac.ts";
import { enqueueUnlessDue, hasJob } from "../../../kernel/platform/jobs/jobs.ts";
import { defineMail } from "../../../kernel/platform/mail/mail-jobs.ts";
import { dollars } from "../../dollars.ts";
import { firmChargeQueue, fromOrders, isPayable, orderState, orderStatuses } from "../../order/order.ts";
import type { FirmCharge } from "./charge-store.ts";
import { activeMethod } from "./store.ts";

/**
 * SQL condition: true if a job is about to charge the firm for the order `o`. A job whose `methodId` is null charges
 * nobody.
 */
const isQueued = hasJob(
  firmChargeQueue,
  sql`(payload ->> 'orderId' = o.id::text OR payload -> 'orderIds' @> to_jsonb(o.id))
    AND payload -> 'methodId' IS DISTINCT FROM 'null'::jsonb`,
);

/** The ids of the orders for which a job is about to charge the firm. */
export async function queuedForCharge(db: Sql, orderIds: readonly number[]): Promise<ReadonlySet<number>> {
  const found = await db.query<{ id: number }>(
    sql`SELECT o.id ${fromOrders} WHERE o.id = ANY (${orderIds}::bigint[]) AND ${isQueued}`,
  );
  return new Set(found.map(({ id }) => id));
}

export type WaitingOrder = { id: number; code: string; reference: string | null; totalCents: number };

/** At most this many waiting orders are read. */
export const mostWaiting = 1_000;

/**
 * The firm's unpaid orders that no job, charge in progress or bank payment is about to pay, the oldest first. Leaves
 * out altered orders, and those for which the bank wants a person to confirm a charge of the present method.
 */
export async function waitingOrders(db: Sql, owner: Owner): Promise<WaitingOrder[]> {
  const { partnerId, environment } = owner;
  const methodId = (await activeMethod(db, owner))?.id ?? null;
  const found = await db.query<WaitingOrder & Marked>(sql`
    SELECT o.id, o.code AS "code@order", o.external_reference AS reference, o.total_cents AS "totalCents",
      ${marked(orderState, sql`o`)}
    ${fromOrders}
    WHERE o.partner_id = ${partnerId} AND o.environment = ${environment} AND o.pay_by = 'firm'
      AND o.status = ANY (${orderStatuses.filter(isPayable)}::text[]) AND NOT ${isQueued}
      AND NOT EXISTS (SELECT FROM firm_charges c WHERE c.order_id = o.id AND (c.state IN ('asked', 'answered', 'pending')
        OR (c.reason = 'authentication_required' AND c.method_id = ${methodId}::uuid)))
      AND NOT EXISTS (SELECT FROM checkout_sessions s WHERE s.status = 'pending_funds' AND (s.order_id = o.id
        OR s.id IN (SELECT k.checkout_id FROM checkout_parts k WHERE k.order_id = o.id)))
    ORDER BY o.id LIMIT ${mostWaiting}`);
  return found.filter(({ isAuthentic }) => isAuthentic).map(({ isAuthentic: _, ...order }) => order);
}

export const sumOfWaiting = (orders: readonly WaitingOrder[]): number =>
  orders.reduce((sum, { totalCents }) => sum + totalCents, 0);

/** True if the order of this refused charge waits until the firm acts. One mail names all such orders. */
export const waitsForOwner = ({ reason, askedBy }: Pick<FirmCharge, "reason" | "askedBy">): boolean =>
  reason === "no_method" || reason === "not_agreed" || (reason === "no_limit" && askedBy.startsWith("key:"));

const queue = "firm-waiting-mail";

/** The first mail waits this long, so that orders placed one after another share it. */
const firstAfterMs = 10 * minuteMs;

/** Queues the mail about the orders that wait. After the first mail, each owner gets at most one a day. */
export async function tellOfWaiting(
  tx: Tx,
  { id, partnerId, environment, groupId }: FirmCharge,
  owners: readonly string[],
  at: Date,
): Promise<void> {
  const [earlier] = await tx.query<{ at: Date }>(sql`
    SELECT c.asked_at AS at FROM firm_charges c
    WHERE c.partner_id = ${partnerId} AND c.environment = ${environment} AND c.asked_at > ${new Date(at.getTime() - dayMs)}
      AND c.id <> ${id} AND c.group_id IS DISTINCT FROM ${groupId ?? id}
      AND (c.reason IN ('no_method', 'not_agreed') OR (c.reason = 'no_limit' AND starts_with(c.asked_by, 'key:')))
    LIMIT 1`);
  for (const userId of owners)
    await enqueueUnlessDue(tx, queue, { partnerId, environment, userId }, earlier ? dayMs : firstAfterMs);
}

type Payload = { partnerId: string; environment: Environment; userId: string };

/** Tells an owner how many orders wait for the firm's payment, and how they are paid. */
export const waitingMail = defineMail({
  queue,
  async load({ userId, ...owner }: Payload, deps) {
    const orders = await waitingOrders(deps.db, owner);
    const reader = await findActiveActor(deps.db, deps, owner, `member:${userId}`);
    if (orders.length === 0 || reader?.role !== "owner" || reader.email === null) return null;
    return { orders, to: reader.email, hasMethod: (await activeMethod(deps.db, owner)) !== undefined };
  },
  write: ({ orders, to, hasMethod }, { environment, userId }, { baseUrl }) => {
    const isOne = orders.length === 1;
    return {
      id: `firm-waiting:${orders.at(-1)?.id}:${userId}`,
      to,
      environment,
      greeting: "Hello,",
      subject: isOne
        ? "An order waits for a payment of your firm"
        : `${orders.length} orders wait for a payment of your firm`,
      lines: [
        hasMethod
          ? `${isOne ? "An order that your firm pays was" : "Orders that your firm pays were"} not charged: nobody agreed to a charge when ${isOne ? "it was" : "they were"} placed, or an owner has not allowed the API key that placed ${isOne ? "it" : "them"} to spend. An owner can charge ${isOne ? "it" : "all of them at once"} under Billing.`
          : `Your firm has no card or bank account that can be charged. Add one under Billing; an owner then charges ${isOne ? "it" : "all of them at once"} there.`,
        `Nothing is charged until somebody of your firm asks for it. Each order can also be paid on its own page.`,
      ],
      facts: [["Orders", String(orders.length)] as const, ["Together", dollars(sumOfWaiting(orders))] as const],
      link: { label: "Open Billing", url: `${baseUrl}/dashboard/billing#waiting` },
      caution: "You receive this email because you are an owner of the firm.",
    };
  },
});
