import type { Stripe } from "stripe";
import { invalid, ServiceError } from "../../platform/errors.ts";
import { hasNulEscape } from "../../platform/text.ts";

/** A checkout to mint; `id` makes the processor mint it once, however often it is asked. Amounts are US cents. */
export type CheckoutRequest = {
  id: string;
  orderCode: string;
  /** What the firm is called that asks for the payment. */
  firmName: string;
  environment: string;
  amountCents: number;
  currency: string;
  expiresAt: Date;
};

export type MintedSession = { sessionId: string; url: string };

/** An event whose signature holds; its content is still to be read with care. */
export type SignedEvent = {
  id: string;
  type: string;
  account?: unknown;
  livemode?: unknown;
  data: { object: unknown };
};

/** What we ask of the payment processor. */
export type Processor = {
  /** True for a key of the processor's test mode: no money moves there. */
  testMode: boolean;
  /** What `livemode` of its events is; null when the key does not say. */
  livemode: boolean | null;
  /** @throws ServiceError `processor_failed` */
  mint: (request: CheckoutRequest) => Promise<MintedSession>;
  /** Nobody can pay by the session any more. One that has ended already is left as it is. */
  expire: (sessionId: string) => Promise<void>;
  /** Asks for the whole sum back; `id` makes it happen once. */
  refund: (id: string, paymentIntent: string) => Promise<void>;
  /** @throws ServiceError `validation` when the signature does not hold over these bytes, or its time is out of tolerance */
  verify: (body: Buffer, signature: string | undefined, now: Date) => Promise<SignedEvent>;
};

export type ProcessorSettings = { secretKey: string; webhookSecret: string; apiBase: string | null };

const toleranceSeconds = 300;
const timeoutMs = 8_000;

/** Keys of the processor's test mode: no money moves by them. */
export const isTestModeKey = (secretKey: string): boolean => /^(?:sk|rk)_test_/.test(secretKey);

const livemodeOf = (secretKey: string): boolean | null => {
  if (/^(?:sk|rk)_live_/.test(secretKey)) return true;
  return isTestModeKey(secretKey) ? false : null;
};

/**
 * Stripe by its SDK, which is loaded with the first use.
 * @param baseUrl where the payer comes back to.
 */
export function openProcessor({ secretKey, webhookSecret, apiBase }: ProcessorSettings, baseUrl: string): Processor {
  let loading: Promise<Stripe> | undefined;
  const sdk = () => (loading ??= load(secretKey, apiBase));

  return {
    testMode: isTestModeKey(secretKey),
    livemode: livemodeOf(secretKey),
    async mint(request) {
      try {
        const stripe = await sdk();
        const { id, url } = await stripe.checkout.sessions.create(sessionOf(request, baseUrl), {
          idempotencyKey: `checkout:${request.id}`,
        });
        if (!url) throw new Error("the session has no url");
        return { sessionId: id, url };
      } catch (error) {
        throw failed(error);
      }
    },
    async expire(sessionId) {
      const stripe = await sdk();
      const session = await stripe.checkout.sessions.retrieve(sessionId);
      if (session.status === "open") await stripe.checkout.sessions.expire(sessionId);
    },
    async refund(id, paymentIntent) {
      const stripe = await sdk();
      await stripe.refunds.create({ payment_intent: paymentIntent }, { idempotencyKey: `refund:${id}` });
    },
    async verify(body, signature, now) {
      if (!signature) throw invalid("The signature is missing.");
      // The SDK refuses what is too old, but takes any time to come.
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

/** Unix seconds of `t` in the signature header; 0 when it has none, which then does not verify. */
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

/** The order's code and sum, and who asks for it; nothing of the client or the document. */
function sessionOf(
  { orderCode, firmName, environment, amountCents, currency, expiresAt }: CheckoutRequest,
  baseUrl: string,
) {
  const metadata = { order_code: orderCode, environment };
  const back = `${baseUrl}/orders/${orderCode}/checkout`;
  return {
    mode: "payment",
    client_reference_id: orderCode,
    metadata,
    payment_intent_data: { metadata },
    line_items: [
      {
        quantity: 1,
        price_data: {
          currency,
          unit_amount: amountCents,
          product_data: { name: `Document services for ${firmName}, order ${orderCode.slice(0, 6).toUpperCase()}` },
        },
      },
    ],
    success_url: `${back}/returned`,
    cancel_url: `${back}/cancelled`,
    expires_at: Math.floor(expiresAt.getTime() / 1000),
  } satisfies Stripe.Checkout.SessionCreateParams;
}

function failed(error: unknown): ServiceError {
  if (error instanceof ServiceError) return error;
  return new ServiceError("processor_failed", "The payment processor failed to create the checkout session.", {
    cause: error,
  });
}
