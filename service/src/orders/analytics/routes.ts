import type { FastifyInstance } from "fastify";
import { Type } from "typebox";
import { principalOf } from "../../kernel/http/authentication.ts";
import { jsonRoute, type RouteDeps } from "../../kernel/http/route.ts";
import { windowDays } from "./days.ts";
import { Analytics } from "./schemas.ts";
import type { AnalyticsReader } from "./snapshot.ts";

export type AnalyticsRouteDeps = RouteDeps & { readAnalytics: AnalyticsReader };

/** `GET /api/partner/analytics` (contract, Analytics). */
export function analyticsRoutes(app: FastifyInstance, deps: AnalyticsRouteDeps): void {
  jsonRoute(app, deps, {
    method: "GET",
    scope: "read",
    url: "/api/partner/analytics",
    tag: "Analytics",
    operationId: "getAnalytics",
    summary: "Get analytics",
    description:
      "Volume, funnel, turnaround, service mix, evidence and spending on the orders that were created in the last `days` days, computed from their current records.",
    caller: "key-or-session",
    policy: "partner-portal",
    query: Type.Object({
      days: Type.Optional(
        Type.Unsafe<unknown>(
          Type.Integer({
            default: 90,
            description: "How many days back the window reaches. Values outside of 1 to 366 are clamped.",
            examples: [90],
          }),
        ),
      ),
    }),
    answer: Analytics,
    refusals: {
      400: "days must be an integer from 1 to 366.",
      503: "The figures took too long. Ask for fewer days.",
    },
    async handle(request) {
      const snapshot = await deps.readAnalytics(principalOf(request), windowDays(request.query.days));
      return { ...snapshot, requestId: request.id };
    },
  });
}
