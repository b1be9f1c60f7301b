import type { FastifyInstance, FastifyRequest } from "fastify";
import { principalOf, sessionOf } from "../../../http/authentication.ts";
import { changeBranding, chooseEnvironment, type MemberDeps } from "../../../members/members.ts";
import { readBranding } from "../../../partners/partners.ts";
import { logoOf } from "../../ui/accent.ts";
import type { Assets } from "../../ui/assets/assets.ts";
import { done } from "../../ui/flash-messages.ts";
import { acceptForms } from "../../ui/forms/form-body.ts";
import { viewerPolicy } from "../../ui/page/policy.ts";
import { type PageCall, pageRoute } from "../../ui/page/route.ts";
import { dashboardPage } from "../page-shell.ts";
import { type SettingsView, settingsBody } from "./body.ts";
import { type LogoDeps, logoForm } from "./logo-forms.ts";

export type SettingsDeps = MemberDeps & LogoDeps & { assets: Assets };

const path = "/dashboard/settings";

/** The firm's branding, and the switch between live and test. */
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

  pageRoute(forms, deps, {
    url: path,
    handle: async ({ request }) => {
      const { logoUrl } = await readBranding(deps, principalOf(request));
      const logo = logoOf({ brandName: null, accentColor: null, logoUrl });
      const page = await settingsShown(deps, request);
      return logo ? { page, headers: { "Content-Security-Policy": viewerPolicy([logo.origin]) } } : page;
    },
  });

  pageRoute(forms, deps, {
    ...form,
    url: `${path}/branding`,
    handle: async ({ form: { brandName = "", accentColor = "", logoUrl = "", contactEmail = "" }, request }) => {
      const { logoUrl: current } = await readBranding(deps, principalOf(request));
      const branding = {
        brandName,
        accentColor: accentColor.trim(),
        // One that was uploaded has an address of ours, which stays.
        logoUrl: logoUrl.trim() === current ? undefined : logoUrl.trim(),
        contactEmail: contactEmail.trim(),
      };
      await changeBranding(deps, principalOf(request), branding);
      return done(path, "branding-saved");
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

async function settingsShown(
  deps: SettingsDeps,
  request: FastifyRequest,
  problem: Pick<SettingsView, "error" | "typed"> = {},
): Promise<string> {
  const principal = principalOf(request);
  const body = settingsBody({ principal, branding: await readBranding(deps, principal), ...problem });
  return dashboardPage(deps, request, {
    title: "Firm and settings",
    section: "settings",
    body,
    scripts: ["brand.js"],
  });
}

/** The section that one was in: what it showed of the one environment is not there in the other. */
const sectionOf = (returnTo = ""): string =>
  /^\/dashboard\/(?:orders|rooms|passports|webhooks|analytics|team|keys|security|settings)(?=[/?]|$)/.exec(
    returnTo,
  )?.[0] ?? "/dashboard";
