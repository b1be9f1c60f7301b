import { hourMs, minuteMs } from "../../../kernel/platform/clock.ts";
import type { Sql } from "../../../kernel/platform/database/database.ts";
import { type Statement, sql } from "../../../kernel/platform/database/sql.ts";
import { enqueueAfter, waitedMs } from "../../../kernel/platform/jobs/jobs.ts";
import type { RowMac } from "../../../kernel/platform/row-mac.ts";
import { fromOrders, hasDocument, joinOrder } from "../../../orders/order/order.ts";
import { type SigningMail, signingMailQueue } from "../lifecycle/issue-link.ts";
import { findCopySession, findSession, type JoinDeps } from "../lifecycle/join-session.ts";
import { type Person, waitsForNotary } from "../records/notarized-mails.ts";
import {
  claimForMail,
  claimReminder,
  placeOfSigner,
  placesOfSession,
  releaseFromMail,
  type SessionPlace,
} from "../records/sessions.ts";

/** The signer's row for which a mail was queued. */
export type Asked = Person & { id: number; orderId: number; issuedAt: Date | null; endedAt: Date | null };

type GatherDeps = JoinDeps & { rowMac: RowMac };

/**
 * Tells whether a session's link opens documents of other orders; null if it opens none. `others` is `awaited` if the
 * person can still sign one of them. `place` is the place of one of them.
 */
export async function othersIn(
  { db, clock }: Pick<GatherDeps, "db" | "clock">,
  sessionId: string,
  orderId: number,
): Promise<{ place: SessionPlace; others: "awaited" | "open" } | null> {
  const places = await placesOfSession(db, sessionId);
  const others = await db.query<{ signerId: number; isAwaited: boolean }>(sql`
    SELECT s.id AS "signerId", s.signed_at IS NULL AND e.ended_at IS NULL AND e.expires_at > ${clock()} AS "isAwaited"
    FROM envelope_signers s JOIN envelopes e ON e.id = s.envelope_id
    WHERE s.id = ANY (${places.map(({ signerId }) => signerId)}::bigint[]) AND e.order_id <> ${orderId}`);
  const place = places.find((each) => others.some(({ signerId }) => signerId === each.signerId));
  return place ? { place, others: others.some(({ isAwaited }) => isAwaited) ? "awaited" : "open" } : null;
}

/** The documents of a session that one mail covers, at least one. Null for a signer without a session. */
export type Together = { place: SessionPlace; signerIds: readonly number[] } | null;

/**
 * The longest delay of a mail while other documents are not ready. Documents that are paid together are usually
 * prepared within seconds. A document that can't be prepared must not delay the mail about the others for long.
 */
const maxWaitMs = { request: 2 * minuteMs, signed: 30 * minuteMs, notarized: 30 * minuteMs };
/**
 * How long a mail that requests signatures waits at most for unpaid orders of the closing room. Orders that are paid
 * separately are often paid within seconds of each other.
 */
const unpaidWaitMs = 5_000;
/** How often a delayed mail checks the other documents again. */
const lookMs = { request: 1_000, signed: minuteMs, notarized: minuteMs };

type Gathered = keyof typeof maxWaitMs;
const isGathered = (moment: SigningMail["moment"]): moment is Gathered => Object.hasOwn(maxWaitMs, moment);

/**
 * Decides which documents a mail covers. One mail requests all signatures of a person in a closing room, and one
 * delivers all copies. Documents that are not ready within `maxWaitMs` get another mail.
 * @returns `null` when no mail is sent now: another mail covers the document, or this mail is queued again until other
 * documents are ready. Also `null` for the job `joined`, which sends no mail
 */
export async function gather(
  deps: GatherDeps,
  asked: Asked,
  about: SigningMail,
): Promise<{ together: Together } | null> {
  const { db } = deps;
  const { moment } = about;
  if (isGathered(moment) && (await mustWait(deps, asked, about, moment))) {
    await enqueueAfter(db, signingMailQueue, about, lookMs[moment]);
    return null;
  }
  if (moment === "request" || moment === "reminder" || moment === "joined")
    await findSession(deps, asked.id, asked.orderId);
  if (moment === "notarized") await findCopySession(deps, asked.id, asked.orderId);
  const place = moment === "joined" ? undefined : await placeOfSigner(db, asked.id);
  if (moment === "joined") return null;
  await release(db, about, place?.id ?? null);
  if (!place) return { together: null };
  const signerIds = await claimMentioned(deps, place, asked, about);
  return signerIds.length === 0 ? null : { together: { place, signerIds } };
}

/**
 * The deduplication key of a mail. After an order has left its closing room, a second mail is sent with the same link.
 * So the key of that mail also contains the time.
 */
export const claimOf = ({ linkId = "", at }: SigningMail): string => (at === undefined ? linkId : `${linkId} ${at}`);

/**
 * Releases the documents that a mail with a request to sign had claimed but will not cover. For example, their signer
 * was replaced, left the session, or signed before the mail was sent.
 * @param sessionId the session whose documents the mail still covers; null for none
 */
export async function release(db: Sql, about: SigningMail, sessionId: string | null = null): Promise<void> {
  if (about.moment === "request") await releaseFromMail(db, signingMailQueue, claimOf(about), sessionId);
}

async function mustWait(deps: GatherDeps, asked: Asked, { queuedAt }: SigningMail, moment: Gathered): Promise<boolean> {
  const caused = moment === "request" ? asked.issuedAt : asked.endedAt;
  // A job that an earlier release queued has no `queuedAt`. The time when the link was issued or the envelope ended
  // replaces it.
  const since = queuedAt ?? caused?.toISOString();
  const hasWaitedMs = since === undefined ? 0 : await waitedMs(deps.db, since);
  if (hasWaitedMs >= maxWaitMs[moment]) return false;
  if (moment === "request") return areOthersToCome(deps, asked, hasWaitedMs);
  if (moment === "signed") return haveOthers(deps, asked, sql`e.ended_at IS NULL`);
  return (await haveOthers(deps, asked, sql`o.status = 'NotarizationPending'`)) || waitForActs(deps, asked);
}

/**
 * True if the closing room has another document whose signers will soon be asked to sign: its order is paid, or a
 * payment may be in progress.
 */
async function areOthersToCome(
  { db, closingsOf }: JoinDeps,
  { orderId }: Asked,
  hasWaitedMs: number,
): Promise<boolean> {
  const closings = await closingsOf(db, orderId);
  const orders = closings.flatMap((closing) => closing.orders);
  if (orders.length === 0) return false;
  const unpaid = hasWaitedMs < unpaidWaitMs ? ["QuoteReady", "AwaitingPayment"] : [];
  const others = await db.query(sql`
    SELECT ${fromOrders}
    WHERE o.id = ANY (${orders}::bigint[]) AND o.sign AND o.status = ANY (${["Paid", "EsignPending", ...unpaid]}::text[])
      AND NOT EXISTS (SELECT FROM envelopes e WHERE e.order_id = o.id AND e.ended_at IS NULL) LIMIT 1`);
  return others.length > 0;
}

/** True if the person has another document in the closing room that waits for its notary. */
async function waitForActs({ db, rowMac, closingsOf }: GatherDeps, asked: Asked): Promise<boolean> {
  const orders = (await closingsOf(db, asked.orderId)).flatMap((closing) => closing.orders);
  const others = orders.filter((id) => id !== asked.orderId);
  return others.length > 0 && waitsForNotary(db, rowMac, others, asked);
}

/** True if another document of the session meets the given condition, for example that it is still being signed. */
async function haveOthers({ db }: JoinDeps, { id }: Asked, isWaiting: Statement): Promise<boolean> {
  const others = await db.query(sql`
    SELECT FROM session_signers own JOIN session_signers m ON m.session_id = own.session_id
      JOIN envelope_signers s ON s.id = m.signer_id JOIN envelopes e ON e.id = s.envelope_id ${joinOrder(sql`e.order_id`)}
    WHERE own.signer_id = ${id} AND ${isWaiting} LIMIT 1`);
  return others.length > 0;
}

async function claimMentioned(
  { db, clock }: JoinDeps,
  place: SessionPlace,
  { id }: Asked,
  about: SigningMail,
): Promise<number[]> {
  const { moment } = about;
  const isAsked = sql`s.issued_at IS NOT NULL AND s.signed_at IS NULL AND e.ended_at IS NULL`;
  if (moment === "request") {
    const claim = { column: "asked_by", mail: claimOf(about), which: isAsked } as const;
    return db.transaction((tx) => claimForMail(tx, place.id, claim));
  }
  if (moment === "signed") {
    const claim = { column: "copied_by", mail: String(id), which: sql`e.outcome = 'Completed'` } as const;
    return db.transaction((tx) => claimForMail(tx, place.id, claim));
  }
  if (moment === "notarized") {
    const which = sql`e.outcome = 'Completed' AND ${hasDocument(sql`e.order_id`, "notarized")}`;
    return db.transaction((tx) => claimForMail(tx, place.id, { column: "notarized_by", mail: String(id), which }));
  }
  if (moment !== "reminder") return [id];
  if (!(await claimReminder(db, place.id, `${id} ${about.at}`, clock(), hourMs))) return [];
  const open = await db.query<{ signerId: number }>(sql`
    SELECT m.signer_id AS "signerId" FROM session_signers m JOIN envelope_signers s ON s.id = m.signer_id
      JOIN envelopes e ON e.id = s.envelope_id
    WHERE m.session_id = ${place.id} AND ${isAsked} ORDER BY m.n`);
  return open.map(({ signerId }) => signerId);
}
