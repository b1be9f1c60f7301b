import type { FastifyInstance, FastifyRequest } from "fastify";
import { askForLive, liveRequestOf } from "../../../firms/live-requests/live-requests.ts";
import { changeBranding, changeServicePause, chooseEnvironment } from "../../../firms/members/members.ts";
import { readBranding, servicePauseOf } from "../../../firms/partners/partners.ts";
import { principalOf, sessionOf } from "../../../kernel/http/authentication.ts";
import { listOrigins } from "../../../signing/envelopes/envelopes.ts";
import { logoOf } from "../../ui/accent.ts";
import { acceptForms } from "../../ui/forms/form-body.ts";
import { viewerPolicy } from "../../ui/page/policy.ts";
import { type PageCall, pageRoute } from "../../ui/page/route.ts";
import { done } from "../flash-messages.ts";
import { dashboardPage } from "../page-shell.ts";
import { type SettingsView, settingsBody } from "./body.ts";
import { logoForm, type SettingsDeps } from "./logo-forms.ts";
import { originForms } from "./origins.ts";

const path = "/dashboard/settings";

/** Adds the page of the firm's settings, and the switch between live and test. */
export function settingsPage(app: FastifyInstance, deps: SettingsDeps): void {
  logoForm(app, deps, (call, error) => settingsShown(deps, call.request, { error }));
  app.register(async (forms) => {
    acceptForms(forms);
    settingsForms(forms, deps);
  });
}

function settingsForms(forms: FastifyInstance, deps: SettingsDeps): void {
  const form = {
    method: "POST",
    refused: ({ request, form: typed }: PageCall, error: string) => settingsShown(deps, request, { error, typed }),
  } as const;

  pageRoute(forms, deps.frame, {
    url: path,
    handle: async ({ request }) => {
      const { logoUrl } = await readBranding(deps.members, principalOf(request));
      const logo = logoOf({ brandName: null, accentColor: null, logoUrl });
      const page = await settingsShown(deps, request);
      return logo ? { page, headers: { "Content-Security-Policy": viewerPolicy([logo.origin]) } } : page;
    },
  });

  pageRoute(forms, deps.frame, {
    ...form,
    url: `${path}/branding`,
    handle: async ({ form: { brandName = "", accentColor = "", logoUrl = "", contactEmail = "" }, request }) => {
      const { logoUrl: current } = await readBranding(deps.members, principalOf(request));
      const branding = {
        brandName,
        accentColor: accentColor.trim(),
        // An unchanged URL is not written again, because it may belong to an uploaded logo.
        logoUrl: logoUrl.trim() === current ? undefined : logoUrl.trim(),
        contactEmail: contactEmail.trim(),
      };
      await changeBranding(deps.members, principalOf(request), branding);
      return done(path, "branding-saved");
    },
  });

  originForms(forms, deps, form.refused);

  pageRoute(forms, deps.frame, {
    ...form,
    url: `${path}/pause`,
    handle: async ({ form: { minutes = "" }, request }) => {
      await changeServicePause(deps.members, principalOf(request), minutes);
      return done(path, "pause-saved");
    },
  });

  pageRoute(forms, deps.frame, {
    ...form,
    url: `${path}/live`,
    handle: async ({ request }) => {
      await askForLive(deps.members, principalOf(request));
      return done(path, "live-asked");
    },
  });

  pageRoute(forms, deps.frame, {
    ...form,
    url: "/dashboard/environment",
    handle: async ({ form: { environment = "", return_to: returnTo }, request }) => {
      await chooseEnvironment(deps.members, sessionOf(request), environment);
      return done(sectionOf(returnTo), "environment");
    },
  });
}

async function settingsShown(
  deps: SettingsDeps,
  request: FastifyRequest,
  problem: Pick<SettingsView, "error" | "typed"> = {},
): Promise<string> {
  const principal = principalOf(request);
  const branding = await readBranding(deps.members, principal);
  const origins = await listOrigins(deps.members.db, principal);
  const pause = await servicePauseOf(deps.members.db, principal.partnerId);
  const liveRequest = await liveRequestOf(deps.members, principal);
  const body = settingsBody({ principal, branding, origins, pause, liveRequest, ...problem });
  return dashboardPage(deps.frame, request, {
    title: "Firm and settings",
    section: "settings",
    body,
    scripts: ["brand.js"],
  });
}

/**
 * The path of the dashboard's section that contains `returnTo`. The exact page may not exist in the other environment
 * (live or test).
 */
const sectionOf = (returnTo = ""): string =>
  /^\/dashboard\/(?:orders|templates|rooms|passports|webhooks|analytics|team|keys|security|billing|statements|settings)(?=[/?]|$)/.exec(
    returnTo,
  )?.[0] ?? "/dashboard";
