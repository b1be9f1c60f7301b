import { mayUseLive, type Principal } from "../../identity/identity.ts";
import { type Html, html } from "../ui/render.ts";

const sections = {
  start: { path: "/dashboard", label: "Start" },
  orders: { path: "/dashboard/orders", label: "Orders" },
  rooms: { path: "/dashboard/rooms", label: "Rooms" },
  passports: { path: "/dashboard/passports", label: "Passports" },
  webhooks: { path: "/dashboard/webhooks", label: "Webhooks" },
  analytics: { path: "/dashboard/analytics", label: "Analytics" },
  security: { path: "/dashboard/security", label: "Sign-in and security" },
  settings: { path: "/dashboard/settings", label: "Firm and settings" },
} as const;

export type Section = keyof typeof sections;

/** The sections of the dashboard, and the switch between live and test. */
export const sideNav = (principal: Principal, current: Section, url: string): Html =>
  html`<aside class="side" aria-label="Your firm">
<p class="side-firm">${principal.firmName}</p>
${environmentSwitch(principal, url)}
<nav class="side-nav" aria-label="Dashboard"><ul>${Object.entries(sections).map(
    ([section, { path, label }]) =>
      html`<li><a href="${path}"${section === current && html` aria-current="page"`}>${label}</a></li>`,
  )}</ul></nav>
</aside>`;

/** Both environments, the present one pressed; live only for whoever may use it. */
function environmentSwitch(principal: Principal, url: string): Html {
  const { environment } = principal;
  const choice = (value: "live" | "test", label: string) =>
    html`<button type="submit" name="environment" value="${value}" aria-pressed="${String(value === environment)}"${value === "live" && !mayUseLive(principal) && html` disabled`}>${label}</button>`;
  return html`<form class="environment ${environment}" method="post" action="/dashboard/environment" aria-label="Environment">
<input type="hidden" name="return_to" value="${url}">
${choice("test", "Test")}${choice("live", "Live")}
<p class="environment-note">${environment === "test" ? "Nothing here is real: no money moves, and nothing is shipped or mailed. Webhooks are sent." : "Orders here are real."}</p>
</form>`;
}
