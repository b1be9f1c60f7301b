import type { FastifyInstance } from "fastify";
import { type AnalyticsReader, windowDays } from "../../../analytics/analytics.ts";
import { principalOf } from "../../../http/authentication.ts";
import type { RateLimits } from "../../../http/rate-limits.ts";
import type { Assets } from "../../ui/assets/assets.ts";
import { pageHead } from "../../ui/components.ts";
import { pageRoute } from "../../ui/page/route.ts";
import { html } from "../../ui/render.ts";
import { dashboardPage } from "../page-shell.ts";
import { analyticsBody } from "./body.ts";

export type AnalyticsPageDeps = { readAnalytics: AnalyticsReader; assets: Assets; limits: RateLimits };

/** The figures of `GET /api/partner/analytics`, drawn. */
export function analyticsPage(app: FastifyInstance, deps: AnalyticsPageDeps): void {
  pageRoute(app, deps, {
    url: "/dashboard/analytics",
    handle: async ({ request }) => {
      const days = windowDays((request.query as { days?: unknown }).days);
      const snapshot = await deps.readAnalytics(principalOf(request), days);
      const lead = "Orders created in this period, by their current status.";
      const body = html`${pageHead("Analytics", lead)}${analyticsBody(snapshot, days)}`;
      return dashboardPage(deps, request, { title: "Analytics", section: "analytics", body });
    },
  });
}
