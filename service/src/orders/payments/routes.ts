import type { FastifyInstance } from "fastify";
import { Type } from "typebox";
import { principalOf } from "../../kernel/http/authentication.ts";
import { idempotencyHeader, idempotencyKeyOf, sendAnswer } from "../../kernel/http/idempotency-key.ts";
import { jsonRoute, type RouteDeps } from "../../kernel/http/route.ts";
import { requestId, text } from "../../kernel/http/schema-parts.ts";
import type { Clock } from "../../kernel/platform/clock.ts";
import type { Database } from "../../kernel/platform/database/database.ts";
import { isAltered } from "../../kernel/platform/database/state-mac.ts";
import { ServiceError } from "../../kernel/platform/errors.ts";
import { once } from "../../kernel/platform/idempotency.ts";
import { fingerprintOf, requestKey } from "../../kernel/platform/idempotency-keys.ts";
import type { Log } from "../../kernel/platform/logs.ts";
import type { Metrics } from "../../kernel/platform/metrics.ts";
import { type CheckoutDeps, checkoutUrl } from "./checkout/checkout.ts";
import { applyEvent } from "./events/apply-event.ts";
import { reportRefusedEvent } from "./events/payees.ts";
import { readableTypes } from "./processor/message.ts";
import type { Processor } from "./processor/processor.ts";
import { webhookPath } from "./processor/webhook-endpoints.ts";

const Checkout = Type.Object(
  {
    checkoutUrl: text(
      "The hosted payment page; the same one while it is open.",
      "https://checkout.stripe.com/c/pay/cs_test_a1b2",
    ),
    requestId: requestId(),
  },
  { $id: "Checkout", description: "Where the client pays." },
);

/** Creates a hosted checkout (contract, Endpoints, Orders). Never changes the order. */
export function checkoutRoute(app: FastifyInstance, deps: CheckoutDeps & RouteDeps): void {
  jsonRoute(app, deps, {
    method: "POST",
    scope: "orders",
    url: "/api/partner/orders/:code/checkout",
    tag: "Orders",
    operationId: "mintCheckout",
    summary: "Create a checkout",
    description:
      "Opens the payment processor's hosted page for the order and returns its address. It never changes the order: that does the processor's signed notice that the money came. While the page is open, the same address is returned again.",
    caller: "key",
    policy: "partner-write",
    params: Type.Object({ code: Type.String({ description: "The order code." }) }),
    headers: idempotencyHeader,
    bodyIs: "none",
    answer: Checkout,
    refusals: {
      400: "Idempotency-Key must have 8 to 255 characters.",
      404: "Order not found.",
      409: "An order in ManualQuoteRequired is not payable.",
      502: "The payment processor failed to create the checkout session.",
      503: "Payments are not configured.",
    },
    handle: async (request, reply) => {
      const principal = principalOf(request);
      const { code } = request.params;
      const fingerprint = fingerprintOf(new Map([["code", code]]), null);
      const route = "POST /api/partner/orders/{code}/checkout";
      const answer = await once(deps, requestKey(principal, route, idempotencyKeyOf(request), fingerprint), {
        status: 200,
        refuseAbandoned: null,
        work: async () => ({ checkoutUrl: await checkoutUrl(deps, code, principal), requestId: request.id }),
      });
      return sendAnswer(reply, answer);
    },
  });
}

type WebhookDeps = { db: Database; clock: Clock; log: Log; metrics: Metrics; processor: Processor | null };

const maxEventBytes = 1024 * 1024;

/**
 * Receives the processor's events. The signature covers the exact bytes, so the body is parsed only after the signature
 * was verified. Responds 200 to an authentic event, even one that changes nothing, and 400 to a wrong signature.
 * Responds 5xx when the event can't be applied, so that the processor repeats it.
 */
export async function processorWebhook(app: FastifyInstance, deps: WebhookDeps): Promise<void> {
  const { db, clock, log, processor } = deps;
  const counter = deps.metrics.counter(
    "processor_events_total",
    "Events of the payment processor, by what came of them.",
    ["type", "outcome"],
  );
  // A Fastify scope of its own, so that the parsers of other routes don't change.
  await app.register(async (room) => {
    room.removeAllContentTypeParsers();
    room.addContentTypeParser("*", { parseAs: "buffer", bodyLimit: maxEventBytes }, (_request, body, done) =>
      done(null, body),
    );

    const logged = (err: unknown) => log.error({ err }, "an altered order could not be reported");
    room.post(webhookPath, { schema: { hide: true } }, async (request) => {
      if (!processor) throw new ServiceError("payments_not_configured", "Payments are not configured.");
      const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
      const signature = request.headers["stripe-signature"];
      const event = await processor
        .verify(body, typeof signature === "string" ? signature : undefined, clock())
        .catch((error: Error) => {
          counter.inc({ type: "other", outcome: "forged" });
          log.warn({ requestId: request.id, reason: error.message }, "an event's signature does not hold");
          throw error;
        });
      const { livemode } = processor;
      const options = { at: clock(), log, actor: "processor", livemode } as const;
      const { outcome } = await db
        .transaction((tx) => applyEvent(tx, event, options))
        .catch(async (error: unknown) => {
          if (isAltered(error)) await reportRefusedEvent(db, event, options.at).catch(logged);
          throw error;
        });
      counter.inc({ type: readableTypes.has(event.type) ? event.type : "other", outcome });
      return { received: true };
    });
  });
}
