import { readShownFirm } from "../../../firms/partners/partners.ts";
import type { Environment, Owner } from "../../../kernel/identity/identity.ts";
import type { Clock } from "../../../kernel/platform/clock.ts";
import type { Database, Tx } from "../../../kernel/platform/database/database.ts";
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
import type { Processor } from "../processor/processor.ts";
import { type CheckoutSession, currentSession, endSession, failMinting, insertMinting, recordMinted } from "./store.ts";

export type CheckoutDeps = { db: Database; clock: Clock; processor: Processor | null; notarySupply: NotarySupply };

export const currency = "usd";
const minutes = 60_000;
// The processor allows at most 24 hours. An open session is reused while it has at least the margin left.
const sessionMs = 23 * 60 * minutes;
const marginMs = 5 * minutes;

/**
 * Returns the order's open hosted checkout, or mints a new one. The order's status doesn't change.
 * @param owner the required owner of the order; null for anyone who has the code
 * @throws ServiceError `not_found`, `not_payable` naming the status, `payments_not_configured`, `processor_failed`
 */
export async function checkoutUrl(
  { db, clock, processor, notarySupply }: CheckoutDeps,
  code: string,
  owner: Owner | null,
): Promise<string> {
  const reserved = await db.transaction(async (tx) => {
    const order = await payableOrder(tx, notarySupply, code, owner);
    if (!processor || !takesPayment(processor, order.environment)) throw notConfigured();
    const { name: firmName } = await readShownFirm(tx, order.partnerId);
    return { order, firmName, session: await reserve(tx, order, clock()) };
  });
  const { order, firmName, session } = reserved;
  if (session.status === "open" && session.url !== null) return session.url;
  if (!processor) throw notConfigured();
  const { id, amountCents, expiresAt } = session;
  const { environment } = order;
  const minted = await processor
    .mint({ id, orderCode: order.code, firmName, environment, amountCents, currency: session.currency, expiresAt })
    .catch(async (error) => {
      await endIfRefused(db, id, error);
      throw error;
    });
  await recordMinted(db, id, minted.sessionId, minted.url);
  return minted.url;
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

/** The open session, or a new row to mint from. Minting twice from one row gives the same session. */
async function reserve(tx: Tx, order: LockedOrder, now: Date): Promise<CheckoutSession> {
  const current = await currentSession(tx, order.id);
  if (current && current.expiresAt.getTime() > now.getTime() + marginMs && current.amountCents === order.totalCents)
    return current;
  if (current) await endSession(tx, current.id, "expired");
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

/**
 * The processor replays a refusal under the same key, so the next attempt needs a new one. After a cut connection the
 * session may exist.
 */
async function endIfRefused(db: Database, id: string, error: unknown): Promise<void> {
  const cause = error instanceof Error ? error.cause : undefined;
  const answered =
    typeof cause === "object" && cause !== null && "statusCode" in cause && typeof cause.statusCode === "number";
  // 409: a duplicate with this key is in progress.
  if (answered && cause.statusCode !== 409) await failMinting(db, id);
}
