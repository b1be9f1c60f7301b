import type { FastifyInstance } from "fastify";
import { Type } from "typebox";
import { principalOf, type ResolveKey, requireKeyOrSession } from "../http/authentication.ts";
import { errors, ref } from "../http/openapi.ts";
import type { RateLimits } from "../http/rate-limits.ts";
import { windowDays } from "./days.ts";
import { Analytics } from "./schemas.ts";
import type { AnalyticsReader } from "./snapshot.ts";

export type AnalyticsRouteDeps = { readAnalytics: AnalyticsReader; resolveKey: ResolveKey; limits: RateLimits };

/** `GET /api/partner/analytics` (contract, Analytics). */
export function analyticsRoutes(app: FastifyInstance, { readAnalytics, resolveKey, limits }: AnalyticsRouteDeps): void {
  app.addSchema(Analytics);
  app.get<{ Querystring: { days?: unknown } }>(
    "/api/partner/analytics",
    {
      onRequest: [limits.limit("partner-portal"), requireKeyOrSession(resolveKey)],
      // Described here, checked with a message that names the field in days.ts.
      validatorCompiler: () => () => true,
      schema: {
        operationId: "getAnalytics",
        summary: "Volume, funnel, turnaround, mix, evidence and revenue of the orders created in a window",
        tags: ["Analytics"],
        security: [{ partnerKey: [] }],
        querystring: Type.Object({
          days: Type.Optional(Type.Integer({ default: 90, description: "Clamped to 1-366." })),
        }),
        response: {
          200: ref(Analytics),
          ...errors({
            400: "days must be an integer from 1 to 366.",
            401: "Sign in to continue.",
            429: "Rate limit exceeded. Try again in 42 seconds.",
            503: "The figures took too long. Ask for fewer days.",
          }),
        },
      },
    },
    async (request, reply) => {
      const snapshot = await readAnalytics(principalOf(request), windowDays(request.query.days));
      return reply.type("application/json; charset=utf-8").send(JSON.stringify({ ...snapshot, requestId: request.id }));
    },
  );
}
