import type { FastifyInstance } from "fastify";
import type { DraftDeps } from "../../closing/drafts/drafts.ts";
import type { ConfirmationDeps, InvitationDeps, OwnKeyDeps } from "../../firms/members/members.ts";
import type { ReadLaunchpad } from "../../firms/partners/partners.ts";
import { linkedPrincipalOf, readSession, requireSession } from "../../kernel/http/authentication.ts";
import type { TestClockDeps } from "../../kernel/test-clock/test-clock.ts";
import type { AnalyticsReader } from "../../orders/analytics/analytics.ts";
import type { PreviewSigning } from "../../signing/envelopes/envelopes.ts";
import { confirming } from "../ui/confirmation/confirming.ts";
import { acceptForms } from "../ui/forms/form-body.ts";
import { analyticsPage } from "./analytics/page.ts";
import { billingPages } from "./billing/pages.ts";
import { closingPages } from "./closings/pages.ts";
import { invitationPage, linkPage } from "./joining.ts";
import { keyPages } from "./keys/pages.ts";
import { type OrderFormDeps, type OrderPageDeps, orderDetailPage } from "./orders/detail-page.ts";
import { orderListPage } from "./orders/list/page.ts";
import { orderNewPage } from "./orders/new/page.ts";
import type { DashboardFrame } from "./page-shell.ts";
import { type PassportPagesDeps, passportPages } from "./passports/pages.ts";
import { placesPreview } from "./places-preview.ts";
import { pricesPage } from "./prices.ts";
import { reauthenticate } from "./reauthenticate.ts";
import type { RoomsDeps } from "./rooms/changes.ts";
import { roomsPages } from "./rooms/pages.ts";
import { securityPages } from "./security.ts";
import { settingsPage } from "./settings/page.ts";
import { startPage } from "./start-page.ts";
import { statementPages } from "./statements/pages.ts";
import { teamPages } from "./team/pages.ts";
import type { TemplatePagesDeps } from "./templates/own-template.ts";
import { templatePages } from "./templates/pages.ts";
import { noteFailing } from "./webhooks/failing-banner.ts";
import { webhookPages } from "./webhooks/pages.ts";
import type { WebhookPagesDeps } from "./webhooks/show-webhook.ts";

/** The features with which members place and process orders, grouped by the pages that use them. */
type DeskDeps = {
  page: Omit<OrderPageDeps, "frame">;
  forms: Omit<OrderFormDeps, "members" | "deliveries">;
  templates: Omit<TemplatePagesDeps, "frame">;
  preview: PreviewSigning;
};

/** The features that members see and use, grouped by topic. */
export type DashboardDeps = {
  frame: DashboardFrame;
  members: OwnKeyDeps & InvitationDeps & ConfirmationDeps;
  desk: DeskDeps;
  passports: PassportPagesDeps["passports"];
  rooms: Pick<RoomsDeps, "closings" | "deliveries"> & { drafts: DraftDeps };
  webhooks: WebhookPagesDeps["webhooks"];
  reports: { readAnalytics: AnalyticsReader; readLaunchpad: ReadLaunchpad };
  testClock: TestClockDeps;
};

const confirmArea = {
  path: "/dashboard",
  back: { path: "/dashboard/settings", label: "Back to the settings" },
  onlyPasskey: "Your firm asks for a passkey before this change in live",
} as const;

/**
 * Adds the dashboard, where members of a firm use the same feature modules as the API. Every request requires a session
 * and is rate-limited by session. Every write must come from one of our own pages.
 */
export function dashboard(app: FastifyInstance, deps: DashboardDeps): void {
  const { frame, members, desk, testClock } = deps;
  const { readAnalytics, readLaunchpad } = deps.reports;
  const { callers, limits, assets } = frame;
  const { orders, titleOf } = desk.page;
  const { templates, fills } = desk.templates;
  const { checkout, sandbox, billing } = desk.forms;
  const { db } = orders;
  const inFrame = { ...members, limits, assets };
  app.register(async (scope) => {
    for (const hook of [readSession(callers), limits.limit("partner-portal"), requireSession(callers)])
      scope.addHook("onRequest", hook);
    const registerWaysBack = waysBack(scope);

    scope.register(async (unlinked) => {
      acceptForms(unlinked);
      linkPage(unlinked, { ...inFrame, resolveKey: callers.resolveKey });
      invitationPage(unlinked, inFrame);
    });
    scope.register(async (linked) => {
      linked.addHook("onRequest", async (request) => {
        request.principal = linkedPrincipalOf(request);
      });
      noteFailing(linked, { db });
      confirming(linked, { confirmation: members, limits, assets }, confirmArea, reauthenticate(callers));
      analyticsPage(linked, { readAnalytics, limits, assets });
      orderListPage(linked, { db, clock: orders.clock, limits, assets, titleOf });
      orderNewPage(linked, { frame, orders, titleOf, fills });
      placesPreview(linked, { frame, orders, preview: desk.preview });
      closingPages(linked, { frame, orders, templates, drafts: deps.rooms.drafts });
      pricesPage(linked, { frame, pricing: orders.offer.pricing });
      passportPages(linked, { frame, passports: deps.passports });
      settingsPage(linked, { frame, members });
      linked.register(async (forms) => {
        acceptForms(forms);
        templatePages(linked, forms, { frame, ...desk.templates });
        startPage(forms, { ...testClock, limits, assets, titleOf, readLaunchpad, drafts: deps.rooms.drafts });
        teamPages(forms, inFrame);
        keyPages(forms, inFrame);
        billingPages(forms, { frame, members, checkout });
        securityPages(forms, inFrame);
        orderDetailPage(
          linked,
          forms,
          { frame, ...desk.page },
          { ...desk.forms, members, deliveries: deps.rooms.deliveries },
        );
        roomsPages(forms, {
          frame,
          ...deps.rooms,
          envelopes: desk.page.envelopes,
          corrections: desk.page.corrections,
          checkout: { ...checkout, rowMac: members.rowMac },
          sandbox,
        });
        statementPages(forms, { frame, billing });
        webhookPages(forms, { frame, webhooks: deps.webhooks });
      });
    });
    scope.register(async (after) => registerWaysBack(after));
  });
}

/**
 * Redirects a GET of a form's URL to the page that shows the form. After a form was rejected, the browser's address is
 * the form's URL, and a reload would otherwise fail. The target is the page whose URL is the longest prefix of the
 * form's URL.
 *
 * Call this before the scope's routes are added, because it sees only routes that are added afterwards.
 * @returns a function that adds the redirects; call it when all routes exist
 */
function waysBack(scope: FastifyInstance): (after: FastifyInstance) => void {
  const pages = new Set<string>();
  const forms = new Set<string>();
  scope.addHook("onRoute", ({ method, url }) => {
    for (const each of [method].flat())
      if (each === "GET" || each === "POST") (each === "GET" ? pages : forms).add(url);
  });
  return (after) => {
    // Copies the set of page URLs, so that later routes do not become targets of redirects.
    const found = new Set(pages);
    for (const form of [...forms].filter((url) => !found.has(url))) {
      const length = pageAbove(form, found)?.split("/").length;
      if (length === undefined) continue;
      after.get(form, { schema: { hide: true } }, async ({ url }, reply) =>
        reply.redirect((url.split("?", 1)[0] ?? "").split("/").slice(0, length).join("/"), 303),
      );
    }
  };
}

function pageAbove(form: string, pages: ReadonlySet<string>): string | undefined {
  for (let end = form.lastIndexOf("/"); end > 0; end = form.lastIndexOf("/", end - 1))
    if (pages.has(form.slice(0, end))) return form.slice(0, end);
  return undefined;
}
