import { readShownFirm } from "../../../firms/partners/partners.ts";
import type { Environment, Owner } from "../../../kernel/identity/identity.ts";
import type { Clock } from "../../../kernel/platform/clock.ts";
import type { Database, Tx } from "../../../kernel/platform/database/database.ts";
import { sql } from "../../../kernel/platform/database/sql.ts";
import { ServiceError } from "../../../kernel/platform/errors.ts";
import { newUuid } from "../../../kernel/platform/ids.ts";
import { isCode } from "../../../kernel/platform/text.ts";
import { deletedMessage } from "../../../kernel/retention/retention.ts";
import {
  isPayable,
  type LockedOrder,
  lockOrder,
  type NotarySupply,
  notaryGapOfQuote,
  whenDocumentsWereDeleted,
} from "../../order/order.ts";
import type { MintedSession, Processor } from "../processor/processor.ts";
import {
  type CheckoutSession,
  currentSessions,
  endSession,
  failMinting,
  hasPendingFunds,
  insertMinting,
  markReplacing,
  recordMinted,
} from "./store.ts";

export type CheckoutDeps = { db: Database; clock: Clock; processor: Processor | null; notarySupply: NotarySupply };

export const currency = "usd";
const minutes = 60_000;
// The processor allows at most 24 hours. An open session is reused while it has at least the margin left.
const sessionMs = 23 * 60 * minutes;
const marginMs = 5 * minutes;

/** A session of an order, with all that minting it needs. */
type Reserved = { order: Payee; firmName: string; session: CheckoutSession; processor: Processor };
type Payee = Pick<LockedOrder, "code" | "environment">;

/**
 * Returns the order's open hosted checkout, or mints a new one. The order's status doesn't change. A session that has
 * another sum or is about to end is ended at the processor first, so that the order can't be paid twice.
 * @param owner the required owner of the order; null for anyone who has the code
 * @throws ServiceError `not_found`, `not_payable` naming the status, `conflict` when a payment was just made,
 * `payments_not_configured`, `processor_failed`
 */
export async function checkoutUrl(deps: CheckoutDeps, code: string, owner: Owner | null): Promise<string> {
  const { db, clock, processor, notarySupply } = deps;
  const reserveNow = (ended: string | null): Promise<Reserved> =>
    db.transaction(async (tx) => {
      const order = await payableOrder(tx, notarySupply, code, owner);
      if (!processor || !takesPayment(processor, order.environment)) throw notConfigured();
      const { name: firmName } = await readShownFirm(tx, order.partnerId);
      return { order, firmName, processor, session: await reserve(tx, order, clock(), ended) };
    });
  let reserved = await reserveNow(null);
  if (reserved.session.status === "replacing") {
    if ((await endAtProcessor(reserved)) === "complete") throw justPaid();
    reserved = await reserveNow(reserved.session.id);
  }
  const { session } = reserved;
  if (session.status === "replacing") throw busy();
  if (session.status === "open" && session.url !== null) return session.url;
  const minted = await mint(reserved).catch(async (error) => {
    if (wasRefused(error)) await failMinting(db, session.id);
    throw error;
  });
  if (await recordMinted(db, session.id, minted.sessionId, minted.url)) return minted.url;
  // The order was canceled, or another checkout took its place, while the processor answered.
  await reserved.processor.expire(minted.sessionId);
  throw busy();
}

const justPaid = () => new ServiceError("conflict", "A payment was just made. Wait a moment.");
const busy = () => new ServiceError("conflict", "The checkout of this order just changed. Try again.");

/** Minting twice from one row gives the same session. */
const mint = ({ order, firmName, session, processor }: Reserved): Promise<MintedSession> => {
  const { id, amountCents, currency, expiresAt } = session;
  const { code: orderCode, environment } = order;
  return processor.mint({ id, orderCode, firmName, environment, amountCents, currency, expiresAt });
};

/**
 * Ends the session at the processor. Where the answer to its minting was lost, the same request tells its id.
 * @returns `complete` when it was paid first
 */
async function endAtProcessor(reserved: Reserved): Promise<"expired" | "complete"> {
  const { session, processor } = reserved;
  if (session.sessionId !== null) return processor.expire(session.sessionId);
  try {
    return await processor.expire((await mint(reserved)).sessionId);
  } catch (error) {
    // A refused request made no session.
    if (wasRefused(error)) return "expired";
    throw error;
  }
}

/** Closes what can still be paid for the order, so that nobody pays it twice or pays a canceled one. */
export async function closeCheckouts(
  { db, processor }: { db: Database; processor: Processor | null },
  orderId: number,
): Promise<void> {
  const [order] = await db.query<Payee & { partnerId: string }>(sql`
    SELECT code AS "code@order", environment, partner_id AS "partnerId" FROM orders WHERE id = ${orderId}`);
  if (!order) return;
  for (const session of await currentSessions(db, orderId)) {
    if (processor) {
      const { name: firmName } = await readShownFirm(db, order.partnerId);
      // The event of a payment that was first says so of the session itself.
      if ((await endAtProcessor({ order, firmName, session, processor })) === "complete") continue;
    }
    await db.transaction((tx) => endSession(tx, session.id));
  }
}

async function payableOrder(tx: Tx, supply: NotarySupply, code: string, owner: Owner | null): Promise<LockedOrder> {
  const order = isCode(code) ? await lockOrder(tx, code) : undefined;
  const foreign = owner && (order?.partnerId !== owner.partnerId || order.environment !== owner.environment);
  if (!order || foreign) throw new ServiceError("not_found", "Order not found.");
  if (!isPayable(order.status)) throw new ServiceError("not_payable", `An order in ${order.status} is not payable.`);
  const deletedAt = await whenDocumentsWereDeleted(tx, order.id);
  if (deletedAt) throw new ServiceError("not_payable", deletedMessage("The document of this order", deletedAt));
  const gap = await notaryGapOfQuote(supply, tx, order.id);
  if (gap !== null)
    throw new ServiceError(
      "not_payable",
      `The notarization of this order can’t be performed as quoted. ${gap} Cancel it and place it again.`,
    );
  return order;
}

/** Whether orders of the environment are paid at this processor. Test orders never reach one that moves money. */
export const takesPayment = (processor: Processor | null, environment: Environment): boolean =>
  processor !== null && (environment === "live" || processor.testMode);

const notConfigured = (): ServiceError => new ServiceError("payments_not_configured", "Payments are not configured.");

/**
 * The open session, one to replace, or a new row to mint from.
 * @param ended the row whose session the processor has ended
 */
async function reserve(tx: Tx, order: LockedOrder, now: Date, ended: string | null): Promise<CheckoutSession> {
  if (await hasPendingFunds(tx, order.id))
    throw new ServiceError("not_payable", "A bank payment is being processed. Wait until the bank has answered.");
  const [current] = await currentSessions(tx, order.id);
  if (current && isUsable(current, order.totalCents, now)) return current;
  if (current && current.id !== ended) {
    await markReplacing(tx, current.id);
    return { ...current, status: "replacing" };
  }
  if (current) await endSession(tx, current.id);
  const session: CheckoutSession = {
    id: newUuid(),
    status: "minting",
    amountCents: order.totalCents,
    currency,
    sessionId: null,
    url: null,
    expiresAt: new Date(now.getTime() + sessionMs),
  };
  await insertMinting(tx, order.id, session, now);
  return session;
}

const isUsable = ({ status, expiresAt, amountCents }: CheckoutSession, totalCents: number, now: Date): boolean =>
  status !== "replacing" && expiresAt.getTime() > now.getTime() + marginMs && amountCents === totalCents;

/**
 * Whether the processor answered that it minted nothing. It repeats a refusal under the same key, so the next attempt
 * needs a new row. After a cut connection the session may exist.
 */
function wasRefused(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined;
  const answered =
    typeof cause === "object" && cause !== null && "statusCode" in cause && typeof cause.statusCode === "number";
  // 409: a duplicate with this key is in progress.
  return answered && cause.statusCode !== 409;
}
