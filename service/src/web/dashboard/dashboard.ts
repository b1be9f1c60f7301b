import type { FastifyInstance } from "fastify";
import { linkedPrincipalOf, readSession, requireSession } from "../../http/authentication.ts";
import type { RateLimits } from "../../http/rate-limits.ts";
import { acceptForms } from "../ui/forms/fields.ts";
import { type AnalyticsPageDeps, analyticsPage } from "./analytics/page.ts";
import { type LinkPageDeps, linkPage } from "./link-page.ts";
import { type OrderNewDeps, orderNewPage } from "./orders/new.ts";
import { type OrderPagesDeps, orderListPage, orderOnePage } from "./orders/pages.ts";
import { type PassportPagesDeps, passportPages } from "./passports/page.ts";
import type { RoomsDeps } from "./rooms/detail.ts";
import { roomsPages } from "./rooms/pages.ts";
import { type SettingsDeps, settingsPage } from "./settings/page.ts";
import { startPage } from "./start-page.ts";
import { waysBack } from "./ways-back.ts";
import { type WebhookPagesDeps, webhookPages } from "./webhooks/page.ts";

export type DashboardDeps = LinkPageDeps &
  SettingsDeps &
  AnalyticsPageDeps &
  OrderNewDeps &
  OrderPagesDeps &
  PassportPagesDeps &
  RoomsDeps &
  WebhookPagesDeps & { limits: RateLimits };

/**
 * What members of a firm see and do, by the same front doors as the API. Every request needs a session and counts against it;
 * every write must come from one of our own pages.
 */
export function dashboard(people: FastifyInstance, deps: DashboardDeps): void {
  people.register(async (scope) => {
    const { limits } = deps;
    for (const hook of [readSession(deps), limits.limit("partner-portal"), requireSession(deps)])
      scope.addHook("onRequest", hook);
    const registerWaysBack = waysBack(scope);

    scope.register(async (unlinked) => {
      acceptForms(unlinked);
      linkPage(unlinked, deps);
    });
    scope.register(async (linked) => {
      linked.addHook("onRequest", async (request) => {
        request.principal = linkedPrincipalOf(request);
      });
      startPage(linked, deps);
      analyticsPage(linked, deps);
      orderListPage(linked, deps);
      orderNewPage(linked, deps);
      passportPages(linked, deps);
      linked.register(async (forms) => {
        acceptForms(forms);
        settingsPage(forms, deps);
        orderOnePage(forms, deps);
        roomsPages(forms, deps);
        webhookPages(forms, deps);
      });
    });
    scope.register(async (after) => registerWaysBack(after));
  });
}
