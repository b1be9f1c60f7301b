import { may, type Operator, type Permission } from "../../../firms/operators/operators.ts";
import { environmentSwitch } from "../../ui/environment-switch.ts";
import { type IconName, icon } from "../../ui/icons.ts";
import { type Html, html } from "../../ui/render.ts";

type Item = {
  path: string;
  label: string;
  shape: IconName;
  permission: Permission | readonly Permission[] | "own session";
};

/** The sections of the console, in order. Operators see the ones that their roles allow. */
const sections = {
  today: {
    path: "/operator",
    label: "Today",
    shape: "waiting",
    permission: ["orders.read", "paper.work", "notary.work", "money.decide", "partners.manage"],
  },
  orders: { path: "/operator/orders", label: "Orders", shape: "orders", permission: "orders.read" },
  approvals: {
    path: "/operator/approvals",
    label: "Approvals",
    shape: "done",
    permission: ["orders.work", "partners.manage", "records.read"],
  },
  refunds: {
    path: "/operator/refunds",
    label: "Refunds",
    shape: "money",
    permission: ["refunds.request", "money.decide", "records.read"],
  },
  payments: {
    path: "/operator/payments",
    label: "Payments that fit no order",
    shape: "unchecked",
    permission: ["refunds.request", "money.decide", "records.read"],
  },
  notary: { path: "/operator/notary", label: "Notary’s desk", shape: "notarize", permission: "notary.work" },
  journal: { path: "/operator/notary/journal", label: "Journal", shape: "book", permission: "notary.work" },
  recordings: {
    path: "/operator/notary/recordings",
    label: "Recordings",
    shape: "play",
    permission: ["notary.work", "records.read"],
  },
  notaries: {
    path: "/operator/notaries",
    label: "Notaries",
    shape: "sign",
    permission: ["notaries.manage", "records.read"],
  },
  partners: { path: "/operator/partners", label: "Firms", shape: "firm", permission: "partners.read" },
  forms: {
    path: "/operator/forms",
    label: "Forms of the catalog",
    shape: "evidence",
    permission: ["catalog.manage", "records.read"],
  },
  people: { path: "/operator/people", label: "People", shape: "people", permission: ["people.manage", "records.read"] },
  health: { path: "/operator/health", label: "Health", shape: "health", permission: "health.read" },
  security: { path: "/operator/security", label: "Sign-in and security", shape: "lock", permission: "own session" },
} as const satisfies Record<string, Item>;

export type Section = keyof typeof sections;

function shownTo(operator: Operator, { permission }: Item): boolean {
  if (permission === "own session") return operator.session !== null;
  // An operator who signed in by a link from the command line has all roles. But that link doesn't name a person, so
  // this operator can't be a notary.
  if (permission === "notary.work" && operator.session === null) return false;
  return (typeof permission === "string" ? [permission] : permission).some((each) => may(operator, each));
}

const searchForm = html`<form class="console-search" role="search" method="get" action="/operator/orders/search">
<label for="console-search">Find an order</label><input id="console-search" name="q" type="search" maxlength="254" autocomplete="off" aria-describedby="console-search-hint">
<p class="hint" id="console-search-hint">Code, name, reference, email, tracking number, hash…</p>
<button type="submit" class="quiet-button">Search</button></form>`;

/** The sections that the operator's roles allow, the switch between live and test, and the search. */
export const sideNav = (operator: Operator, current: Section, url: string): Html =>
  html`<aside class="side" aria-label="Console">
${environmentSwitch({ ...operator, action: "/operator/environment", url, note: notes[operator.environment] })}
${may(operator, "orders.read") && searchForm}
<nav class="side-nav" aria-label="Console"><ul>${Object.entries<Item>(sections)
    .filter(([, item]) => shownTo(operator, item))
    .map(
      ([section, { path, label, shape }]) =>
        html`<li><a href="${path}"${section === current && html` aria-current="page"`}>${icon(shape)}${label}</a></li>`,
    )}${operator.session?.principal && html`<li><a href="/dashboard">${icon("home")}Your firm’s dashboard</a></li>`}</ul></nav>
</aside>`;

const notes = { live: "What is shown here is real.", test: "Only test orders are shown. Nothing about them is real." };
