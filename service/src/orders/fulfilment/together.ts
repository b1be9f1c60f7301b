import { type Clock, dayMs, hourMs, minuteMs } from "../../kernel/platform/clock.ts";
import type { Database, Sql, Tx } from "../../kernel/platform/database/database.ts";
import { sql } from "../../kernel/platform/database/sql.ts";
import { type Marked, marked } from "../../kernel/platform/database/state-mac.ts";
import { enqueueAfter } from "../../kernel/platform/jobs/jobs.ts";
import { isPayable, type MailMoment, type OrderMail, orderMailQueue, orderState, wasPaid } from "../order/order.ts";

/**
 * Returns the closing rooms of the order's own firm that contain the order, each with that firm's orders in it.
 * `closing/rooms` implements this.
 */
export type ClosingsOf = (
  db: Sql,
  orderId: number,
) => Promise<readonly { id: string; name: string; orders: readonly number[] }[]>;

/** An order that a mail may cover, because it has the same client in the same closing. */
type Peer = { id: number; status: string; statusBeforeHold: string | null };

/**
 * The orders that one mail covers, in the order of the closing, and the closing's name; null for an order by itself.
 */
type Covered = { closing: string | null; orderIds: readonly number[] };

type Deps = { db: Database; clock: Clock; closingsOf: ClosingsOf };

/**
 * In a closing of several documents, no mail is sent at these moments. The client sees the progress on the closing's
 * pages, and the mail at the end mentions all documents.
 */
const onPages: ReadonlySet<MailMoment> = new Set(["signed", "shipped", "delivered", "fax_delivered"] as const);

/**
 * The moments at which one mail covers several orders of a closing. Each function tells whether another order has
 * reached the moment.
 */
const merged: Partial<Record<MailMoment, (peer: Peer) => boolean>> = {
  quote_ready: ({ status }) => isPayable(status),
  payment_received: ({ status, statusBeforeHold }) => wasPaid(status, statusBeforeHold),
  payment_failed: ({ status }) => status === "PaymentFailed",
  completed: ({ status }) => status === "Completed",
  cancelled: ({ status }) => status === "Cancelled",
  refunded: ({ status }) => status === "Refunded",
};

/** A mail about unpaid money names all unpaid documents, even those that an earlier mail named. */
const repeated: ReadonlySet<MailMoment> = new Set(["quote_ready", "payment_failed"] as const);

/**
 * How long a payment mail waits for other payments. Documents of a closing that are paid separately are usually paid
 * within seconds.
 */
const payingMs = 5_000;
/**
 * How long the mail about a completed document waits for other documents: `working` for documents in progress, `stuck`
 * for documents that somebody must correct.
 */
const longestWaitMs = { working: 3 * dayMs, stuck: 30 * minuteMs };
const stuck: ReadonlySet<string> = new Set([
  "OnHold",
  "EsignDeclined",
  "EsignExpired",
  "NotarizationFailed",
  "IdentityLocked",
  "ShippingFailed",
  "FaxFailed",
  "RefundPending",
]);
const ended: ReadonlySet<string> = new Set(["Completed", "Cancelled", "Refunded"]);

/**
 * Decides which orders a mail to a client covers. In a closing of several documents, one mail covers all documents that
 * have reached the same moment.
 * @returns null when no mail is sent now: another mail covers the order, the closing's pages show the moment, or the
 * mail was queued again for later
 */
export async function coveredBy(deps: Deps, about: OrderMail): Promise<Covered | null> {
  const { db, clock } = deps;
  const { orderId, moment, at, isAlone } = about;
  const alone = { closing: null, orderIds: [orderId] };
  const hasReached = merged[moment];
  if (isAlone || (!hasReached && !onPages.has(moment))) return alone;
  const closing = await closingOf(deps, orderId);
  if (!closing) return alone;
  if (!hasReached) return null;
  const { peers } = closing;
  const waitedMs = clock().getTime() - Date.parse(at);
  const lookMs = nextLookMs(moment, peers, waitedMs);
  if (lookMs !== null) {
    await enqueueAfter(db, orderMailQueue, about, lookMs);
    return null;
  }
  const orderIds = await db.transaction((tx) => claim(tx, clock, about, { ...closing, hasReached }));
  return orderIds.length === 0 ? null : { closing: closing.name, orderIds };
}

/** How long, in milliseconds, a mail waits before it checks the other orders again; null when it waits no more. */
function nextLookMs(moment: MailMoment, peers: readonly Peer[], waitedMs: number): number | null {
  if (moment === "payment_received")
    return waitedMs < payingMs && peers.some(({ status }) => isPayable(status)) ? 1_000 : null;
  if (moment !== "completed") return null;
  const open = peers.filter((peer) => wasPaid(peer.status, peer.statusBeforeHold) && !ended.has(peer.status));
  const waits = (isStuck: boolean) => open.some(({ status }) => stuck.has(status) === isStuck);
  const { working, stuck: putRight } = longestWaitMs;
  const isWaiting = (waits(false) && waitedMs < working) || (waits(true) && waitedMs < putRight);
  if (!isWaiting) return null;
  return waitedMs < hourMs ? minuteMs : 10 * minuteMs;
}

type Group = { id: string; name: string; peers: readonly Peer[] };

/** The first closing in which the client has several orders. Orders that fail their MAC are left out. */
async function closingOf({ db, closingsOf }: Deps, orderId: number): Promise<Group | null> {
  for (const { id, name, orders } of await closingsOf(db, orderId)) {
    if (orders.length < 2) continue;
    const found = await db.query<Peer & Marked>(sql`
      SELECT o.id, o.status, o.status_before_hold AS "statusBeforeHold", ${marked(orderState, sql`o`)}
      FROM orders o JOIN orders own ON own.id = ${orderId} AND own.partner_id = o.partner_id
        AND own.environment = o.environment AND own.pay_by = o.pay_by AND lower(own.customer_email) = lower(o.customer_email)
      WHERE o.id = ANY (${orders}::bigint[]) ORDER BY array_position(${orders}::bigint[], o.id)`);
    const peers = found.filter((each) => each.isAuthentic || each.id === orderId);
    if (peers.length > 1) return { id, name, peers };
  }
  return null;
}

type Claim = { orderId: number; mail: string | null; claimedAt: Date };

/** Claims the orders that no other mail of this moment covers. When the job runs again, it gets the same orders. */
async function claim(
  tx: Tx,
  clock: Clock,
  { orderId, moment, at }: OrderMail,
  { id, peers, hasReached }: Group & { hasReached: (peer: Peer) => boolean },
): Promise<number[]> {
  await tx.query(sql`SELECT pg_advisory_xact_lock(hashtextextended(${`client-mail:${id}`}, 0))`);
  const mail = `${orderId} ${at}`;
  const ids = peers.map((peer) => peer.id);
  const claims = await tx.query<Claim>(sql`
    SELECT order_id AS "orderId", mail, claimed_at AS "claimedAt" FROM client_mail_claims
    WHERE moment = ${moment} AND order_id = ANY (${ids}::bigint[])
    UNION ALL
    SELECT order_id, NULL, max(sent_at) FROM client_mails
    WHERE moment = ${moment} AND order_id = ANY (${ids}::bigint[]) GROUP BY order_id`);
  const own = claims.filter((each) => each.mail === mail).map((each) => each.orderId);
  if (own.length > 0) return ids.filter((each) => own.includes(each));
  const isCovered = (each: Claim) => each.orderId === orderId && each.claimedAt.getTime() >= Date.parse(at);
  if (claims.some((each) => each.mail !== null && isCovered(each))) return [];
  const isTold = ({ claimedAt }: Claim) => !repeated.has(moment) || claimedAt.getTime() >= Date.parse(at);
  const told = new Set(claims.filter(isTold).map((each) => each.orderId));
  const orderIds = peers
    .filter((peer) => peer.id === orderId || (!told.has(peer.id) && hasReached(peer)))
    .map((peer) => peer.id);
  await tx.query(sql`
    INSERT INTO client_mail_claims (order_id, moment, mail, claimed_at)
    SELECT id, ${moment}::text, ${mail}::text, ${clock()}::timestamptz FROM unnest(${orderIds}::bigint[]) id
    ON CONFLICT (order_id, moment) DO UPDATE SET mail = excluded.mail, claimed_at = excluded.claimed_at`);
  return orderIds;
}
