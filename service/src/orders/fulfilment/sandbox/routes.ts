import type { FastifyInstance, FastifyRequest } from "fastify";
import { Type } from "typebox";
import { principalOf } from "../../../kernel/http/authentication.ts";
import { jsonRoute, type RouteDeps } from "../../../kernel/http/route.ts";
import { nullable, oneOf, orderCode, orderCodeExample, requestId, text } from "../../../kernel/http/schema-parts.ts";
import { warnings } from "../../../kernel/http/warnings.ts";
import { invalid } from "../../../kernel/platform/errors.ts";
import { testMethodRoute } from "../../payments/payments.ts";
import {
  milestones,
  outcomes,
  type SandboxDeps,
  type SandboxRequest,
  sandboxAdvance,
  sandboxCheckout,
} from "./sandbox.ts";

export type SandboxRouteDeps = { frame: RouteDeps; sandbox: SandboxDeps; baseUrl: string };

const common = {
  orderCode: orderCode(),
  status: text("The order's status now.", "EsignPending"),
  firedEvents: Type.Array(Type.String(), {
    examples: [["payment.cleared"]],
    description: "The topics of the events that this caused, in order.",
  }),
  requestId: requestId(),
  warnings,
};
const SandboxCheckout = Type.Object(
  {
    ...common,
    outcome: oneOf(outcomes, "What was simulated.", ["success"]),
    checkoutUrl: text(
      "The order's page: no processor is involved.",
      `https://sign.example.com/orders/${orderCodeExample}`,
    ),
  },
  { $id: "SandboxCheckout", description: "What the payment changed." },
);
const SandboxAdvance = Type.Object(common, { $id: "SandboxAdvance", description: "How far the order came." });

const params = Type.Object({ code: text("The order code.") });
const checkoutBody = Type.Object({
  outcome: Type.Optional(oneOf(outcomes, "What becomes of the payment. Default: `success`.", ["success"])),
});
const advanceBody = Type.Object({
  event: Type.Optional(
    nullable(oneOf(milestones), "How far to walk. Default: the next milestone, and after the last one to `Completed`."),
  ),
});

/** Routes with which partners move their own test orders. They accept only test keys and test orders. */
export function sandboxRoutes(app: FastifyInstance, deps: SandboxRouteDeps): void {
  const { db, clock } = deps.sandbox;
  testMethodRoute(app, { db, clock, frame: deps.frame });
  const frame = {
    method: "POST",
    scope: "orders",
    tag: "Sandbox",
    caller: "key",
    policy: "partner-write",
    params,
    bodyIs: "optional",
    warns: true,
  } as const;
  const refusals = (field: string) => ({
    400: `${field} must be one of the named values.`,
    404: "Order not found.",
    409: "The sandbox takes test orders only.",
  });

  jsonRoute(app, deps.frame, {
    ...frame,
    url: "/api/partner/sandbox/orders/:code/checkout",
    operationId: "sandboxCheckout",
    summary: "Simulate a payment",
    description:
      "Pays a test order, or has its payment fail, as the payment processor would. No processor is involved; your webhooks get the events.",
    body: checkoutBody,
    answer: SandboxCheckout,
    refusals: refusals("outcome"),
    handle: async (request) => {
      const outcome = outcomeIn(request.body);
      const { code: orderCode } = request.params;
      const result = await sandboxCheckout(deps.sandbox, requestOf(request, orderCode), outcome);
      const checkoutUrl = `${deps.baseUrl}/orders/${orderCode}`;
      return { orderCode, outcome, checkoutUrl, ...result, requestId: request.id };
    },
  });

  jsonRoute(app, deps.frame, {
    ...frame,
    url: "/api/partner/sandbox/orders/:code/advance",
    operationId: "sandboxAdvance",
    summary: "Advance a test order",
    description:
      "Walks a test order to the named milestone or to the next one, as if its client, notary and carrier had done their part. Your webhooks get the events.",
    body: advanceBody,
    answer: SandboxAdvance,
    refusals: refusals("event"),
    handle: async (request) => {
      const event = choice(request.body, "event", milestones);
      const { code: orderCode } = request.params;
      return {
        orderCode,
        ...(await sandboxAdvance(deps.sandbox, requestOf(request, orderCode), event)),
        requestId: request.id,
      };
    },
  });
}

const requestOf = (request: FastifyRequest, code: string): SandboxRequest => ({
  principal: principalOf(request),
  code,
  attempt: request.id,
});

/** The outcome in a request's body; `success` when absent. @throws ServiceError for an unknown outcome */
export const outcomeIn = (sent: unknown) => choice(sent, "outcome", outcomes) ?? "success";

/** Reads the named field of a request's body, which must be one of `names`; null when absent. @throws ServiceError */
function choice<T extends string>(sent: unknown, field: "outcome" | "event", names: readonly T[]): T | null {
  const body = sent ?? {};
  if (typeof body !== "object" || Array.isArray(body)) throw invalid("The body must be a JSON object.");
  const value = (body as Record<string, unknown>)[field];
  if (value === undefined || (value === null && field === "event")) return null;
  const name = names.find((each) => each === value);
  if (name === undefined) throw invalid(`${field} must be ${names.slice(0, -1).join(", ")} or ${names.at(-1)}.`);
  return name;
}
