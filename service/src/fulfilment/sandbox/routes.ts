import type { FastifyInstance, FastifyRequest } from "fastify";
import { type TSchema, Type } from "typebox";
import { principalOf, requireKey } from "../../http/authentication.ts";
import { errors, ref } from "../../http/openapi.ts";
import { bodyOptional } from "../../http/openapi-around.ts";
import type { RateLimits } from "../../http/rate-limits.ts";
import type { ResolveKey } from "../../identity/identity.ts";
import { invalid } from "../../platform/errors.ts";
import {
  milestones,
  outcomes,
  type SandboxDeps,
  type SandboxRequest,
  sandboxAdvance,
  sandboxCheckout,
} from "./sandbox.ts";

export type SandboxRouteDeps = SandboxDeps & { baseUrl: string; resolveKey: ResolveKey; limits: RateLimits };

type CodeRoute = { Params: { code: string } };

const common = {
  orderCode: Type.String({ pattern: "^[0-9a-f]{40}$" }),
  status: Type.String({ examples: ["EsignPending"] }),
  firedEvents: Type.Array(Type.String(), {
    examples: [["payment.cleared"]],
    description: "Topics, in the order they fired.",
  }),
  requestId: Type.String({ format: "uuid" }),
};
const SandboxCheckout = Type.Object(
  {
    ...common,
    outcome: Type.Union(outcomes.map((outcome) => Type.Literal(outcome))),
    checkoutUrl: Type.String({ description: "The order's page: no processor is involved." }),
  },
  { $id: "SandboxCheckout" },
);
const SandboxAdvance = Type.Object(common, { $id: "SandboxAdvance" });

/** The sandbox: a test order's way, driven by its partner (test keys and test orders only). */
export function sandboxRoutes(app: FastifyInstance, deps: SandboxRouteDeps): void {
  app.addSchema(SandboxCheckout);
  app.addSchema(SandboxAdvance);
  const onRequest = [requireKey(deps.resolveKey), deps.limits.limit("partner-write")];
  const about = (
    operationId: string,
    summary: string,
    field: string,
    body: TSchema,
    answer: TSchema & { $id?: string },
  ) => ({
    tags: ["Sandbox"],
    security: [{ partnerKey: [] }],
    operationId,
    summary,
    params: Type.Object({ code: Type.String() }),
    body,
    [bodyOptional]: true,
    response: {
      200: ref(answer),
      ...errors({
        400: `${field} must be one of the named values.`,
        401: "A valid partner API key is required.",
        404: "Order not found.",
        409: "The sandbox takes test orders only.",
        429: "Rate limit exceeded. Try again in 42 seconds.",
      }),
    },
  });
  // The body may be left out; what it holds is checked by its own messages.
  const unchecked = { onRequest, validatorCompiler: () => () => true };

  app.post<CodeRoute>(
    "/api/partner/sandbox/orders/:code/checkout",
    {
      ...unchecked,
      schema: about(
        "sandboxCheckout",
        "Simulate the payment of a test order",
        "outcome",
        Type.Object({
          outcome: Type.Optional(
            Type.Union(
              outcomes.map((name) => Type.Literal(name)),
              { default: "success" },
            ),
          ),
        }),
        SandboxCheckout,
      ),
    },
    async (request) => {
      const outcome = choice(request, "outcome", outcomes) ?? "success";
      const answer = await sandboxCheckout(deps, requestOf(request), outcome);
      const orderCode = request.params.code;
      const checkoutUrl = `${deps.baseUrl}/orders/${orderCode}`;
      return { orderCode, outcome, checkoutUrl, ...answer, requestId: request.id };
    },
  );

  app.post<CodeRoute>(
    "/api/partner/sandbox/orders/:code/advance",
    {
      ...unchecked,
      schema: about(
        "sandboxAdvance",
        "Walk a test order to its next milestone",
        "event",
        Type.Object({
          event: Type.Optional(Type.Union([...milestones.map((name) => Type.Literal(name)), Type.Null()])),
        }),
        SandboxAdvance,
      ),
    },
    async (request) => {
      const event = choice(request, "event", milestones);
      const walked = await sandboxAdvance(deps, requestOf(request), event);
      return { orderCode: request.params.code, ...walked, requestId: request.id };
    },
  );
}

const requestOf = (request: FastifyRequest<CodeRoute>): SandboxRequest => ({
  principal: principalOf(request),
  code: request.params.code,
  attempt: request.id,
});

/** One of the names, or null when it was left out. @throws ServiceError for anything else */
function choice<T extends string>(request: FastifyRequest, field: string, names: readonly T[]): T | null {
  const body = request.body ?? {};
  const value = typeof body === "object" ? (body as Record<string, unknown>)[field] : undefined;
  if (typeof body !== "object" || Array.isArray(body)) throw invalid("The body must be a JSON object.");
  if (value === undefined || (value === null && field === "event")) return null;
  const name = names.find((each) => each === value);
  if (name === undefined) throw invalid(`${field} must be ${names.slice(0, -1).join(", ")} or ${names.at(-1)}.`);
  return name;
}
