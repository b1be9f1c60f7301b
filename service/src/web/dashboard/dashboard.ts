import type { FastifyInstance } from "fastify";
import { type Callers, linkedPrincipalOf, readSession, requireSession } from "../../http/authentication.ts";
import type { RateLimits } from "../../http/rate-limits.ts";
import { type ConfirmingDeps, confirming } from "../ui/confirmation/confirming.ts";
import { acceptForms } from "../ui/forms/form-body.ts";
import { type AnalyticsPageDeps, analyticsPage } from "./analytics/page.ts";
import { type InvitationPageDeps, invitationPage } from "./invitation-page.ts";
import { type KeyPagesDeps, keyPages } from "./keys/pages.ts";
import { type LinkPageDeps, linkPage } from "./link-page.ts";
import { type OrderDetailDeps, orderDetailPage } from "./orders/detail-page.ts";
import { type OrderListDeps, orderListPage } from "./orders/list/page.ts";
import { orderNewPage } from "./orders/new/page.ts";
import type { OrderNewDeps } from "./orders/new/place.ts";
import { type PassportPagesDeps, passportPages } from "./passports/pages.ts";
import { reauthenticate } from "./reauthenticate.ts";
import type { RoomsDeps } from "./rooms/changes.ts";
import { roomsPages } from "./rooms/pages.ts";
import { type SecurityDeps, securityPages } from "./security.ts";
import { type SettingsDeps, settingsPage } from "./settings/page.ts";
import { type StartPageDeps, startPage } from "./start-page.ts";
import { type TeamDeps, teamPages } from "./team/pages.ts";
import { waysBack } from "./ways-back.ts";
import { noteFailing } from "./webhooks/failing-banner.ts";
import { webhookPages } from "./webhooks/pages.ts";
import type { WebhookPagesDeps } from "./webhooks/show-webhook.ts";

export type DashboardDeps = Callers & { limits: RateLimits } & StartPageDeps &
  LinkPageDeps &
  InvitationPageDeps &
  KeyPagesDeps &
  TeamDeps &
  ConfirmingDeps &
  SettingsDeps &
  SecurityDeps &
  AnalyticsPageDeps &
  OrderListDeps &
  OrderNewDeps &
  OrderDetailDeps &
  PassportPagesDeps &
  RoomsDeps &
  WebhookPagesDeps;

const confirmArea = {
  path: "/dashboard",
  back: { path: "/dashboard/settings", label: "Back to the settings" },
  onlyPasskey: "Your firm asks for a passkey before anything live is changed",
} as const;

/**
 * What members of a firm see and do, by the same front doors as the API. Every request needs a session and counts against it;
 * every write must come from one of our own pages.
 */
export function dashboard(app: FastifyInstance, deps: DashboardDeps): void {
  app.register(async (scope) => {
    const { limits } = deps;
    for (const hook of [readSession(deps), limits.limit("partner-portal"), requireSession(deps)])
      scope.addHook("onRequest", hook);
    const registerWaysBack = waysBack(scope);

    scope.register(async (unlinked) => {
      acceptForms(unlinked);
      linkPage(unlinked, deps);
      invitationPage(unlinked, deps);
    });
    scope.register(async (linked) => {
      linked.addHook("onRequest", async (request) => {
        request.principal = linkedPrincipalOf(request);
      });
      noteFailing(linked, deps);
      confirming(linked, deps, confirmArea, reauthenticate(deps));
      analyticsPage(linked, deps);
      orderListPage(linked, deps);
      orderNewPage(linked, deps);
      passportPages(linked, deps);
      settingsPage(linked, deps);
      linked.register(async (forms) => {
        acceptForms(forms);
        startPage(forms, deps);
        teamPages(forms, deps);
        keyPages(forms, deps);
        securityPages(forms, deps);
        orderDetailPage(forms, deps);
        roomsPages(forms, deps);
        webhookPages(forms, deps);
      });
    });
    scope.register(async (after) => registerWaysBack(after));
  });
}
