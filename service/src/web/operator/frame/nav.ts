import { may, type Operator, type Permission } from "../../../operators/operators.ts";
import { type Html, html } from "../../ui/render.ts";

type Item = { path: string; label: string; permission: Permission | readonly Permission[] };

/** The sections of the console in their order; each is shown to whom it serves. */
const sections = {
  approvals: { path: "/operator", label: "Approvals", permission: ["orders.work", "partners.manage"] },
} as const satisfies Record<string, Item>;

export type Section = keyof typeof sections;

const shownTo = (operator: Operator, { permission }: Item): boolean =>
  (typeof permission === "string" ? [permission] : permission).some((each) => may(operator, each));

/** The sections that the operator's roles open. */
export const sideNav = (operator: Operator, current: Section): Html =>
  html`<aside class="side" aria-label="Console">
<nav class="side-nav" aria-label="Console"><ul>${Object.entries<Item>(sections)
    .filter(([, item]) => shownTo(operator, item))
    .map(
      ([section, { path, label }]) =>
        html`<li><a href="${path}"${section === current && html` aria-current="page"`}>${label}</a></li>`,
    )}</ul></nav>
</aside>`;
