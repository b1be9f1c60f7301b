import type { FastifyInstance } from "fastify";
import { type AnalyticsReader, windowDays } from "../../../analytics/analytics.ts";
import { principalOf } from "../../../http/authentication.ts";
import type { Assets } from "../../ui/assets.ts";
import { html } from "../../ui/render.ts";
import { pageHead, sendPage } from "../page-shell.ts";
import { analyticsBody } from "./body.ts";

export type AnalyticsPageDeps = { readAnalytics: AnalyticsReader; assets: Assets };

/** The figures of `GET /api/partner/analytics`, drawn. */
export function analyticsPage(app: FastifyInstance, deps: AnalyticsPageDeps): void {
  app.get<{ Querystring: { days?: unknown } }>(
    "/dashboard/analytics",
    { schema: { hide: true } },
    async (request, reply) => {
      const days = windowDays(request.query.days);
      const snapshot = await deps.readAnalytics(principalOf(request), days);
      const lead = "The orders created in the window, as they are now.";
      const body = html`${pageHead("Analytics", lead)}${analyticsBody(snapshot, days)}`;
      return sendPage(deps, request, reply, { title: "Analytics", section: "analytics", body });
    },
  );
}
