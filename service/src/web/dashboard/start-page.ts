import type { FastifyInstance } from "fastify";
import { principalOf } from "../../http/authentication.ts";
import type { RateLimits } from "../../http/rate-limits.ts";
import { readLaunchpad } from "../../partners/partners.ts";
import type { Sql } from "../../platform/database/database.ts";
import type { Assets } from "../ui/assets.ts";
import { card, pageHead, progressSteps, type Step } from "../ui/components.ts";
import { time } from "../ui/format.ts";
import { pageRoute } from "../ui/page-route.ts";
import { type Html, html } from "../ui/render.ts";
import { dashboardPage } from "./page-shell.ts";

export type StartPageDeps = { db: Sql; assets: Assets; limits: RateLimits };

type Launchpad = Awaited<ReturnType<typeof readLaunchpad>>;

/** What its button says; an item without one is for the operator to do. */
const actions: Readonly<Record<string, string>> = {
  first_test_order: "Place a test order",
  sandbox_completed: "Open your test orders",
  first_room: "Open a room",
  first_passport: "Seal a document",
  webhook: "Add a webhook",
};

const notes: Readonly<Record<string, string>> = {
  first_test_order: "Any PDF works. Nothing about a test order is real.",
  sandbox_completed: "Use the sandbox buttons on the order’s page to pay for it and move it along.",
  first_room: "One page for everyone in a closing. Add your order to it.",
  first_passport: "Seal a room or a single document, then open its verification link.",
  webhook: "We notify your system of every step.",
  live: "Ask the operator of this service to turn on live orders and issue a live key.",
};

/** The first page: what is done and what is next on the way to live. */
export function startPage(app: FastifyInstance, deps: StartPageDeps): void {
  pageRoute(app, deps, {
    url: "/dashboard",
    handle: async ({ request }) => {
      const launchpad = await readLaunchpad(deps.db, principalOf(request));
      return dashboardPage(deps, request, { title: "Start", section: "start", body: body(launchpad) });
    },
  });
}

function body({ partner, completed, total, checklist, funnel }: Launchpad): Html {
  const next = checklist.find(({ done }) => !done);
  const steps = checklist.map(({ key, label, done }): Step => {
    if (done) return { label, state: "done" };
    return { label, state: key === next?.key ? "current" : "upcoming", note: key === next?.key ? "Next" : "Later" };
  });
  const action = next && actions[next.key];
  return html`${pageHead(`Welcome, ${partner.name}`, next ? `${completed} of ${total} steps to go live are done.` : "All set: you are live.")}
<div class="panels">
${
  next &&
  card(
    "next-step",
    `Next: ${next.label}`,
    html`<p>${notes[next.key] ?? next.action}</p>${action && html`<div class="form-actions"><a role="button" href="${next.deepLink}">${action}</a></div>`}`,
  )
}
${card("launchpad", "Go-live checklist", progressSteps(steps))}
${card("milestones", "Milestones", milestones(funnel))}
</div>`;
}

const milestoneWords: Readonly<Record<string, string>> = {
  joined: "Joined",
  first_test_order: "First test order",
  first_test_completed: "First test order completed",
  first_room: "First room",
  first_passport: "First passport",
  live_key: "Live key",
  first_live_order: "First live order",
  first_live_completed: "First live order completed",
};

const milestones = (funnel: Launchpad["funnel"]): Html =>
  html`<ol class="timeline">${funnel.map(
    ({ step, at }) =>
      html`<li><span>${milestoneWords[step] ?? step}</span>${at === null ? html`<span class="quiet-text">Not yet</span>` : time(new Date(at))}</li>`,
  )}</ol>`;
