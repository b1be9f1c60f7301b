import type { FastifyInstance, FastifyRequest } from "fastify";
import { type TSchema, Type } from "typebox";
import { principalOf, type ResolveKey, requireKey } from "../http/authentication.ts";
import { errors, ref } from "../http/openapi.ts";
import type { RateLimits } from "../http/rate-limits.ts";
import { lockOrder, wasPaid } from "../orders/orders.ts";
import { invalid, ServiceError } from "../platform/errors.ts";
import { milestones, type SandboxOutcome, type WalkDeps, walk } from "./sandbox-walk.ts";
import { findFacts, type OrderFacts } from "./store.ts";

export type SandboxDeps = WalkDeps & { baseUrl: string; resolveKey: ResolveKey; limits: RateLimits };

type CodeRoute = { Params: { code: string } };

const outcomes = ["success", "decline", "cancel", "delayed"] as const satisfies SandboxOutcome[];
const payable: ReadonlySet<string> = new Set(["QuoteReady", "AwaitingPayment", "PaymentFailed"]);

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
export function sandboxRoutes(app: FastifyInstance, deps: SandboxDeps): void {
  app.addSchema(SandboxCheckout);
  app.addSchema(SandboxAdvance);
  const { db, clock, log } = deps;
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
      const { orderCode } = await testOrder(request);
      const answer = await db.transaction(async (tx) => {
        const order = await lockOrder(tx, orderCode);
        if (!order) throw notFound();
        if (wasPaid(order.status, order.statusBeforeHold)) return { status: order.status, firedEvents: [] };
        if (!payable.has(order.status))
          throw new ServiceError("not_payable", `An order in ${order.status} is not payable.`);
        const taken = await deps.sandboxPayment(tx, order, outcome, { at: clock(), log, attempt: request.id });
        return { status: taken.order?.status ?? order.status, firedEvents: taken.firedEvents };
      });
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
      const order = await testOrder(request);
      const walked = await walk(deps, order, event, request.id);
      return { orderCode: order.orderCode, ...walked, requestId: request.id };
    },
  );

  async function testOrder(request: FastifyRequest<CodeRoute>): Promise<OrderFacts> {
    const { code } = request.params;
    const { partnerId, environment } = principalOf(request);
    const order = /^[0-9a-f]{40}$/.test(code) ? await findFacts(db, code) : undefined;
    if (order?.partnerId !== partnerId) throw notFound();
    if (order.environment !== "test") throw new ServiceError("conflict", "The sandbox takes test orders only.");
    if (environment !== "test") throw notFound();
    return order;
  }
}

const notFound = (): ServiceError => new ServiceError("not_found", "Order not found.");

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
