import type { Stripe } from "stripe";
import { ServiceError } from "../../../kernel/platform/errors.ts";

/** A movement of money in the processor's account. */
export type Movement = {
  id: string;
  kind: "charge" | "refund" | "dispute";
  /** The id of the charge, refund or dispute that the movement belongs to. */
  source: string;
  paymentIntent: string;
  /** True if this service created the charge or refund, according to its metadata. */
  isOurs: boolean;
  /** The amount before the processor's fee; negative for money that left the account. */
  amountCents: number;
  feeCents: number;
  currency: string;
  createdAt: Date;
};

/**
 * The categories of movements that concern payments. Those ending in `_failure` or `_reversal` reverse an earlier
 * movement, and have the opposite sign. Examples are a payment that fails after it settled, a returned refund, and a
 * won dispute.
 */
const kinds: Readonly<Record<string, Movement["kind"]>> = {
  charge: "charge",
  charge_failure: "charge",
  partial_capture_reversal: "charge",
  refund: "refund",
  refund_failure: "refund",
  dispute: "dispute",
  dispute_reversal: "dispute",
};

export type Window = { from: Date; until: Date };

const seconds = (at: Date): number => Math.floor(at.getTime() / 1000);

/** Reads the movements of a period, newest first, in pages of a hundred. */
async function* movementsOf(sdk: () => Promise<Stripe>, { from, until }: Window): AsyncGenerator<Movement> {
  const created = { gte: seconds(from), lt: seconds(until) };
  const listed = (await sdk()).balanceTransactions.list({ created, limit: 100, expand: ["data.source"] });
  for await (const transaction of listed) {
    const movement = movementOf(transaction);
    if (movement) yield movement;
  }
}

/**
 * True if this service created the object with this metadata at the processor. The service marks a checkout or a charge
 * with its id and the environment. It marks a refund with the id of the request.
 */
const isOurs = (metadata: Record<string, string>): boolean =>
  "refund_request" in metadata || ("environment" in metadata && ("checkout" in metadata || "charge" in metadata));

/** Converts a balance transaction; null for one that belongs to no payment, such as a payout. */
function movementOf({
  id,
  reporting_category: category,
  source,
  ...money
}: Stripe.BalanceTransaction): Movement | null {
  const kind = kinds[category];
  if (!kind || source === null || typeof source === "string") return null;
  const { payment_intent: intent, metadata } = source as {
    payment_intent?: string | { id: string } | null;
    metadata?: Record<string, string>;
  };
  const paymentIntent = typeof intent === "object" ? intent?.id : intent;
  // Skips charges without a payment intent, because this service makes no such charges.
  if (!paymentIntent) return null;
  return {
    id,
    kind,
    source: source.id,
    paymentIntent,
    amountCents: money.amount,
    feeCents: money.fee,
    isOurs: isOurs(metadata ?? {}),
    currency: money.currency.toLowerCase(),
    createdAt: new Date(money.created * 1000),
  };
}

/** A dispute, as the events about it show it; null for a dispute that the account doesn't have. */
async function disputeOf(sdk: () => Promise<Stripe>, id: string): Promise<object | null> {
  try {
    return await (await sdk()).disputes.retrieve(id);
  } catch (error) {
    if ((error as { statusCode?: unknown } | null)?.statusCode === 404) return null;
    throw error;
  }
}

/**
 * The name of the account and of its mode, such as `acct_1A2b live`; null for a key that may not read the account. A
 * live key and a test key of one account can't read each other's objects.
 */
async function accountOf(sdk: () => Promise<Stripe>, mode: string): Promise<string | null> {
  try {
    const { id } = await (await sdk()).accounts.retrieveCurrent();
    return `${id} ${mode}`;
  } catch (error) {
    if ((error as { statusCode?: unknown } | null)?.statusCode === 403) return null;
    throw new ServiceError("processor_failed", "The payment processor failed to name its account.", { cause: error });
  }
}

/** The functions that read the processor's own books. */
export type AccountBooks = {
  /**
   * The name of the account that the key belongs to; null for a key that may not read it.
   * @throws ServiceError `processor_failed`
   */
  account: () => Promise<string | null>;
  movements: (window: Window) => AsyncIterable<Movement>;
  /** A dispute as events show it; null for a dispute of another account. */
  dispute: (id: string) => Promise<object | null>;
};

export const accountBooks = (sdk: () => Promise<Stripe>, mode: string): AccountBooks => ({
  account: () => accountOf(sdk, mode),
  movements: (window: Window) => movementsOf(sdk, window),
  dispute: (id: string) => disputeOf(sdk, id),
});
