import type { FastifyRequest } from "fastify";
import { type Callers, principalOf } from "../../kernel/http/authentication.ts";
import type { RateLimits } from "../../kernel/http/rate-limits.ts";
import type { UploadPlaces } from "../../kernel/http/uploads/upload-places.ts";
import { maySeeBilling, mayUseLive, type Principal } from "../../kernel/identity/identity.ts";
import type { RetentionPlan } from "../../kernel/retention/retention.ts";
import { accountNav } from "../ui/account-nav.ts";
import type { AssetName, Assets } from "../ui/assets/assets.ts";
import { environmentSwitch } from "../ui/environment-switch.ts";
import { icon } from "../ui/icons.ts";
import { layout } from "../ui/layout.ts";
import type { Previewed } from "../ui/previewed.ts";
import { type Html, html } from "../ui/render.ts";
import { flashOf } from "./flash-messages.ts";
import { failingBanner } from "./webhooks/failing-banner.ts";

/** Renders each signer's signing page as a preview. `pages/signing/` implements this function. */
type PreviewPages = (previewed: Previewed) => string[];

/** The dependencies that the dashboard's pages share. */
export type DashboardFrame = {
  callers: Callers;
  limits: RateLimits;
  assets: Assets;
  retention: RetentionPlan;
  uploadPlaces: UploadPlaces;
  baseUrl: string;
  previewPages: PreviewPages;
};

export type DashboardPage = {
  title: string;
  section: Section;
  body: Html;
  /** True if the page uses the full width, as lists do. */
  wide?: boolean;
  scripts?: readonly Extract<AssetName, `${string}.js`>[];
};

/** Renders a dashboard page with its header and navigation, and with the message about the last action. */
export function dashboardPage(
  { assets }: { assets: Assets },
  request: FastifyRequest,
  { title, section, body, wide = false, scripts = [] }: DashboardPage,
): string {
  const principal = principalOf(request);
  return layout(assets, {
    title,
    headerNav: accountNav(principal.member?.email ?? "", principal.member?.userId),
    side: sideNav(principal, section, request.url),
    body: html`${flashOf(request)}${failingBanner(request)}${body}`,
    scripts,
    wide,
  });
}

const sections = {
  start: { path: "/dashboard", label: "Start", shape: "home" },
  orders: { path: "/dashboard/orders", label: "Orders", shape: "orders" },
  templates: { path: "/dashboard/templates", label: "Templates", shape: "book" },
  rooms: { path: "/dashboard/rooms", label: "Rooms", shape: "rooms" },
  passports: { path: "/dashboard/passports", label: "Sealed PDFs", shape: "evidence" },
  webhooks: { path: "/dashboard/webhooks", label: "Webhooks", shape: "webhooks" },
  analytics: { path: "/dashboard/analytics", label: "Analytics", shape: "analytics" },
  prices: { path: "/dashboard/prices", label: "Prices", shape: "money" },
  billing: { path: "/dashboard/billing", label: "Billing", shape: "money" },
  statements: { path: "/dashboard/statements", label: "Statements", shape: "book" },
  team: { path: "/dashboard/team", label: "Team", shape: "people" },
  keys: { path: "/dashboard/keys", label: "API keys", shape: "key" },
  security: { path: "/dashboard/security", label: "Sign-in and security", shape: "lock" },
  settings: { path: "/dashboard/settings", label: "Firm and settings", shape: "settings" },
} as const;

type Section = keyof typeof sections;

const aboutBilling: ReadonlySet<string> = new Set(["billing", "statements"] satisfies Section[]);

/** The sections of the dashboard, and the live/test switch. */
const sideNav = (principal: Principal, current: Section, url: string): Html =>
  html`<aside class="side" aria-label="Your firm">
<p class="side-firm">${principal.firmName}</p>
${environmentSwitch({
  environment: principal.environment,
  hasLive: mayUseLive(principal),
  action: "/dashboard/environment",
  url,
  note: noteOf(principal),
})}
<nav class="side-nav" aria-label="Dashboard"><ul>${Object.entries(sections)
    .filter(([section]) => maySeeBilling(principal) || !aboutBilling.has(section))
    .map(
      ([section, { path, label, shape }]) =>
        html`<li><a href="${path}"${section === current && html` aria-current="page"`}>${icon(shape)}${label}</a></li>`,
    )}</ul></nav>
</aside>`;

/** The meaning of the environment, and the reason why live can't be chosen. */
function noteOf(principal: Principal): string {
  if (principal.environment === "live") return "Orders here are real.";
  const closed = principal.liveEnabled
    ? " Live is closed to you: an owner gives live access under Team."
    : " Live is closed: an owner asks for it under Firm and settings.";
  return `Nothing here is real: no money moves, and nothing is shipped or mailed. Webhooks are sent.${mayUseLive(principal) ? "" : closed}`;
}
