/** The requests to the processor that charge a firm's method, and that find out the result of a charge. */
import type { Stripe } from "stripe";
import type { Environment } from "../../../kernel/identity/identity.ts";
import { ServiceError } from "../../../kernel/platform/errors.ts";
import { shortCode } from "../../../kernel/platform/text.ts";

export type ChargeRequest = {
  id: string;
  /** The orders that the payment pays: one, or several. */
  orderCodes: readonly string[];
  environment: Environment;
  firmName: string;
  customer: string;
  method: string;
  kind: "card" | "bank";
  amountCents: number;
  currency: string;
};

/**
 * The processor's answer to the request for a charge. The answer moves no order; only the processor's signed event
 * does.
 */
export type ChargeAnswer = { state: "answered" | "pending"; paymentIntent: string } | Declined;

type Declined = { state: "declined"; paymentIntent: string | null; reason: string };

/**
 * The outcome of canceling a charge. `canceled`: nothing is charged; the processor has no payment if `paymentIntent` is
 * null. `paid`: it is too late to cancel. `moving`: a bank is moving the money. `unclear`: there may be a payment that
 * the processor does not list yet. `foreign`: the processor's account does not know the customer, so another account
 * may have the payment.
 */
export type ChargeEnd =
  | { state: "canceled"; paymentIntent: string | null }
  | { state: "paid" | "moving"; paymentIntent: string }
  | { state: "unclear" }
  | { state: "foreign" };

export type EndedCharge = Pick<ChargeRequest, "id" | "customer" | "amountCents" | "currency"> & {
  paymentIntent: string | null;
};

/** Charges the method. See `FirmAccount.charge`. */
export async function createCharge(stripe: Stripe, request: ChargeRequest): Promise<ChargeAnswer> {
  const answer = await requestCharge(stripe, request);
  return answer.state === "declined" && answer.paymentIntent === null ? settleDecline(stripe, request, answer) : answer;
}

async function requestCharge(stripe: Stripe, request: ChargeRequest): Promise<ChargeAnswer> {
  try {
    return answerOf(await stripe.paymentIntents.create(intentOf(request), { idempotencyKey: chargeKey(request.id) }));
  } catch (error) {
    const declined = declineOf(error);
    if (!declined) throw error;
    return declined;
  }
}

export async function findCharge(
  stripe: Stripe,
  charge: Pick<ChargeRequest, "id" | "customer">,
  since: Date,
): Promise<ChargeAnswer | null> {
  try {
    const found = await intentOfCharge(stripe, charge, since);
    return found && answerOf(found);
  } catch (error) {
    if (isUnknownCustomer(error))
      throw new Error("the processor's account doesn't know the customer: another account may have the payment");
    throw error;
  }
}

/** Cancels a charge's payment. See `FirmAccount.end`. */
export async function endCharge(stripe: Stripe, charge: EndedCharge, since: Date): Promise<ChargeEnd> {
  try {
    const found = async () => (await findIntent(stripe, charge, since))?.id;
    const intentId = charge.paymentIntent ?? (await found());
    if (intentId !== undefined) return await cancel(stripe, intentId);
    const claimed = await claimKey(stripe, charge);
    if (claimed.key === "claimed") return await cancel(stripe, claimed.paymentIntent);
    if (claimed.key === "foreign") return { state: "foreign" };
    // Searches once more, because an earlier request may have created the payment after the first search.
    const late = await found();
    if (late !== undefined) return await cancel(stripe, late);
    return claimed.key === "refused" ? { state: "canceled", paymentIntent: null } : { state: "unclear" };
  } catch (error) {
    throw failed(error, "cancel the payment");
  }
}

/**
 * Searches the account for the payment of a charge.
 * @throws Error for a customer that the account doesn't know
 */
async function intentOfCharge(
  stripe: Stripe,
  { id, customer }: Pick<ChargeRequest, "id" | "customer">,
  since?: Date,
): Promise<Stripe.PaymentIntent | null> {
  const created = since && { created: { gte: Math.floor(since.getTime() / 1000) - 60 } };
  for await (const intent of stripe.paymentIntents.list({ customer, ...created, limit: 100 }))
    if (intent.metadata["charge"] === id) return intent;
  return null;
}

/**
 * Like `intentOfCharge`, but without an error for an unknown customer.
 * @returns null for no payment in this account, and for a customer that the account doesn't know
 */
const findIntent = (stripe: Stripe, charge: Pick<ChargeRequest, "id" | "customer">, since?: Date) =>
  intentOfCharge(stripe, charge, since).catch((error: unknown) => {
    if (isUnknownCustomer(error)) return null;
    throw error;
  });

/**
 * Finds the final answer to a charge for which the processor refused to create a payment. An earlier request for the
 * charge may have timed out, and may still create one. To prevent this, creates a blank payment with the charge's
 * idempotency key, and cancels it. If an earlier request has used the key, asks for the answer that is stored under it.
 * If the processor also refuses the blank payment, it refuses any earlier request, too.
 * @throws Error when it remains unknown whether a payment exists
 */
async function settleDecline(stripe: Stripe, request: ChargeRequest, declined: Declined): Promise<ChargeAnswer> {
  const claimed = await claimKey(stripe, request);
  if (claimed.key === "used") return requestCharge(stripe, request);
  if (claimed.key === "refused" || claimed.key === "foreign") {
    const earlier = await findIntent(stripe, request);
    return earlier ? answerOf(earlier) : declined;
  }
  const { paymentIntent } = claimed;
  const { state } = await cancel(stripe, paymentIntent);
  if (state !== "canceled") throw new Error(`the blank payment of a charge is ${state}`);
  return { ...declined, paymentIntent };
}

const isUnknownCustomer = (error: unknown): boolean => {
  return isMissing(error) && (error as { param?: unknown }).param === "customer";
};

/**
 * `claimed`: the key belongs to a blank payment. `used`: an earlier request has used it. `refused`: the processor
 * accepts no payment of this amount or this account, so the key is unused. `foreign`: this account doesn't know the
 * customer.
 */
type ClaimedKey = { key: "claimed"; paymentIntent: string } | { key: "used" } | { key: "refused" } | { key: "foreign" };

/**
 * Uses the charge's idempotency key for a blank payment, which is never confirmed. The processor then refuses the
 * charge itself, because a key is valid for only one request body. So even a late request of a crashed node charges
 * nothing.
 * @throws Error when it is unknown whether the key was used
 */
async function claimKey(
  stripe: Stripe,
  { id, customer, amountCents: amount, currency }: Omit<EndedCharge, "paymentIntent">,
): Promise<ClaimedKey> {
  const blank = { amount, currency, customer, metadata: { charge: id } };
  try {
    const created = await stripe.paymentIntents.create(blank, { idempotencyKey: chargeKey(id) });
    return { key: "claimed", paymentIntent: created.id };
  } catch (error) {
    if (isKeyConflict(error)) return { key: "used" };
    if (isUnknownCustomer(error)) return { key: "foreign" };
    if (declineOf(error)) return { key: "refused" };
    throw error;
  }
}

async function cancel(stripe: Stripe, paymentIntent: string): Promise<Extract<ChargeEnd, { paymentIntent: unknown }>> {
  const refusal = await stripe.paymentIntents.cancel(paymentIntent).then(
    () => null,
    (error: unknown) => error,
  );
  const { status } = await stripe.paymentIntents.retrieve(paymentIntent);
  if (status === "canceled") return { state: "canceled", paymentIntent };
  if (status === "succeeded") return { state: "paid", paymentIntent };
  if (statusOf(refusal) !== 400) throw refusal;
  return { state: "moving", paymentIntent };
}

const chargeKey = (id: string): string => `charge:${id}`;

const isKeyConflict = (error: unknown): boolean =>
  (error as { rawType?: unknown } | null)?.rawType === "idempotency_error" && statusOf(error) === 400;

/**
 * The request that creates a charge's payment. It contains the amount, the firm's name and the first digits of the
 * orders' codes; for a single order also its whole code. It contains nothing about the client or the document.
 */
function intentOf(request: ChargeRequest): Stripe.PaymentIntentCreateParams {
  const { id, orderCodes, environment, firmName, customer, method, kind, amountCents, currency } = request;
  return {
    amount: amountCents,
    currency,
    customer,
    payment_method: method,
    allowed_payment_method_types: [kind === "card" ? "card" : "us_bank_account"],
    off_session: true,
    confirm: true,
    description: `Document services for ${firmName}, ${orderWords(orderCodes)}`,
    metadata: { charge: id, ...(orderCodes.length === 1 && { order_code: orderCodes[0] ?? "" }), environment },
  };
}

/** Names the orders by the start of their codes, such as `orders 3FA2B1, 09C7DE`, and counts the rest. */
function orderWords(codes: readonly string[]): string {
  const shown = codes.slice(0, maxNamed).map(shortCode);
  const more = codes.length - shown.length;
  return `order${codes.length === 1 ? "" : "s"} ${shown.join(", ")}${more > 0 ? `, and ${more} more` : ""}`;
}

// Names at most this many orders, because a payment's description is short and a room can have fifty orders.
const maxNamed = 20;

function answerOf({ id, status, last_payment_error: fault }: Stripe.PaymentIntent): ChargeAnswer {
  if (status === "succeeded") return { state: "answered", paymentIntent: id };
  if (status === "processing") return { state: "pending", paymentIntent: id };
  return { state: "declined", paymentIntent: id, reason: fault?.decline_code ?? fault?.code ?? status };
}

/** The processor's refusal; null for an error after which a payment may exist. */
function declineOf(error: unknown): Declined | null {
  const {
    code,
    decline_code: declineCode,
    payment_intent: intent,
  } = (error ?? {}) as {
    code?: unknown;
    decline_code?: unknown;
    payment_intent?: { id?: unknown };
  };
  const status = statusOf(error);
  const isIdempotency = (error as { rawType?: unknown } | null)?.rawType === "idempotency_error";
  if (isIdempotency || ![400, 402, 404].includes(status)) return null;
  // For an error without a decline code, the SDK sets an empty code.
  const reason = [declineCode, code].find((each) => typeof each === "string" && each !== "") ?? "method_unusable";
  return {
    state: "declined",
    paymentIntent: typeof intent?.id === "string" ? intent.id : null,
    reason: String(reason).slice(0, 200),
  };
}

/** True if the processor's account doesn't have the object that a request names. */
export const isMissing = (error: unknown): boolean => (error as { code?: unknown } | null)?.code === "resource_missing";

export const statusOf = (error: unknown): number => Number((error as { statusCode?: unknown } | null)?.statusCode ?? 0);

export const failed = (error: unknown, to = "open its page"): ServiceError =>
  new ServiceError("processor_failed", `The payment processor failed to ${to}. Try again.`, { cause: error });
