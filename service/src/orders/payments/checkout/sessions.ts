import { setTimeout as sleep } from "node:timers/promises";
import { type Clock, hourMs, minuteMs } from "../../../kernel/platform/clock.ts";
import type { Database, Sql, Tx } from "../../../kernel/platform/database/database.ts";
import { hasSqlState, sqlState } from "../../../kernel/platform/database/sql-errors.ts";
import { ServiceError } from "../../../kernel/platform/errors.ts";
import { newUuid } from "../../../kernel/platform/ids.ts";
import { timeLimit } from "../../../kernel/platform/stopwatch.ts";
import { orderPayer, type Payer } from "../../order/order.ts";
import { isOfOtherAccount, presentAccount, processorOfOrder, requireLastAccount } from "../processor/account.ts";
import type { MintedSession } from "../processor/checkout-sessions.ts";
import type { Processor } from "../processor/processor.ts";
import { insertPayer, payerOfCheckout } from "./payers.ts";
import {
  type CheckoutSession,
  currentSessions,
  endSession,
  failMinting,
  insertMinting,
  markReplacing,
  mintRequest,
  type Part,
  partsOf,
  recordMinted,
} from "./store.ts";

export const currency = "usd";
// The processor lets a checkout session stay open for at most 24 hours. An open session is reused until `marginMs`
// before its end.
const sessionMs = 23 * hourMs;
const marginMs = 5 * minuteMs;
// Opening or closing a checkout is tried for at most this long, while other requests hold or change it.
const maxMs = 10_000;
// The pause before the next try, while another request creates the session, which usually takes less than a second.
const pauseMs = 300;

type SessionDeps = { db: Database; clock: Clock; processor: Processor | null };

/**
 * The orders to pay together, and the payer of the checkout. The transaction has locked the orders. `groupId` is null
 * for a single order.
 */
type Wanted = { groupId: string | null; parts: readonly Part[]; payer: Payer };

/** The session to use, or the sessions that the processor must end first. */
type Reserved = { session: CheckoutSession } | { replaced: CheckoutSession[] };

const justPaid = () => new ServiceError("conflict", "A payment was just made. Wait a moment.");
/** Thrown for a session of an earlier or unknown processor account. It can be paid and ended only in that account. */
export class OpenElsewhere extends ServiceError {
  /** The milliseconds until one minute after the session has expired. */
  readonly endsInMs: number;
  constructor({ expiresAt }: CheckoutSession, now: Date) {
    const left = Math.max(0, expiresAt.getTime() - now.getTime());
    const hours = Math.max(1, Math.ceil(left / hourMs));
    super(
      "conflict",
      `An earlier payment page is still open, because the payment processor’s account was changed. It ends within ${hours === 1 ? "an hour" : `${hours} hours`}. Try again then.`,
    );
    this.endsInMs = left + minuteMs;
  }
}
const busy = () => new ServiceError("conflict", "The checkout just changed. Try again.");

/**
 * Reports every lock time-out as `busy`. Many concurrent payers can keep an order locked for too long. Only the first
 * waiting request's error names the locked row, so the row is not checked.
 */
function busyIfLocked(error: unknown): never {
  throw hasSqlState(error, sqlState.lockNotAvailable) ? busy() : error;
}

/**
 * Returns the URL of the open session for exactly these orders, amounts and payer, or creates a session. First ends all
 * other sessions of the orders, and one that is about to expire. Commits before each call of the processor, so that a
 * crash loses no session.
 * @param wanted locks the orders in the transaction, and returns a part of the checkout for each order to pay
 */
export const openSession = (
  deps: SessionDeps,
  processorOf: () => Processor,
  wanted: (tx: Tx) => Promise<Wanted>,
): Promise<string> => open(deps, processorOf, wanted).catch(busyIfLocked);

async function open(
  deps: SessionDeps,
  processorOf: () => Processor,
  wanted: (tx: Tx) => Promise<Wanted>,
): Promise<string> {
  const { db, clock } = deps;
  const ended = new Set<string>();
  for (const isLate = timeLimit(maxMs); !isLate(); ) {
    const present = await presentAccount(deps);
    const reserved = await db.transaction(async (tx) =>
      reserve(tx, await wanted(tx), { now: clock(), ended, present }),
    );
    const processor = processorOf();
    if ("session" in reserved) {
      const { session } = reserved;
      if (await isOfOtherAccount({ db, clock, processor }, session.createdAt))
        throw new OpenElsewhere(session, clock());
      const address = await addressOf(db, processor, session);
      if (address !== null) return address;
      await sleep(pauseMs);
      continue;
    }
    for (const session of reserved.replaced) {
      if ((await endAtProcessor({ db, clock, processor }, session)) === "complete") throw justPaid();
      ended.add(session.id);
    }
  }
  throw busy();
}

type Reserving = { now: Date; ended: ReadonlySet<string>; present: string | null };

async function reserve(
  tx: Tx,
  { groupId, parts, payer }: Wanted,
  { now, ended, present }: Reserving,
): Promise<Reserved> {
  const sessions = await currentSessions(
    tx,
    parts.map(({ orderId }) => orderId),
  );
  const amountCents = parts.reduce((sum, part) => sum + part.amountCents, 0);
  const [only] = sessions;
  if (only && sessions.length === 1 && only.groupId === groupId && isUsable(only, amountCents, now)) {
    const { supplementId } = only;
    const shared = groupId === null ? parts.map((part) => ({ ...part, supplementId })) : await partsOf(tx, only.id);
    const isForPayer =
      ((await payerOfCheckout(tx, only.id)) ?? (await orderPayer(tx, shared[0]?.orderId ?? 0))) === payer;
    if (keyOf(shared) === keyOf(parts) && isForPayer) return { session: only };
  }
  const open = sessions.filter(({ id }) => !ended.has(id));
  for (const { id } of open) await markReplacing(tx, id);
  if (open.length > 0) return { replaced: open };
  for (const { id } of sessions) await endSession(tx, id);
  const session: CheckoutSession = {
    id: newUuid(),
    groupId,
    status: "minting",
    amountCents,
    currency,
    sessionId: null,
    url: null,
    supplementId: groupId === null ? (parts[0]?.supplementId ?? null) : null,
    createdAt: await requireLastAccount(tx, present, now),
    expiresAt: new Date(now.getTime() + sessionMs),
  };
  await insertMinting(tx, session, parts);
  await insertPayer(tx, session.id, payer);
  return { session };
}

const keyOf = (parts: readonly Part[]): string =>
  parts.map(({ orderId, amountCents, supplementId }) => `${orderId}:${amountCents}:${supplementId}`).join();

const isUsable = ({ status, expiresAt, amountCents }: CheckoutSession, totalCents: number, now: Date): boolean =>
  status !== "replacing" && expiresAt.getTime() > now.getTime() + marginMs && amountCents === totalCents;

/** The URL where the session is paid; null while another request is creating the session. */
async function addressOf(db: Database, processor: Processor, session: CheckoutSession): Promise<string | null> {
  if (session.status === "open" && session.url !== null) return session.url;
  const minted = await mint(db, processor, session);
  if (minted === "in progress") return null;
  if ("refusal" in minted) {
    await failMinting(db, session.id);
    throw minted.refusal;
  }
  const { sessionId, url } = minted;
  if (url !== null && (await recordMinted(db, session.id, sessionId, url))) return url;
  // The row changed while the session was created: an order was canceled, another checkout replaced the session, or the
  // session ended.
  if ((await processor.expire(sessionId)) === "complete") throw justPaid();
  if (url === null) await failMinting(db, session.id);
  throw busy();
}

type Minted = MintedSession | { sessionId: string; url: null } | { refusal: unknown } | "in progress";

/**
 * Creates the session of a row. Repeated calls for one row create one session. `refusal`: the processor created no
 * session, so the next attempt needs a new row.
 * @throws ServiceError `processor_failed` when a session may exist
 */
async function mint(db: Sql, processor: Processor, session: CheckoutSession): Promise<Minted> {
  try {
    return await processor.mint(await mintRequest(db, session));
  } catch (error) {
    const answer = answerOf(error);
    if (answer?.status === 409) return "in progress";
    // These statuses (refused API key, rate limit) don't show whether an earlier request created a session.
    if (answer === null || [401, 403, 429].includes(answer.status)) throw error;
    if (answer.status < 500 && answer.type !== "idempotency_error") return { refusal: error };
    // The processor failed, or has seen the idempotency key with other parameters. So a session may exist.
    return (await findAt(processor, session)) ?? { refusal: error };
  }
}

/** Finds the session at the processor. Searches only the time in which the processor can have created it. */
const findAt = (processor: Processor, { id, expiresAt }: CheckoutSession) =>
  processor.find(id, new Date(expiresAt.getTime() - sessionMs - marginMs), expiresAt);

/**
 * Ends the session at the processor. If the session's id is not recorded, searches for the session first, because the
 * processor forgets idempotency keys after a day. If none is found, the request that creates the session may still be
 * in flight. Repeating that request creates no second session, and returns the one to end.
 * @returns `complete` when the payer had completed the session; `expired` also when no session exists
 * @throws OpenElsewhere for a session of an earlier or unknown account, until it has expired; ServiceError `conflict`
 * while another request creates the session
 */
async function endAtProcessor(
  { db, clock, processor }: { db: Database; clock: Clock; processor: Processor },
  session: CheckoutSession,
): Promise<"expired" | "complete"> {
  if (await isOfOtherAccount({ db, clock, processor }, session.createdAt)) {
    if (session.expiresAt <= clock()) return "expired";
    throw new OpenElsewhere(session, clock());
  }
  const existingId = session.sessionId ?? (await findAt(processor, session))?.sessionId;
  const minted = existingId === undefined ? await mint(db, processor, session) : { sessionId: existingId };
  if (minted === "in progress") throw busy();
  if ("refusal" in minted) return "expired";
  const end = await processor.expire(minted.sessionId);
  if (end !== "unknown") return end;
  // The session is in an account that was not recorded, where it can still be paid.
  if (session.expiresAt > clock()) throw new OpenElsewhere(session, clock());
  return "expired";
}

/** Thrown on a node without the processor's key for a checkout that can still be paid. Another node must close it. */
export class OpenWithoutKey extends ServiceError {
  constructor() {
    super(
      "payments_not_configured",
      "A payment page of this order is open, and this server can’t close it: it has no key of the payment processor.",
    );
  }
}

/** Without the processor's key, this node could only end the row, and the checkout page could still be paid. */
function requireKey(processor: Processor | null, sessions: readonly CheckoutSession[], now: Date): void {
  if (processor === null && sessions.some(({ expiresAt }) => expiresAt > now)) throw new OpenWithoutKey();
}

/**
 * Closes all checkouts of the order that can still be paid. Otherwise the order might be paid twice, or after its
 * cancellation. If the processor doesn't handle the order's environment, only ends the rows. Leaves a session that its
 * payer has completed.
 * @throws OpenWithoutKey on a node without a key, so that a node with the key closes them; OpenElsewhere for a checkout
 * of another account
 */
export async function closeCheckouts(
  { db, clock, processor: configured }: SessionDeps,
  orderId: number,
): Promise<void> {
  const processor = await processorOfOrder(db, configured, orderId);
  const sessions = await currentSessions(db, [orderId]);
  requireKey(configured, sessions, clock());
  for (const session of sessions) {
    // The payer completed the session before it could be ended. The payment's event ends the row.
    if (processor && (await endAtProcessor({ db, clock, processor }, session)) === "complete") continue;
    await db.transaction((tx) => endSession(tx, session.id));
  }
}

/**
 * Runs work in a transaction in which no checkout of its orders can be paid. First ends open checkouts at the
 * processor, and commits before each request, so that a crash loses no session.
 * @param prepare locks the orders in the transaction, and returns the work
 * @throws ServiceError `conflict` when a checkout was just paid or is in an earlier account, or orders stay locked;
 * `payments_not_configured` for an open checkout on a node without a key
 */
export const afterClosing = (deps: SessionDeps, prepare: (tx: Tx) => Promise<Prepared>): Promise<void> =>
  closeThenWork(deps, prepare).catch(busyIfLocked);

/** The work to do once no checkout of these orders can be paid. */
type Prepared = { orders: readonly { id: number }[]; work: () => Promise<void> };

async function closeThenWork(
  { db, clock, processor: configured }: SessionDeps,
  prepare: (tx: Tx) => Promise<Prepared>,
): Promise<void> {
  const ended = new Set<string>();
  for (const isLate = timeLimit(maxMs); !isLate(); ) {
    const { orderId, open } = await db.transaction(async (tx) => {
      const { orders, work } = await prepare(tx);
      const ids = orders.map(({ id }) => id);
      const sessions = await currentSessions(tx, ids);
      const left = sessions.filter(({ id }) => !ended.has(id));
      requireKey(configured, left, clock());
      for (const { id } of left) await markReplacing(tx, id);
      if (left.length === 0) {
        for (const { id } of sessions) await endSession(tx, id);
        await work();
      }
      return { orderId: ids[0] ?? 0, open: left };
    });
    if (open.length === 0) return;
    const processor = await processorOfOrder(db, configured, orderId);
    for (const session of open) {
      if (processor && (await endAtProcessor({ db, clock, processor }, session)) === "complete") throw justPaid();
      ended.add(session.id);
    }
  }
  throw busy();
}

/** The status and error type in the processor's refusal; null when no response arrived. */
function answerOf(error: unknown): { status: number; type: unknown } | null {
  const cause: unknown = error instanceof Error ? error.cause : undefined;
  if (typeof cause !== "object" || cause === null) return null;
  const { statusCode, rawType } = cause as { statusCode?: unknown; rawType?: unknown };
  return typeof statusCode === "number" ? { status: statusCode, type: rawType } : null;
}
