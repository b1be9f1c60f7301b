import type { FastifyInstance } from "fastify";
import { Type } from "typebox";
import { principalOf } from "../../http/authentication.ts";
import { idempotencyHeader, idempotencyKeyOf, sendStored } from "../../http/idempotency-key.ts";
import { jsonRoute, type RouteDeps } from "../../http/route.ts";
import { requestId } from "../../http/schema-parts.ts";
import { fingerprintOf, once, requestKey } from "../../platform/idempotency.ts";
import { type CheckoutDeps, checkoutUrl } from "./checkout.ts";

const Checkout = Type.Object(
  {
    checkoutUrl: Type.String({ description: "The hosted checkout page; the same one while it is open." }),
    requestId: requestId(),
  },
  { $id: "Checkout" },
);

/** Minting a hosted checkout (contract, Endpoints, Orders); it never changes the order. */
export function checkoutRoute(app: FastifyInstance, deps: CheckoutDeps & RouteDeps): void {
  jsonRoute(app, deps, {
    method: "POST",
    url: "/api/partner/orders/:code/checkout",
    tag: "Orders",
    operationId: "mintCheckout",
    summary: "Mint the hosted checkout of an order",
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
      const response = await once(deps, requestKey(principal, route, idempotencyKeyOf(request), fingerprint), {
        status: 200,
        finish: async () =>
          JSON.stringify({ checkoutUrl: await checkoutUrl(deps, code, principal), requestId: request.id }),
      });
      return sendStored(reply, response);
    },
  });
}
