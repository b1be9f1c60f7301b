import type { FastifyInstance } from "fastify";
import type { DraftDeps } from "../../closing/drafts/drafts.ts";
import { type ReadLaunchpad, readBranding } from "../../firms/partners/partners.ts";
import { principalOf } from "../../kernel/http/authentication.ts";
import { maySeeBilling, type Principal } from "../../kernel/identity/identity.ts";
import { isAltered } from "../../kernel/platform/database/state-mac.ts";
import { showTestClock } from "../../kernel/test-clock/test-clock.ts";
import { orderStatuses, type TitleOf } from "../../orders/order/order.ts";
import { activeMethod, overdueOf, waitingOrders } from "../../orders/payments/payments.ts";
import { countFirmOrders, countFirmOrdersOutside, type FirmOrder, firmOrders } from "../../orders/search/search.ts";
import type { Assets } from "../ui/assets/assets.ts";
import { card, notice, pageHead, progressSteps, type Step, statusBadge } from "../ui/components.ts";
import { ifUtc, plainTime, shortTime } from "../ui/format.ts";
import { statusWords } from "../ui/orders/status-words.ts";
import { type PageCall, pageRoute } from "../ui/page/route.ts";
import { type Html, html } from "../ui/render.ts";
import { waitingText } from "./billing/waiting-part.ts";
import { draftsCard, latestDrafts } from "./closings/draft.ts";
import { countIn, shownCount } from "./orders/list/body.ts";
import { type Group, groups, overdueGroup } from "./orders/list/groups.ts";
import { queryOf, wantedOf } from "./orders/list/query.ts";
import { orderName } from "./orders/words.ts";
import { dashboardPage } from "./page-shell.ts";
import { submissionFor } from "./submit-once.ts";
import { type TestClockPageDeps, testClockCard, testClockForms } from "./test-clock.ts";
import { firmZone, zoneCard, zoneForm } from "./time-zone.ts";

export type StartPageDeps = TestClockPageDeps & {
  assets: Assets;
  titleOf: TitleOf;
  readLaunchpad: ReadLaunchpad;
  drafts: DraftDeps;
};

type Launchpad = Awaited<ReturnType<ReadLaunchpad>>;

/** The labels of the buttons that lead to the checklist's steps. */
const actions: Readonly<Record<string, string>> = {
  first_test_order: "Place a test order",
  sandbox_completed: "Open your test orders",
  first_room: "Open a room",
  first_passport: "Seal a document",
  webhook: "Add a webhook",
  live: "Ask for live",
};

const notes: Readonly<Record<string, string>> = {
  first_test_order: "Any PDF works. Nothing about a test order is real.",
  sandbox_completed: "Use the sandbox buttons on the order’s page to pay for it and move it along.",
  first_room: "One page for everyone in a closing. Add your order to it.",
  first_passport: "Seal a room or a single document, then open its verification link.",
  webhook: "Only for a system of yours that should hear of every step. People need none.",
  live: "An owner asks for live under Firm and settings. The operator of this service decides on it.",
};

/** Labels of checklist steps that differ from the labels in the API. */
const labels: Readonly<Record<string, string>> = {
  first_passport: "Seal a document or a room",
  webhook: "Subscribe to events, for your own system",
  live: "Place real orders (go live)",
};

const maxShown = { attention: 5, changed: 8 };

/**
 * The start page: the orders that need attention or changed last, the go-live checklist and, in test, the test clock.
 */
export function startPage(forms: FastifyInstance, deps: StartPageDeps): void {
  pageRoute(forms, deps, { url: "/dashboard", handle: (call) => show(call) });
  testClockForms(forms, deps, (call, error) => show(call, { clock: error }));
  zoneForm(forms, deps, (call, error) => show(call, { zone: error }));

  async function show({ form, request }: PageCall, refused: { clock?: string; zone?: string } = {}): Promise<string> {
    const principal = principalOf(request);
    const isTest = principal.environment === "test";
    const [launchpad, clock, orders, drafts, zone, { contactEmail }] = await Promise.all([
      deps.readLaunchpad(principal),
      isTest ? showTestClock(deps, principal) : null,
      readOverview(principal),
      latestDrafts(deps.drafts, request),
      firmZone(deps.db, principal),
      readBranding(deps, principal),
    ]);
    const shown = body(
      { ...launchpad, isOver: !isTest || launchpad.hoursToFirstLiveOrder !== null },
      html`${contactEmail === null && contactNotice(principal)}${zoneCard(zone, principal, refused.zone)}${drafts.length > 0 && draftsCard(drafts)}${orders.changed.length > 0 && overview(orders)}`,
      clock && testClockCard(clock, submissionFor(request, form).submission, refused.clock ?? null),
    );
    return dashboardPage(deps, request, { title: "Start", section: "start", body: shown });
  }

  /**
   * A sentence about the orders that wait for the firm's payment, or that a record about them was altered; null without
   * any.
   */
  async function readWaiting(principal: Principal): Promise<string | null> {
    try {
      const waiting = await waitingOrders(deps.db, principal);
      return waiting.count === 0 ? null : waitingText(waiting, (await activeMethod(deps.db, principal)) !== undefined);
    } catch (error) {
      if (!isAltered(error)) throw error;
      return "A record of your firm’s payments was altered in the database. The operator has to restore it first.";
    }
  }

  async function readOverview(principal: Principal): Promise<OverviewView> {
    const latest = wantedOf({ ...queryOf({}), sort: "changed" });
    const { payments, orderIds } = await overdueOf(deps, principal);
    const { statuses } = groups[overdueGroup];
    const failing = { ...latest, statuses, alsoIds: orderIds };
    const seesBilling = maySeeBilling(principal);
    const [waiting, overdueOrders, counts, attention, changed] = await Promise.all([
      seesBilling ? readWaiting(principal) : null,
      countFirmOrdersOutside(deps.db, principal, orderIds, statuses),
      countFirmOrders(deps.db, principal, orderStatuses),
      firmOrders(deps.db, principal, failing, maxShown.attention),
      firmOrders(deps.db, principal, latest, maxShown.changed),
    ]);
    return {
      overdue: seesBilling ? payments : 0,
      waiting,
      overdueOrders,
      counts,
      attention: attention.orders,
      changed: changed.orders,
      titleOf: deps.titleOf,
    };
  }
}

function body(
  { partner, checklist, funnel, isOver }: Launchpad & { isOver: boolean },
  orders: Html,
  clock: Html | null,
): Html {
  // The checklist is only for test, and ends with the firm's first live order. In live and after that order, the page
  // proposes no next step.
  const open = isOver ? [] : checklist.filter(({ done }) => !done);
  // Another step is proposed before the webhook, because a firm without software of its own never needs one.
  const next = open.find(({ key }) => key !== "webhook") ?? open[0];
  const isLive = checklist.some(({ key, done }) => key === "live" && done);
  // People need no webhook, so it is not counted.
  const needed = checklist.filter(({ key }) => key !== "webhook");
  const count = needed.filter(({ done }) => done).length;
  const labelOf = ({ key, label }: Launchpad["checklist"][number]) => labels[key] ?? label;
  const steps = checklist.map((item): Step => {
    const [{ key, done }, label] = [item, labelOf(item)];
    if (done) return { label, state: "done" };
    if (key === next?.key) return { label, state: "current", note: "Next" };
    return { label, state: "upcoming", note: key === "webhook" ? "Optional" : "Later" };
  });
  const action = next && actions[next.key];
  const environmentWords = isLive
    ? "Your firm is live, and this is its test environment."
    : "Everything here is a test until your firm is live.";
  const lead = next
    ? `${environmentWords} Steps done on the way to real orders: ${count} of ${needed.length}.`
    : "Work that waits, work that needs somebody, and news.";
  const newClosing = html`<p class="room-links"><a class="button" href="/dashboard/closings/new">New closing</a></p>`;
  return html`${pageHead(`Welcome, ${partner.name}`, lead, newClosing)}
<div class="panels">
${orders}
${
  next &&
  card(
    "next-step",
    `Next: ${labelOf(next)}`,
    html`<p>${notes[next.key] ?? next.action}</p>${action && html`<div class="form-actions"><a class="button" href="${next.deepLink}">${action}</a></div>`}`,
  )
}
${next && card("launchpad", "Go-live checklist", progressSteps(steps))}
${clock}
<details class="card"><summary>Milestones</summary>${milestones(funnel)}</details>
</div>`;
}

/**
 * Warns that the firm has no contact email. Signers are told to ask the firm, and then find no email address for it.
 */
const contactNotice = ({ member }: Principal): Html =>
  notice(
    "attention",
    "Your firm has no contact email",
    html`Signing pages name no address for questions. Answers of clients and signers to our emails go to the firm’s first owner who can see the order. ${
      member?.role === "owner"
        ? html`<a href="/dashboard/settings#branding">Set the contact email</a>.`
        : "An owner of your firm sets it under Firm and settings."
    }`,
  );

const milestoneWords: Readonly<Record<string, string>> = {
  joined: "Joined",
  first_test_order: "First test order",
  first_test_completed: "First test order completed",
  first_room: "First room",
  first_passport: "First document or room sealed",
  live_key: "Live key",
  first_live_order: "First live order",
  first_live_completed: "First live order completed",
};

const milestones = (funnel: Launchpad["funnel"]): Html =>
  html`<ol class="timeline">${funnel.map(
    ({ step, at }) =>
      html`<li><span>${milestoneWords[step] ?? step}</span>${at === null ? html`<span class="quiet-text">Not yet</span>` : plainTime(new Date(at))}</li>`,
  )}</ol>`;

type OverviewView = {
  /**
   * How many of the firm's payments have had no answer for too long. 0 for a member without permission to see billing.
   */
  overdue: number;
  /**
   * A sentence with the number of orders that wait for the firm's payment, or that a record about them was altered.
   * Null if there are none, and for a member without permission to see billing.
   */
  waiting: string | null;
  /** How many orders need attention only because their payment has had no answer for too long. */
  overdueOrders: number;
  /** The number of orders per status, counted up to `maxCounted`. */
  counts: ReadonlyMap<string, number>;
  /** `attention` has the latest orders that need attention, and `changed` the orders that changed last. */
  attention: readonly FirmOrder[];
  changed: readonly FirmOrder[];
  titleOf: TitleOf;
};

const path = "/dashboard/orders";
const tiles = ["attention", "payment", "signing", "working"] as const satisfies readonly Group[];

/** The number of open orders by group, the orders that need attention, and the orders that changed last. */
const overview = ({
  overdue,
  waiting,
  overdueOrders,
  counts,
  attention,
  changed,
  titleOf,
}: OverviewView): Html => html`${overdue > 0 && overdueNotice(overdue)}
${waiting !== null && notice("attention", waiting, html`<a href="/dashboard/billing#waiting">Look under Billing</a>. Nothing is charged until somebody of your firm asks for it.`)}
${tileList({ counts, overdueOrders })}
${attention.length > 0 && card("attention", groups.attention.label, orderLines(attention, titleOf))}
${card("changed", "What is new", html`${orderLines(changed, titleOf)}<p><a href="${path}">All orders</a></p>`)}`;

const overdueNotice = (overdue: number): Html =>
  notice(
    "attention",
    overdue === 1 ? "A payment of your firm has had no answer" : `${overdue} payments of your firm have had no answer`,
    html`Orders wait for the bank or the payment processor. <a href="/dashboard/billing#charges">Look under Billing</a>: there an owner can end ${overdue === 1 ? "it" : "them"}.`,
  );

const tileList = ({ counts, overdueOrders }: Pick<OverviewView, "counts" | "overdueOrders">): Html =>
  html`<ul class="count-tiles">${tiles.map((name) => {
    const { label, statuses } = groups[name];
    const count = countIn(counts, statuses) + (name === overdueGroup ? overdueOrders : 0);
    return html`<li class="${count > 0 && name === "attention" ? "attention" : ""}"><a href="${path}?status=${name}"><strong>${shownCount(count)}</strong> ${label}</a></li>`;
  })}</ul>`;

const orderLines = (orders: readonly FirmOrder[], titleOf: TitleOf): Html =>
  html`<ul class="order-lines">${orders.map((order) => {
    const { tone, label } = statusWords(order.status);
    const reference = order.externalReference !== null && ` · ${order.externalReference}`;
    const title = html`<a class="row-title" href="${path}/${order.code}">${orderName({ order, title: titleOf(order) })}</a>`;
    const client = html`<span class="second-line breakable">${order.customerName ?? order.customerEmail}${reference}</span>`;
    const changed = html`<span class="second-line">${shortTime(order.updatedAt)}${ifUtc}</span>`;
    return html`<li><span>${title}<br>${client}</span><span class="line-end">${statusBadge(tone, label)}${changed}</span></li>`;
  })}</ul>`;
