import type { Stripe } from "stripe";
import { invalid, ServiceError } from "../../../kernel/platform/errors.ts";
import { hasNulEscape } from "../../../kernel/platform/text.ts";
import { type AccountBooks, accountBooks } from "./balance.ts";
import { type FirmAccount, firmAccount } from "./firm-account.ts";
import { type WebhookEndpoints, webhookEndpoints } from "./webhook-endpoints.ts";

/** The checkout to create. For the same `id`, the processor creates only one. Amounts are in US cents. */
export type CheckoutRequest = {
  id: string;
  /** Whether the checkout was opened for a group of orders. */
  isShared: boolean;
  /** The firm that the payer sees as the one asking for the payment. */
  firmName: string;
  environment: string;
  /** One line for each order. */
  lines: readonly { orderCode: string; amountCents: number; supplementId: number | null }[];
  currency: string;
  expiresAt: Date;
};

export type MintedSession = { sessionId: string; url: string };

/** An event with a verified signature. Its content is still untrusted. */
export type SignedEvent = {
  id: string;
  type: string;
  account?: unknown;
  livemode?: unknown;
  /** When the processor created the event, in Unix seconds. */
  created?: unknown;
  data: { object: unknown };
};

/** The payment processor. */
export type Processor = AccountBooks &
  WebhookEndpoints & {
    /** Whether the key is for the processor's test mode, in which no money moves. */
    testMode: boolean;
    /** The `livemode` that the processor's events must have; null when the key doesn't tell. */
    livemode: boolean | null;
    /**
     * Creates a session, or returns the one that was created with the same `id`. @throws ServiceError `processor_failed`
     */
    mint: (request: CheckoutRequest) => Promise<MintedSession>;
    /** Finds the session that was created with our `id` between two times; null when there is none. */
    find: (id: string, from: Date, to: Date) => Promise<{ sessionId: string; url: null } | MintedSession | null>;
    /**
     * Ends the session, so that it can't be paid. A session that has already ended doesn't change.
     * @returns `complete` when a payer completed it first
     * @throws ServiceError `processor_failed`
     */
    expire: (sessionId: string) => Promise<"expired" | "complete">;
    /** The state of the payment of a session that a payer completed; `unknown` for a session of another account. */
    paymentOf: (sessionId: string) => Promise<"paid" | "processing" | "failed" | "unknown">;
    /** Refunds a payment in full. A repeated call with the same `id` refunds nothing more. */
    refund: (id: string, paymentIntent: string) => Promise<void>;
    /** Refunds a part of a payment. A repeated call with the same `request` refunds nothing more, even much later. */
    refundPart: (part: RefundPart) => Promise<void>;
    /**
     * Refunds an order's share of a payment for several orders, minus the parts already refunded. A repeated call refunds
     * nothing more.
     */
    refundShare: (share: Omit<RefundPart, "request">) => Promise<void>;
    /**
     * The refunds of a payment that have succeeded or may still succeed. `isOurs`: this service requested it as a partial
     * refund.
     */
    refundsOf: (paymentIntent: string) => Promise<{ id: string; amountCents: number; isOurs: boolean }[]>;
    /** Cards and bank accounts of firms. */
    firm: FirmAccount;
    /**
     * Verifies an event's signature over the exact bytes.
     * @throws ServiceError `validation` when the signature is wrong, or its time is out of tolerance
     */
    verify: (body: Buffer, signature: string | undefined, now: Date) => Promise<SignedEvent>;
  };

/** A part of a payment to refund. `payment` is our id of the payment. */
export type RefundPart = { request: string; payment: number; paymentIntent: string; amountCents: number };

export type ProcessorSettings = { secretKey: string; webhookSecret: string; apiBase: string | null };

const toleranceSeconds = 300;
const timeoutMs = 8_000;

/** Whether it is a key of the processor's test mode, in which no money moves. */
export const isTestModeKey = (secretKey: string): boolean => /^(?:sk|rk)_test_/.test(secretKey);

const livemodeOf = (secretKey: string): boolean | null => {
  if (/^(?:sk|rk)_live_/.test(secretKey)) return true;
  return isTestModeKey(secretKey) ? false : null;
};

/**
 * Opens Stripe. Its SDK is loaded at first use.
 * @param baseUrl the site that the payer returns to
 */
export function openProcessor({ secretKey, webhookSecret, apiBase }: ProcessorSettings, baseUrl: string): Processor {
  let loading: Promise<Stripe> | undefined;
  const sdk = () => (loading ??= load(secretKey, apiBase));

  return {
    testMode: isTestModeKey(secretKey),
    livemode: livemodeOf(secretKey),
    firm: firmAccount(sdk),
    ...{ ...accountBooks(sdk), ...webhookEndpoints(sdk) },
    async mint(request) {
      try {
        const { id, url } = await (await sdk()).checkout.sessions.create(sessionOf(request, baseUrl), {
          idempotencyKey: `checkout:${request.id}`,
        });
        if (!url) throw new Error("the session has no url");
        return { sessionId: id, url };
      } catch (error) {
        throw failed(error, "create");
      }
    },
    async find(id, from, to) {
      try {
        const created = { gte: Math.floor(from.getTime() / 1000), lte: Math.ceil(to.getTime() / 1000) };
        for await (const session of (await sdk()).checkout.sessions.list({ created, limit: 100 }))
          if (session.metadata?.["checkout"] === id) return { sessionId: session.id, url: session.url };
        return null;
      } catch (error) {
        throw failed(error, "find");
      }
    },
    async expire(sessionId) {
      try {
        const { sessions } = (await sdk()).checkout;
        const { status } = await sessions.retrieve(sessionId);
        if (status !== "open") return endOf(status);
        await sessions.expire(sessionId).catch(async (error: unknown) => {
          // The processor refuses to expire a session that a payer completed a moment ago.
          if ((await sessions.retrieve(sessionId)).status === "open") throw error;
        });
        return endOf((await sessions.retrieve(sessionId)).status);
      } catch (error) {
        // A session of another account can't be paid through this account.
        if (isUnknown(error)) return "expired";
        throw failed(error, "close");
      }
    },
    async paymentOf(sessionId) {
      try {
        const stripe = await sdk();
        const session = await stripe.checkout.sessions.retrieve(sessionId);
        if (session.payment_status !== "unpaid") return "paid";
        const intent = typeof session.payment_intent === "string" ? session.payment_intent : session.payment_intent?.id;
        if (!intent) return session.status === "complete" ? "processing" : "failed";
        const { status } = await stripe.paymentIntents.retrieve(intent);
        if (status === "succeeded") return "paid";
        return status === "canceled" || status === "requires_payment_method" ? "failed" : "processing";
      } catch (error) {
        if (isUnknown(error)) return "unknown";
        throw failed(error, "read");
      }
    },
    async refund(id, paymentIntent) {
      const stripe = await sdk();
      await stripe.refunds
        .create({ payment_intent: paymentIntent }, { idempotencyKey: `refund:${id}` })
        .catch((error: unknown) => {
          // Partial refunds have already returned the whole payment.
          if ((error as { code?: unknown } | null)?.code !== "charge_already_refunded") throw error;
        });
    },
    refundPart: async (part) => refundOnce(await sdk(), part.request, part, () => part.amountCents),
    refundShare: async (share) =>
      refundOnce(await sdk(), shareRequest(share.payment), share, (given) =>
        given
          .filter(({ metadata }) => metadata?.["payment"] === String(share.payment))
          .reduce((rest, { amount }) => rest - amount, share.amountCents),
      ),
    async refundsOf(paymentIntent) {
      const given = await refundsOf(await sdk(), paymentIntent);
      return given.map(({ id, amount: amountCents, metadata }) => ({
        id,
        amountCents,
        isOurs: metadata?.["refund_request"] !== undefined,
      }));
    },
    async verify(body, signature, now) {
      if (!signature) throw invalid("The signature is missing.");
      // The SDK refuses a signature with an old time, but accepts any future time.
      if (signedAt(signature) > now.getTime() / 1000 + toleranceSeconds)
        throw invalid("The signature's time is in the future.");
      const { webhooks } = await sdk();
      let event: unknown;
      try {
        const at = now.getTime();
        event = await webhooks.constructEventAsync(body, signature, webhookSecret, toleranceSeconds, undefined, at);
      } catch (error) {
        throw new ServiceError("validation", "The signature does not verify.", { cause: error });
      }
      if (hasNulEscape(body.toString())) throw invalid("An event's texts must not contain NUL.");
      if (!isEvent(event)) throw invalid("The event must have an id, a type and data.object.");
      return event;
    },
  };
}

/** The `request` under which an order's share is refunded. */
export const shareRequest = (payment: number | string): string => `payment:${payment}`;

/**
 * Refunds a part unless it was refunded before. Idempotency keys expire after a day and a job may run again later, so
 * the processor's refunds are read first. Asks for nothing if parts that are on their way return all that is left.
 */
async function refundOnce(
  stripe: Stripe,
  request: string,
  { payment, paymentIntent }: Omit<RefundPart, "request">,
  amountOf: (given: readonly Stripe.Refund[]) => number,
): Promise<void> {
  const given = await refundsOf(stripe, paymentIntent);
  if (given.some(({ metadata }) => metadata?.["refund_request"] === request)) return;
  const amount = amountOf(given);
  if (amount <= 0) return;
  const metadata = { refund_request: request, payment: String(payment) };
  const idempotencyKey = `part-refund:${request}`;
  await stripe.refunds.create({ payment_intent: paymentIntent, amount, metadata }, { idempotencyKey });
}

/** The refunds that have not failed. */
async function refundsOf(stripe: Stripe, paymentIntent: string): Promise<Stripe.Refund[]> {
  const { data } = await stripe.refunds.list({ payment_intent: paymentIntent, limit: 100 });
  return data.filter(({ status }) => status !== "failed" && status !== "canceled");
}

const endOf = (status: string | null): "expired" | "complete" => (status === "complete" ? "complete" : "expired");

const isUnknown = (error: unknown): boolean => (error as { statusCode?: unknown } | null)?.statusCode === 404;

/** The time `t` in the signature header, in Unix seconds. Without one it is 0, and the verification fails. */
const signedAt = (signature: string): number => Number(/(?:^|,)t=(\d{1,15})(?:,|$)/.exec(signature)?.[1] ?? 0);

function isEvent(value: unknown): value is SignedEvent {
  const { id, type, data } = (value ?? {}) as Partial<SignedEvent>;
  const isText = (text: unknown) => typeof text === "string" && text !== "" && text.length <= 255;
  return isText(id) && isText(type) && typeof data?.object === "object" && data.object !== null;
}

async function load(secretKey: string, apiBase: string | null): Promise<Stripe> {
  const { Stripe } = await import("stripe");
  const base = apiBase === null ? null : new URL(apiBase);
  return new Stripe(secretKey, {
    timeout: timeoutMs,
    maxNetworkRetries: 1,
    telemetry: false,
    ...(base && {
      protocol: base.protocol === "http:" ? "http" : "https",
      host: base.hostname,
      port: base.port || (base.protocol === "http:" ? 80 : 443),
    }),
  });
}

/**
 * The request that creates a session. It tells the processor the order's code, the amounts and the firm's name, but
 * nothing about the client or the document. Of the codes of several orders, it tells only the first digits, because the
 * payer may not have access to all of the orders.
 */
function sessionOf(
  { id, isShared, firmName, environment, lines, currency, expiresAt }: CheckoutRequest,
  baseUrl: string,
) {
  const [{ orderCode = "" } = {}] = lines;
  const metadata = { ...(!isShared && { order_code: orderCode }), environment, checkout: id };
  const back = isShared ? `${baseUrl}/checkout` : `${baseUrl}/orders/${orderCode}/checkout`;
  return {
    mode: "payment",
    client_reference_id: isShared ? id : orderCode,
    metadata,
    payment_intent_data: { metadata },
    line_items: lines.map((line) => ({
      quantity: 1,
      price_data: {
        currency,
        unit_amount: line.amountCents,
        product_data: {
          name: `${line.supplementId === null ? "Document services" : "An additional amount"} for ${firmName}, order ${line.orderCode.slice(0, 6).toUpperCase()}`,
        },
      },
    })),
    success_url: `${back}/returned`,
    cancel_url: `${back}/cancelled`,
    expires_at: Math.floor(expiresAt.getTime() / 1000),
  } satisfies Stripe.Checkout.SessionCreateParams;
}

function failed(error: unknown, to: "create" | "find" | "read" | "close"): ServiceError {
  if (error instanceof ServiceError) return error;
  return new ServiceError("processor_failed", `The payment processor failed to ${to} the checkout session.`, {
    cause: error,
  });
}
