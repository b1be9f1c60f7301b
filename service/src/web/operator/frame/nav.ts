import { may, type Operator, type Permission } from "../../../operators/operators.ts";
import { environmentSwitch } from "../../ui/environment-switch.ts";
import { type Html, html } from "../../ui/render.ts";

type Item = { path: string; label: string; permission: Permission | readonly Permission[] | "own session" };

/** The sections of the console in their order; each is shown to whom it serves. */
const sections = {
  approvals: { path: "/operator", label: "Approvals", permission: ["orders.work", "partners.manage"] },
  security: { path: "/operator/security", label: "Sign-in and security", permission: "own session" },
} as const satisfies Record<string, Item>;

export type Section = keyof typeof sections;

function shownTo(operator: Operator, { permission }: Item): boolean {
  if (permission === "own session") return operator.session !== null;
  return (typeof permission === "string" ? [permission] : permission).some((each) => may(operator, each));
}

/** The sections that the operator's roles open, and the switch between live and test. */
export const sideNav = (operator: Operator, current: Section, url: string): Html =>
  html`<aside class="side" aria-label="Console">
${environmentSwitch({ ...operator, action: "/operator/environment", url, note: notes[operator.environment] })}
<nav class="side-nav" aria-label="Console"><ul>${Object.entries<Item>(sections)
    .filter(([, item]) => shownTo(operator, item))
    .map(
      ([section, { path, label }]) =>
        html`<li><a href="${path}"${section === current && html` aria-current="page"`}>${label}</a></li>`,
    )}${operator.session?.principal && html`<li><a href="/dashboard">Your firm’s dashboard</a></li>`}</ul></nav>
</aside>`;

const notes = { live: "What is shown here is real.", test: "Only test orders are shown. Nothing about them is real." };
