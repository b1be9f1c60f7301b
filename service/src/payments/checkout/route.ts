import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { Type } from "typebox";
import { principalOf, requireKey } from "../../http/authentication.ts";
import {
  claimKey,
  claimsExpiredBefore,
  dropClaim,
  fingerprintOf,
  finishAnswer,
  idempotencyKeyOf,
  inFlight,
  type KeyClaim,
  keptAnswer,
  replay,
} from "../../http/idempotency.ts";
import { errors, ref } from "../../http/openapi.ts";
import type { RateLimits } from "../../http/rate-limits.ts";
import type { Principal, ResolveKey } from "../../identity/identity.ts";
import { type CheckoutDeps, checkoutUrl } from "./checkout.ts";

export type CheckoutRouteDeps = CheckoutDeps & { resolveKey: ResolveKey; limits: RateLimits };

type CodeRoute = { Params: { code: string } };

const json = "application/json; charset=utf-8";

export const Checkout = Type.Object(
  {
    checkoutUrl: Type.String({ description: "The hosted checkout page; the same one while it is open." }),
    requestId: Type.String({ format: "uuid" }),
  },
  { $id: "Checkout" },
);

/** Minting a hosted checkout (contract, Endpoints, Orders); it never changes the order. */
export function checkoutRoute(app: FastifyInstance, deps: CheckoutRouteDeps): void {
  app.addSchema(Checkout);
  app.post<CodeRoute>(
    "/api/partner/orders/:code/checkout",
    {
      onRequest: [requireKey(deps.resolveKey), deps.limits.limit("partner-write")],
      schema: {
        tags: ["Orders"],
        security: [{ partnerKey: [] }],
        operationId: "mintCheckout",
        summary: "Mint the hosted checkout of an order",
        params: Type.Object({ code: Type.String({ description: "The order code." }) }),
        headers: Type.Object({ "idempotency-key": Type.Optional(Type.String({ minLength: 8, maxLength: 255 })) }),
        response: {
          200: ref(Checkout),
          ...errors({
            400: "Idempotency-Key must have 8 to 255 characters.",
            401: "A valid partner API key is required.",
            404: "Order not found.",
            409: "An order in ManualQuoteRequired is not payable.",
            429: "Rate limit exceeded. Try again in 42 seconds.",
            502: "The payment processor failed to create the checkout session.",
            503: "Payments are not configured.",
          }),
        },
      },
      // The header's rule has its own message.
      validatorCompiler: () => () => true,
    },
    async (request, reply) => {
      const principal = principalOf(request);
      const claim = claimOf(request, principal, deps.clock());
      if (claim && !(await claimKey(deps.db, claim, deps.clock()))) {
        const kept = await keptAnswer(deps.db, claim, deps.clock);
        if (kept && !kept.unfinished) return replay(reply, kept);
        if (!kept) throw inFlight();
      }
      try {
        const { code } = request.params;
        const url = await checkoutUrl(deps, code, principal);
        const body = JSON.stringify({ checkoutUrl: url, requestId: request.id });
        if (claim) await finishAnswer(deps.db, claim, 200, body);
        return answer(reply, body);
      } catch (error) {
        if (claim) await dropClaim(deps.db, claim);
        throw error;
      }
    },
  );
}

const answer = (reply: FastifyReply, body: string): FastifyReply => reply.type(json).send(body);

function claimOf(request: FastifyRequest<CodeRoute>, { key }: Principal, now: Date): KeyClaim | null {
  const idempotencyKey = idempotencyKeyOf(request);
  if (idempotencyKey === null || !key) return null;
  return {
    callerId: key.id,
    route: "POST /api/partner/orders/{code}/checkout",
    key: idempotencyKey,
    fingerprint: fingerprintOf(new Map([["code", request.params.code]]), null),
    expiredBefore: claimsExpiredBefore(now),
  };
}
