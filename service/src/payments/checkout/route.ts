import type { FastifyInstance } from "fastify";
import { Type } from "typebox";
import { principalOf } from "../../http/authentication.ts";
import { idempotencyHeader, idempotencyKeyOf, sendStored } from "../../http/idempotency-key.ts";
import { jsonRoute, type RouteDeps } from "../../http/route.ts";
import { requestId, text } from "../../http/schema-parts.ts";
import { fingerprintOf, once, requestKey } from "../../platform/idempotency.ts";
import { type CheckoutDeps, checkoutUrl } from "./checkout.ts";

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

/** Minting a hosted checkout (contract, Endpoints, Orders); it never changes the order. */
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
      const response = await once(deps, requestKey(principal, route, idempotencyKeyOf(request), fingerprint), {
        status: 200,
        finish: async () =>
          JSON.stringify({ checkoutUrl: await checkoutUrl(deps, code, principal), requestId: request.id }),
      });
      return sendStored(reply, response);
    },
  });
}
