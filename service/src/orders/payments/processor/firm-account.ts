/** A firm's card or bank account at the processor, and charges that need nobody at the processor's page. */
import type { Stripe } from "stripe";
import type { Environment } from "../../../kernel/identity/identity.ts";
import { ServiceError } from "../../../kernel/platform/errors.ts";

/** A card or bank account, as pages show it. */
export type SavedMethod = {
  method: string;
  kind: "card" | "bank";
  brand: string | null;
  last4: string | null;
  /** When the card expires, as MM/YYYY; null for a bank account. */
  expires: string | null;
};

export type SetupRequest = { id: string; customer: string; environment: Environment; returnTo: string };

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
export type ChargeAnswer =
  | { state: "answered" | "pending"; paymentIntent: string }
  | { state: "declined"; paymentIntent: string | null; reason: string };

/**
 * The outcome of canceling a charge. `canceled`: no money is taken. `paid`: it is too late to cancel. `moving`: a bank
 * is moving the money. `unclear`: there may be a payment that the processor does not list yet.
 */
export type ChargeEnd = { state: "canceled"; paymentIntent: string } | { state: "paid" | "moving" | "unclear" };

type EndedCharge = Pick<ChargeRequest, "id" | "customer" | "amountCents" | "currency"> & {
  paymentIntent: string | null;
};

export type FirmAccount = {
  /**
   * Creates the firm as a customer. Repeated requests with the same `id` create only one customer.
   * @throws ServiceError `processor_failed`
   */
  customer: (firm: { id: string; partnerId: string; environment: Environment; name: string }) => Promise<string>;
  /**
   * Returns the address of the hosted page where a method is entered. A repeated request returns the same address.
   * @returns null when the processor does not know the customer
   * @throws ServiceError `processor_failed`
   */
  setUp: (request: SetupRequest) => Promise<string | null>;
  /** The method that a setup has saved or, while it has saved none, the state of the setup. */
  setupOf: (setupIntent: string) => Promise<SavedMethod | "verifying" | "failed">;
  /** Tells the processor to forget the method. Succeeds for a method that the processor doesn't know. */
  detach: (method: string) => Promise<void>;
  /**
   * Charges the method once for each `id`, as long as the processor remembers the idempotency key: a day.
   * @throws Error when it is unknown whether a payment was created
   */
  charge: (request: ChargeRequest) => Promise<ChargeAnswer>;
  /** Finds the payment of an earlier attempt whose answer was lost; null when there is none. */
  findCharge: (charge: Pick<ChargeRequest, "id" | "customer">, since: Date) => Promise<ChargeAnswer | null>;
  /**
   * Cancels the payment of a charge. If there is none, makes sure that a request in progress can't create one any more.
   * @throws ServiceError `processor_failed`
   */
  end: (charge: EndedCharge, since: Date) => Promise<ChargeEnd>;
};

export function firmAccount(sdk: () => Promise<Stripe>): FirmAccount {
  return {
    async customer({ id, partnerId, environment, name }) {
      try {
        const stripe = await sdk();
        const metadata = { partner: partnerId, environment };
        const idempotencyKey = `customer:${id}`;
        return (await stripe.customers.create({ name, metadata }, { idempotencyKey })).id;
      } catch (error) {
        throw failed(error);
      }
    },
    async setUp(request) {
      try {
        const { sessions } = (await sdk()).checkout;
        const { url } = await sessions.create(setupOf(request), { idempotencyKey: `setup:${request.id}` });
        if (!url) throw new Error("the session has no url");
        return url;
      } catch (error) {
        if ((error as { code?: unknown } | null)?.code === "resource_missing") return null;
        throw failed(error);
      }
    },
    async setupOf(setupIntent) {
      const stripe = await sdk();
      const { status, payment_method: saved } = await stripe.setupIntents.retrieve(setupIntent, {
        expand: ["payment_method"],
      });
      if (status === "succeeded" && saved !== null && typeof saved === "object") return methodOf(saved);
      return status === "processing" || status === "requires_action" ? "verifying" : "failed";
    },
    async detach(method) {
      await (await sdk()).paymentMethods.detach(method).catch((error: unknown) => {
        // The processor doesn't know the method, or has already forgotten it.
        if (![400, 404].includes(statusOf(error))) throw error;
      });
    },
    async findCharge(charge, since) {
      const found = await findIntent(await sdk(), charge, since);
      return found && answerOf(found);
    },
    async end(charge, since) {
      try {
        const stripe = await sdk();
        const found = async () => (await findIntent(stripe, charge, since))?.id;
        // If the key was already used, the payment is looked up once more. The request that used it may have created
        // the payment in between.
        const intent = charge.paymentIntent ?? (await found()) ?? (await claimKey(stripe, charge)) ?? (await found());
        return intent === undefined ? { state: "unclear" } : await cancel(stripe, intent);
      } catch (error) {
        throw failed(error, "cancel the payment");
      }
    },
    async charge(request) {
      const stripe = await sdk();
      try {
        const intent = await stripe.paymentIntents.create(intentOf(request), {
          idempotencyKey: chargeKey(request.id),
        });
        return answerOf(intent);
      } catch (error) {
        const declined = declineOf(error);
        if (!declined) throw error;
        return declined;
      }
    },
  };
}

async function findIntent(
  stripe: Stripe,
  { id, customer }: Pick<ChargeRequest, "id" | "customer">,
  since: Date,
): Promise<Stripe.PaymentIntent | null> {
  const created = { gte: Math.floor(since.getTime() / 1000) - 60 };
  for await (const intent of stripe.paymentIntents.list({ customer, created, limit: 100 }))
    if (intent.metadata["charge"] === id) return intent;
  return null;
}

/**
 * Uses the charge's idempotency key for a payment that nobody can confirm. From then on the processor refuses the
 * charge itself, because a key allows only one content. So even a late request of a crashed node takes no money.
 * @returns the id of that payment; undefined when the key was already used
 */
async function claimKey(
  stripe: Stripe,
  { id, customer, amountCents: amount, currency }: EndedCharge,
): Promise<string | undefined> {
  const blank = { amount, currency, customer, metadata: { charge: id } };
  try {
    return (await stripe.paymentIntents.create(blank, { idempotencyKey: chargeKey(id) })).id;
  } catch (error) {
    if (isKeyConflict(error)) return undefined;
    throw error;
  }
}

async function cancel(stripe: Stripe, paymentIntent: string): Promise<ChargeEnd> {
  const refusal = await stripe.paymentIntents.cancel(paymentIntent).then(
    () => null,
    (error: unknown) => error,
  );
  const { status } = await stripe.paymentIntents.retrieve(paymentIntent);
  if (status === "canceled") return { state: "canceled", paymentIntent };
  if (status === "succeeded") return { state: "paid" };
  if (statusOf(refusal) !== 400) throw refusal;
  return { state: "moving" };
}

const chargeKey = (id: string): string => `charge:${id}`;

const isKeyConflict = (error: unknown): boolean =>
  (error as { rawType?: unknown } | null)?.rawType === "idempotency_error" && statusOf(error) === 400;

function setupOf({ id, customer, environment, returnTo }: SetupRequest): Stripe.Checkout.SessionCreateParams {
  const metadata = { setup: id, environment };
  return {
    mode: "setup",
    currency: "usd",
    customer,
    allowed_payment_method_types: ["card", "us_bank_account"],
    metadata,
    setup_intent_data: { metadata },
    success_url: `${returnTo}?setup=returned`,
    cancel_url: returnTo,
  };
}

/**
 * The request that creates a charge's payment. It tells the processor the code of a single order, the amount and the
 * firm's name, but nothing about the client or the document.
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

/** Names the orders by the start of their codes, such as `orders 3FA2B1, 09C7DE`, and counts those that have no room. */
function orderWords(codes: readonly string[]): string {
  const shown = codes.slice(0, mostNamed).map((code) => code.slice(0, 6).toUpperCase());
  const more = codes.length - shown.length;
  return `order${codes.length === 1 ? "" : "s"} ${shown.join(", ")}${more > 0 ? `, and ${more} more` : ""}`;
}

// A payment's description is short, and a room can have fifty orders.
const mostNamed = 20;

function answerOf({ id, status, last_payment_error: fault }: Stripe.PaymentIntent): ChargeAnswer {
  if (status === "succeeded") return { state: "answered", paymentIntent: id };
  if (status === "processing") return { state: "pending", paymentIntent: id };
  return { state: "declined", paymentIntent: id, reason: fault?.decline_code ?? fault?.code ?? status };
}

/** The processor's refusal; null for an error after which a payment may exist. */
function declineOf(error: unknown): ChargeAnswer | null {
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
  // The SDK gives an error without a decline code an empty one.
  const reason = [declineCode, code].find((each) => typeof each === "string" && each !== "") ?? "method_unusable";
  return {
    state: "declined",
    paymentIntent: typeof intent?.id === "string" ? intent.id : null,
    reason: String(reason).slice(0, 200),
  };
}

function methodOf({ id, type, card, us_bank_account: bank }: Stripe.PaymentMethod): SavedMethod {
  const last4 = (card ?? bank)?.last4 ?? null;
  if (type === "us_bank_account")
    return { method: id, kind: "bank", brand: bank?.bank_name?.slice(0, 100) || null, last4, expires: null };
  const expires = card ? `${String(card.exp_month).padStart(2, "0")}/${card.exp_year}` : null;
  return { method: id, kind: "card", brand: card?.brand.slice(0, 100) || null, last4, expires };
}

const statusOf = (error: unknown): number => Number((error as { statusCode?: unknown } | null)?.statusCode ?? 0);

const failed = (error: unknown, to = "open its page"): ServiceError =>
  new ServiceError("processor_failed", `The payment processor failed to ${to}. Try again.`, { cause: error });
