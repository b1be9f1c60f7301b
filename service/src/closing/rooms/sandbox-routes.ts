/** Simulates one payment for a room's test orders that one payer can pay now (an addition to the contract). */
import type { FastifyInstance } from "fastify";
import { Type } from "typebox";
import { principalOf } from "../../kernel/http/authentication.ts";
import { jsonRoute, type RouteDeps } from "../../kernel/http/route.ts";
import { oneOf, orderCodeExample, requestId, roomCode, roomCodeExample, text } from "../../kernel/http/schema-parts.ts";
import { warnings } from "../../kernel/http/warnings.ts";
import { outcomeIn, outcomes, type SandboxDeps } from "../../orders/fulfilment/fulfilment.ts";
import { payers } from "../../orders/order/order.ts";
import { sandboxRoomCheckout } from "./checkout.ts";
import { payerIn } from "./money-routes.ts";
import { roomParams } from "./params.ts";

const SandboxRoomCheckout = Type.Object(
  {
    roomCode: roomCode(),
    outcome: oneOf(outcomes, "What was simulated.", ["success"]),
    checkoutUrl: text(
      "The room's page: no processor is involved.",
      `https://sign.example.com/rooms/${roomCodeExample}`,
    ),
    payBy: oneOf(payers, "Whose orders it pays: the client's, or your firm's.", ["client"]),
    orders: Type.Array(
      Type.Object({
        orderCode: text("An order of the payment.", orderCodeExample),
        totalCents: Type.Integer({ minimum: 0, description: "The order's total in US cents.", examples: [9500] }),
        status: text("The order's status now.", "EsignPending"),
      }),
      { description: "The orders of the payment, as the room lists them." },
    ),
    totalCents: Type.Integer({ minimum: 0, description: "Their sum in US cents.", examples: [18_240] }),
    firedEvents: Type.Array(Type.String(), {
      examples: [["payment.cleared", "payment.cleared"]],
      description: "The topics of the events that this caused, in order.",
    }),
    requestId: requestId(),
    warnings,
  },
  { $id: "SandboxRoomCheckout", description: "What the one payment of a room changed." },
);

const body = Type.Object({
  outcome: Type.Optional(oneOf(outcomes, "What becomes of the payment. Default: `success`.", ["success"])),
  pay_by: Type.Optional(
    oneOf(payers, "Whose orders it pays. Default: the client's, or your firm's if the room has none of a client.", [
      "client",
    ]),
  ),
});

/** Adds the route. It accepts only test keys, and rooms of the test environment. */
export function roomSandboxRoute(
  app: FastifyInstance,
  deps: RouteDeps & { sandbox: SandboxDeps; baseUrl: string },
): void {
  const { sandbox, baseUrl } = deps;
  jsonRoute(app, deps, {
    method: "POST",
    scope: "orders",
    tag: "Sandbox",
    caller: "key",
    policy: "partner-write",
    url: "/api/partner/sandbox/rooms/:roomCode/checkout",
    operationId: "sandboxRoomCheckout",
    summary: "Simulate the payment for a room",
    description:
      "Pays all payable test orders of a room that your firm placed and that one payer pays, or has that payment fail, as the payment processor would: all of them together. No processor is involved; your webhooks get the events.",
    params: roomParams,
    body,
    bodyIs: "optional",
    warns: true,
    answer: SandboxRoomCheckout,
    refusals: {
      400: "outcome and pay_by must be one of the named values.",
      404: "Room not found.",
      409: "No order of this room is payable.",
    },
    handle: async (request) => {
      const outcome = outcomeIn(request.body);
      const asked = { principal: principalOf(request), roomCode: request.params.roomCode, attempt: request.id };
      const payBy = payerIn({}, request.body);
      const paid = await sandboxRoomCheckout(sandbox, { ...asked, payBy }, outcome);
      const checkoutUrl = `${baseUrl}/rooms/${request.params.roomCode}`;
      return { roomCode: request.params.roomCode, outcome, checkoutUrl, ...paid, requestId: request.id };
    },
  });
}
