/** Hosted checkouts at the processor. */
import type { Stripe } from "stripe";
import { ServiceError } from "../../../kernel/platform/errors.ts";
import { shortCode } from "../../../kernel/platform/text.ts";

/** The checkout to create. For the same `id`, the processor creates only one within a day. Amounts are in US cents. */
export type CheckoutRequest = {
  id: string;
  /** True if the checkout was opened for a group of orders. */
  isShared: boolean;
  /** The name of the firm that requests the payment, as shown to the payer. */
  firmName: string;
  environment: string;
  lines: readonly { orderCode: string; amountCents: number; supplementId: number | null }[];
  currency: string;
  expiresAt: Date;
};

export type MintedSession = { sessionId: string; url: string };

export type CheckoutSessions = {
  /**
   * Creates a session, or returns the one that was created with the same `id` within a day. @throws ServiceError
   * `processor_failed`
   */
  mint: (request: CheckoutRequest) => Promise<MintedSession>;
  /** Finds the session that was created with our `id` between two times; null when there is none. */
  find: (id: string, from: Date, to: Date) => Promise<{ sessionId: string; url: null } | MintedSession | null>;
  /**
   * Ends the session, so that it can't be paid. A session that has already ended doesn't change.
   * @returns `complete` when a payer completed it first; `unknown` for a session that this account doesn't have
   * @throws ServiceError `processor_failed`
   */
  expire: (sessionId: string) => Promise<"expired" | "complete" | "unknown">;
  /** The state of the payment of a session that a payer completed; `unknown` for a session of another account. */
  paymentOf: (sessionId: string) => Promise<"paid" | "processing" | "failed" | "unknown">;
};

/**
 * Creates the functions that create, find and end hosted checkouts.
 * @param baseUrl the site that the payer returns to
 */
export function checkoutSessions(sdk: () => Promise<Stripe>, baseUrl: string): CheckoutSessions {
  return {
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
          // The processor also refuses to expire a session that a payer completed a moment ago. Only a refusal for an
          // open session is an error.
          if ((await sessions.retrieve(sessionId)).status === "open") throw error;
        });
        return endOf((await sessions.retrieve(sessionId)).status);
      } catch (error) {
        if (isUnknown(error)) return "unknown";
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
  };
}

const endOf = (status: string | null): "expired" | "complete" => (status === "complete" ? "complete" : "expired");

const isUnknown = (error: unknown): boolean => (error as { statusCode?: unknown } | null)?.statusCode === 404;

/**
 * The request that creates a session. It contains the order's code, the amounts and the firm's name, but nothing about
 * the client or the document. For several orders it contains only the first digits of their codes, because the payer
 * may not have access to all of them.
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
          name: `${line.supplementId === null ? "Document services" : "An additional amount"} for ${firmName}, order ${shortCode(line.orderCode)}`,
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
