import { dayMs, hourMs, minuteMs } from "../../kernel/platform/clock.ts";
import type { Database, Sql, Tx } from "../../kernel/platform/database/database.ts";
import { sql } from "../../kernel/platform/database/sql.ts";
import { type Marked, marked } from "../../kernel/platform/database/state-mac.ts";
import { enqueueAfter, waitedMs } from "../../kernel/platform/jobs/jobs.ts";
import {
  fromOrders,
  isFailureOfFirm,
  isOfSameClient,
  isPayable,
  type MailMoment,
  type OrderMail,
  type OrderStatus,
  orderMailQueue,
  orderState,
  wasPaid,
} from "../order/order.ts";
import { isPaidByFirm } from "../payments/payments.ts";

/**
 * Returns the closing rooms that contain the order and belong to its firm, each with the firm's orders in it.
 * `closing/rooms` implements this.
 */
export type ClosingsOf = (
  db: Sql,
  orderId: number,
) => Promise<readonly { id: string; name: string; orders: readonly number[] }[]>;

/** An order of the same client in the closing of the mail's order. The mail may cover it, too. */
type Peer = {
  id: number;
  status: OrderStatus;
  statusBeforeHold: OrderStatus | null;
  isFailureOfFirm: boolean;
  isPaidByFirm: boolean;
};

/**
 * The orders that one mail covers, sorted as in the closing. `closing`: the closing's name; null for a mail about one
 * order by itself, even if that order is in a closing.
 */
type Covered = { closing: string | null; orderIds: readonly number[] };

type Deps = { db: Database; closingsOf: ClosingsOf };

/**
 * In a closing of several documents, no mail reports these events, unless somebody sends it again. The client sees the
 * progress on the closing's pages, and the mail at the end mentions all documents.
 */
const onPages: ReadonlySet<MailMoment> = new Set(["signed", "shipped", "delivered", "fax_delivered"] as const);

/**
 * The events that one mail can report for several orders of a closing. Each function returns true if another order has
 * reached the event.
 */
const merged: Partial<Record<MailMoment, (peer: Peer) => boolean>> = {
  quote_ready: ({ status }) => isPayable(status),
  payment_received: (peer) => isPaidByClient(peer),
  payment_failed: ({ status, isFailureOfFirm }) => status === "PaymentFailed" && !isFailureOfFirm,
  completed: ({ status }) => status === "Completed",
  cancelled: ({ status }) => status === "Cancelled",
  refunded: ({ status, isPaidByFirm }) => status === "Refunded" && !isPaidByFirm,
};

const isPaidByClient = ({ status, statusBeforeHold, isPaidByFirm }: Peer): boolean =>
  wasPaid(status, statusBeforeHold) && !isPaidByFirm;

/** The kinds of mails that name all documents in the same state, even those that an earlier mail named. */
const repeated: ReadonlySet<MailMoment> = new Set(["quote_ready", "payment_failed"] as const);

/**
 * The mail about a received payment waits at most this long for other payments. Payments for several documents of a
 * closing usually arrive within seconds.
 */
const payingMs = 5_000;
/**
 * The mail about a received payment waits at most this long for the client's request to sign, which also confirms the
 * payment. That request is usually sent a few seconds after the payment, once the documents are prepared.
 */
const askedMs = minuteMs;
/**
 * The mail about a completed document waits at most this long for others: `working` for documents in progress, `stuck`
 * for documents that a person must correct.
 */
const maxWaitMs = { working: 3 * dayMs, stuck: 30 * minuteMs };
const stuck: ReadonlySet<OrderStatus> = new Set([
  "OnHold",
  "EsignDeclined",
  "EsignExpired",
  "NotarizationFailed",
  "IdentityLocked",
  "ShippingFailed",
  "FaxFailed",
  "RefundPending",
]);
const ended: ReadonlySet<OrderStatus> = new Set(["Completed", "Cancelled", "Refunded"]);

/**
 * Decides which orders a mail to a client covers. In a closing of several documents, one mail covers all documents that
 * the same event has reached.
 * @returns null when no mail is sent now: another mail covers the order, the closing's pages show the event, or the
 * mail was queued again for later
 */
export async function coveredBy(deps: Deps, about: OrderMail): Promise<Covered | null> {
  const { db } = deps;
  const { orderId, moment, isAlone, isWhole } = about;
  const alone = { closing: null, orderIds: [orderId] };
  const hasReached = merged[moment];
  if (isAlone || (!hasReached && !onPages.has(moment))) return alone;
  const closing =
    (await closingOf(deps, orderId)) ?? (moment === "payment_received" ? await aloneOf(db, orderId) : null);
  if (!closing) return alone;
  if (!hasReached) return null;
  const { peers } = closing;
  if (isWhole) return { closing: closing.name, orderIds: peers.filter(hasReached).map(({ id }) => id) };
  const hasWaitedMs = await waitedMs(db, sinceOf(about));
  const isAsked = moment === "payment_received" && hasWaitedMs < askedMs && (await isToBeAsked(db, peers));
  const lookMs = about.isRepeated ? null : isAsked ? 1_000 : nextLookMs(moment, peers, hasWaitedMs);
  if (lookMs !== null) {
    await enqueueAfter(db, orderMailQueue, about, lookMs);
    return null;
  }
  const orderIds = await db.transaction((tx) => claim(tx, about, { ...closing, hasReached }));
  return orderIds.length === 0 ? null : { closing: closing.name, orderIds };
}

/**
 * The time when the mail was queued, by the database's clock, because the clocks of nodes can differ. A job that an
 * earlier release queued has only a node's time.
 */
const sinceOf = ({ at, queuedAt }: OrderMail): string => queuedAt ?? at;

/** The delay, in milliseconds, before the mail checks the other orders again; null to send it now. */
function nextLookMs(moment: MailMoment, peers: readonly Peer[], hasWaitedMs: number): number | null {
  if (moment === "payment_received")
    return hasWaitedMs < payingMs && peers.some(({ status }) => isPayable(status)) ? 1_000 : null;
  if (moment !== "completed") return null;
  const open = peers.filter((peer) => wasPaid(peer.status, peer.statusBeforeHold) && !ended.has(peer.status));
  const waits = (isStuck: boolean) => open.some(({ status }) => stuck.has(status) === isStuck);
  const { working, stuck: putRight } = maxWaitMs;
  const isWaiting = (waits(false) && hasWaitedMs < working) || (waits(true) && hasWaitedMs < putRight);
  if (!isWaiting) return null;
  return hasWaitedMs < hourMs ? minuteMs : 10 * minuteMs;
}

/** The orders of one client that a mail may cover together. `name` is that of their closing; null without one. */
type Group = { id: string; name: string | null; peers: readonly Peer[] };

const peersOf = (db: Sql, orderId: number, orders: readonly number[]) =>
  db.query<Peer & Marked>(sql`
    SELECT o.id, o.status, o.status_before_hold AS "statusBeforeHold", ${isFailureOfFirm(sql`o.id`)} AS "isFailureOfFirm",
      ${isPaidByFirm(sql`o.id`)} AS "isPaidByFirm", ${marked(orderState, sql`o`)}
    ${fromOrders} WHERE ${isOfSameClient(orderId)} AND o.id = ANY (${orders}::bigint[]) ORDER BY array_position(${orders}::bigint[], o.id)`);

/** The group of an order that shares its mails with no other order. */
async function aloneOf(db: Sql, orderId: number): Promise<Group> {
  return { id: `order ${orderId}`, name: null, peers: await peersOf(db, orderId, [orderId]) };
}

/**
 * The first closing in which the client has several orders. Leaves out the client's other orders if their MAC is
 * invalid.
 */
async function closingOf({ db, closingsOf }: Deps, orderId: number): Promise<Group | null> {
  for (const { id, name, orders } of await closingsOf(db, orderId)) {
    if (orders.length < 2) continue;
    const found = await peersOf(db, orderId, orders);
    const peers = found.filter((each) => each.isAuthentic || each.id === orderId);
    if (peers.length > 1) return { id, name, peers };
  }
  return null;
}

/** True if the client will soon be mailed a request to sign a document whose payment no mail has confirmed yet. */
async function isToBeAsked(db: Sql, peers: readonly Peer[]): Promise<boolean> {
  const asked = await db.query(sql`
    SELECT ${fromOrders} LEFT JOIN LATERAL jsonb_array_elements(o.signers) own ON lower(own->>'email') = lower(o.customer_email)
    WHERE o.id = ANY (${peers.map(({ id }) => id)}::bigint[]) AND o.sign AND o.status = ANY ('{Paid,EsignPending}')
      AND (o.signers IS NULL OR own IS NOT NULL AND NOT EXISTS (
        SELECT FROM jsonb_array_elements(o.signers) other WHERE (other->>'routing')::int < (own->>'routing')::int))
      AND NOT EXISTS (SELECT FROM client_mails m WHERE m.order_id = o.id AND m.moment = 'payment_received')
    LIMIT 1`);
  return asked.length > 0;
}

/** Payments that a request to sign also confirms, so that they need no mail of their own. */
export type MentionedPayments = { orderIds: readonly number[]; totalCents: number; at: string };

/**
 * Claims the payments that a request to sign confirms: those of the signer's closing, or of a single order. The signer
 * must be the client who paid, and no other mail may have confirmed the payments. A repeated job gets the same
 * payments.
 * @param asked `mail` identifies the request to sign
 * @returns null when there is nothing to confirm
 */
export async function claimMentionedPayments(
  deps: Deps,
  asked: { orderId: number; email: string; mail: string },
): Promise<MentionedPayments | null> {
  const { db } = deps;
  const { orderId, email } = asked;
  const closing = (await closingOf(deps, orderId)) ?? (await aloneOf(db, orderId));
  const [isClient] = await db.query(sql`
    SELECT ${fromOrders} WHERE o.id = ${orderId} AND lower(o.customer_email) = lower(${email}) AND o.pay_by = 'client'`);
  if (!isClient) return null;
  const mail = `${signingMark}${asked.mail}`;
  const paid = closing.peers.filter(isPaidByClient);
  const ids = paid.map(({ id }) => id);
  return db.transaction(async (tx) => {
    await lockMails(tx, closing);
    const claims = await claimsOf(tx, "payment_received", ids);
    const own = claims.filter((each) => each.mail === mail).map((each) => each.orderId);
    const mentioned = new Set(claims.map((each) => each.orderId));
    const orderIds = own.length > 0 ? own : ids.filter((id) => !mentioned.has(id));
    if (orderIds.length === 0) return null;
    if (own.length === 0) await insertClaims(tx, { orderIds, moment: "payment_received", mail });
    const [sum] = await tx.query<{ totalCents: number; at: Date }>(sql`
      SELECT sum(o.total_cents)::int AS "totalCents", min(c.claimed_at) AS at
      ${fromOrders} JOIN client_mail_claims c ON c.order_id = o.id AND c.moment = 'payment_received'
      WHERE o.id = ANY (${orderIds}::bigint[])`);
    return sum ? { orderIds, totalCents: sum.totalCents, at: sum.at.toISOString() } : null;
  });
}

/** The prefix of `client_mail_claims.mail` for a mail to a signer. */
export const signingMark = "sign:";

const lockMails = (tx: Tx, { id }: Pick<Group, "id">) =>
  tx.query(sql`SELECT pg_advisory_xact_lock(hashtextextended(${`client-mail:${id}`}, 0))`);

/**
 * Reads the claims of mails about this event on these orders. A row with a null `mail` means that such a mail was sent
 * for the order. `isLater`: true if the claim or the sending was at `since` or later, by the database's clock.
 */
const claimsOf = (tx: Tx, moment: MailMoment, ids: readonly number[], since: string | null = null) =>
  tx.query<Claim>(sql`
    SELECT order_id AS "orderId", mail, claimed_at >= ${since}::timestamptz AS "isLater" FROM client_mail_claims
    WHERE moment = ${moment} AND order_id = ANY (${ids}::bigint[])
    UNION ALL
    SELECT order_id, NULL, max(sent_at) >= ${since}::timestamptz FROM client_mails
    WHERE moment = ${moment} AND order_id = ANY (${ids}::bigint[]) GROUP BY order_id`);

const insertClaims = (
  tx: Tx,
  { orderIds, moment, mail }: { orderIds: readonly number[]; moment: MailMoment; mail: string },
) =>
  tx.query(sql`
    INSERT INTO client_mail_claims (order_id, moment, mail, claimed_at)
    SELECT id, ${moment}::text, ${mail}::text, clock_timestamp() FROM unnest(${orderIds}::bigint[]) id
    ON CONFLICT (order_id, moment) DO UPDATE SET mail = excluded.mail, claimed_at = excluded.claimed_at`);

type Claim = { orderId: number; mail: string | null; isLater: boolean };

/**
 * Claims the mail's own order, and the orders that no earlier mail about the same event covers. A repeated mail, and a
 * mail of a kind in `repeated`, also claims orders that an earlier mail covered. A repeated job gets the same orders.
 * @returns an empty list when a later mail covers the mail's own order
 */
async function claim(
  tx: Tx,
  about: OrderMail,
  { id, peers, hasReached }: Group & { hasReached: (peer: Peer) => boolean },
): Promise<number[]> {
  const { orderId, moment, at } = about;
  await lockMails(tx, { id });
  const mail = `${orderId} ${at}`;
  const ids = peers.map((peer) => peer.id);
  const found = await claimsOf(tx, moment, ids, sinceOf(about));
  const isSent = (each: Claim) => found.some((other) => other.mail === null && other.orderId === each.orderId);
  // Ignores a claim by a signer's mail that was never sent, such as for a signer who was replaced.
  const claims = found.filter((each) => !each.mail?.startsWith(signingMark) || isSent(each));
  const own = claims.filter((each) => each.mail === mail).map((each) => each.orderId);
  if (own.length > 0) return ids.filter((each) => own.includes(each));
  const isCovered = (each: Claim) => each.orderId === orderId && each.isLater;
  if (claims.some((each) => each.mail !== null && isCovered(each))) return [];
  const isMentioned = ({ isLater }: Claim) => !(about.isRepeated || repeated.has(moment)) || isLater;
  const mentioned = new Set(claims.filter(isMentioned).map((each) => each.orderId));
  const orderIds = peers
    .filter((peer) => peer.id === orderId || (!mentioned.has(peer.id) && hasReached(peer)))
    .map((peer) => peer.id);
  await insertClaims(tx, { orderIds, moment, mail });
  return orderIds;
}
