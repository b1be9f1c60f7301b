import { mayUseLive, type Principal } from "../../identity/identity.ts";
import { environmentSwitch } from "../ui/environment-switch.ts";
import { icon } from "../ui/icons.ts";
import { type Html, html } from "../ui/render.ts";

const sections = {
  start: { path: "/dashboard", label: "Start", shape: "home" },
  orders: { path: "/dashboard/orders", label: "Orders", shape: "orders" },
  rooms: { path: "/dashboard/rooms", label: "Rooms", shape: "rooms" },
  passports: { path: "/dashboard/passports", label: "Passports", shape: "evidence" },
  webhooks: { path: "/dashboard/webhooks", label: "Webhooks", shape: "webhooks" },
  analytics: { path: "/dashboard/analytics", label: "Analytics", shape: "analytics" },
  team: { path: "/dashboard/team", label: "Team", shape: "people" },
  keys: { path: "/dashboard/keys", label: "API keys", shape: "key" },
  security: { path: "/dashboard/security", label: "Sign-in and security", shape: "lock" },
  settings: { path: "/dashboard/settings", label: "Firm and settings", shape: "settings" },
} as const;

export type Section = keyof typeof sections;

/** The sections of the dashboard, and the switch between live and test. */
export const sideNav = (principal: Principal, current: Section, url: string): Html =>
  html`<aside class="side" aria-label="Your firm">
<p class="side-firm">${principal.firmName}</p>
${environmentSwitch({
  environment: principal.environment,
  hasLive: mayUseLive(principal),
  action: "/dashboard/environment",
  url,
  note: notes[principal.environment],
})}
<nav class="side-nav" aria-label="Dashboard"><ul>${Object.entries(sections).map(
    ([section, { path, label, shape }]) =>
      html`<li><a href="${path}"${section === current && html` aria-current="page"`}>${icon(shape)}${label}</a></li>`,
  )}</ul></nav>
</aside>`;

const notes = {
  test: "Nothing here is real: no money moves, and nothing is shipped or mailed. Webhooks are sent.",
  live: "Orders here are real.",
};
