import type { FastifyInstance, FastifyRequest } from "fastify";
import { principalOf, sessionOf } from "../../../http/authentication.ts";
import type { RateLimits } from "../../../http/rate-limits.ts";
import { mayUseLive } from "../../../identity/identity.ts";
import {
  changeBranding,
  changeLiveAccess,
  changeRole,
  chooseEnvironment,
  clearCookie,
  cookieNames,
  endSession,
  listMembers,
  listSessions,
  type MemberDeps,
  removeMember,
} from "../../../members/members.ts";
import { listKeys, readBranding } from "../../../partners/partners.ts";
import type { Assets } from "../../ui/assets.ts";
import { done } from "../../ui/flash-messages.ts";
import { type PageCall, pageRoute } from "../../ui/page-route.ts";
import { dashboardPage } from "../page-shell.ts";
import { type SettingsView, settingsBody } from "./body.ts";

export type SettingsDeps = MemberDeps & { assets: Assets; limits: RateLimits };

const path = "/dashboard/settings";

/** The firm's keys, members and branding, one's own sessions, and the switch between live and test. */
export function settingsPage(forms: FastifyInstance, deps: SettingsDeps): void {
  const form = {
    method: "POST",
    refused: ({ request, form: typed }: PageCall, error: string) => show(request, { error, typed }),
  } as const;

  pageRoute(forms, deps, { url: path, handle: ({ request }) => show(request) });

  pageRoute(forms, deps, {
    ...form,
    url: `${path}/branding`,
    handle: async ({ form: { brandName = "", accentColor = "", logoUrl = "", contactEmail = "" }, request }) => {
      const branding = {
        brandName,
        accentColor: accentColor.trim(),
        logoUrl: logoUrl.trim(),
        contactEmail: contactEmail.trim(),
      };
      await changeBranding(deps, principalOf(request), branding);
      return done(path, "branding-saved");
    },
  });

  memberForms(forms, deps, form);
  sessionForms(forms, deps, form);

  async function show(request: FastifyRequest, problem: Pick<SettingsView, "error" | "typed"> = {}): Promise<string> {
    const principal = principalOf(request);
    const session = sessionOf(request);
    const [allKeys, members, branding, sessions] = await Promise.all([
      listKeys(deps, principal.partnerId),
      listMembers(deps, principal.partnerId),
      readBranding(deps, principal),
      listSessions(deps, session),
    ]);
    // A live key is live data: its last digits, and when it was last used.
    const keys = mayUseLive(principal) ? allKeys : allKeys.filter(({ environment }) => environment === "test");
    const body = settingsBody({ principal, session, keys, members, branding, sessions, ...problem });
    return dashboardPage(deps, request, { title: "Firm and settings", section: "settings", body });
  }
}

type FormFrame = { method: "POST"; refused: (call: PageCall, error: string) => Promise<string> };

function memberForms(forms: FastifyInstance, deps: SettingsDeps, form: FormFrame): void {
  pageRoute(forms, deps, {
    ...form,
    url: `${path}/members/:userId/role`,
    handle: async ({ params, form: { role = "" }, request }) => {
      await changeRole(deps, principalOf(request), params.userId, role);
      return done(path, "role-changed");
    },
  });

  pageRoute(forms, deps, {
    ...form,
    url: `${path}/members/:userId/live`,
    handle: async ({ params, form: { live = "" }, request }) => {
      await changeLiveAccess(deps, principalOf(request), params.userId, live);
      return done(path, "live-access-changed");
    },
  });

  pageRoute(forms, deps, {
    ...form,
    url: `${path}/members/:userId/remove`,
    handle: async ({ params, request }) => {
      await removeMember(deps, principalOf(request), params.userId);
      return params.userId === sessionOf(request).userId
        ? done("/dashboard/link", "firm-left")
        : done(path, "member-removed");
    },
  });
}

function sessionForms(forms: FastifyInstance, deps: SettingsDeps, form: FormFrame): void {
  pageRoute(forms, deps, {
    ...form,
    url: `${path}/sessions/:sessionId/end`,
    handle: async ({ params, request }) => {
      const session = sessionOf(request);
      await endSession(deps, session, params.sessionId);
      if (params.sessionId !== session.id) return done(path, "session-ended");
      return { redirect: "/sign-in", headers: { "Set-Cookie": clearCookie(cookieNames.session) } };
    },
  });

  pageRoute(forms, deps, {
    ...form,
    url: "/dashboard/environment",
    handle: async ({ form: { environment = "", return_to: returnTo }, request }) => {
      await chooseEnvironment(deps, sessionOf(request), environment);
      return done(sectionOf(returnTo), "environment");
    },
  });
}

/** The section that one was in: what it showed of the one environment is not there in the other. */
const sectionOf = (returnTo = ""): string =>
  /^\/dashboard\/(?:orders|rooms|passports|webhooks|analytics|security|settings)(?=[/?]|$)/.exec(returnTo)?.[0] ??
  "/dashboard";
