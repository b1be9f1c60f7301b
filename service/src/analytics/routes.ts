import type { FastifyInstance } from "fastify";
import { Type } from "typebox";
import { principalOf } from "../http/authentication.ts";
import { errors, ref } from "../http/openapi.ts";
import { keyOrSession, type PortalDeps, portalHooks, portalRefusals } from "../http/portal.ts";
import { windowDays } from "./days.ts";
import { Analytics } from "./schemas.ts";
import type { AnalyticsReader } from "./snapshot.ts";

export type AnalyticsRouteDeps = PortalDeps & { readAnalytics: AnalyticsReader };

/** `GET /api/partner/analytics` (contract, Analytics). */
export function analyticsRoutes(app: FastifyInstance, deps: AnalyticsRouteDeps): void {
  app.addSchema(Analytics);
  app.get<{ Querystring: { days?: unknown } }>(
    "/api/partner/analytics",
    {
      onRequest: portalHooks(deps),
      // Described here, checked with a message that names the field in days.ts.
      validatorCompiler: () => () => true,
      schema: {
        operationId: "getAnalytics",
        summary: "Volume, funnel, turnaround, mix, evidence and revenue of the orders created in a window",
        tags: ["Analytics"],
        security: keyOrSession,
        querystring: Type.Object({
          days: Type.Optional(Type.Integer({ default: 90, description: "Clamped to 1-366." })),
        }),
        response: {
          200: ref(Analytics),
          ...errors({
            400: "days must be an integer from 1 to 366.",
            ...portalRefusals,
            503: "The figures took too long. Ask for fewer days.",
          }),
        },
      },
    },
    async (request, reply) => {
      const snapshot = await deps.readAnalytics(principalOf(request), windowDays(request.query.days));
      return reply.type("application/json; charset=utf-8").send(JSON.stringify({ ...snapshot, requestId: request.id }));
    },
  );
}
