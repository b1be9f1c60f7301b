import type { Principal } from "../../identity/identity.ts";
import type { Sql } from "../../platform/database/database.ts";
import type { Launchpad } from "./schemas.ts";
import { type Facts, selectFacts } from "./store.ts";

type Item = { key: string; label: string; action: string; deepLink: string; done: (facts: Facts) => boolean };

/** What leads a new partner to live; the last item is live itself. Links lead to where a member does it in the browser. */
const items: readonly Item[] = [
  {
    key: "first_test_order",
    label: "Place a test order",
    action: "Send a PDF to POST /api/partner/orders with your test key.",
    deepLink: "/dashboard/orders/new",
    done: ({ testOrderAt }) => testOrderAt !== null,
  },
  {
    key: "sandbox_completed",
    label: "Complete a test order",
    action: "Pay it and advance it with the sandbox routes.",
    deepLink: "/dashboard/orders",
    done: ({ testCompletedAt }) => testCompletedAt !== null,
  },
  {
    key: "first_room",
    label: "Open a closing room",
    action: "Create a room and attach an order to it.",
    deepLink: "/dashboard/rooms",
    done: ({ roomAt }) => roomAt !== null,
  },
  {
    key: "first_passport",
    label: "Seal a passport",
    action: "Seal a room or a single document, then open its verify link.",
    deepLink: "/dashboard/passports",
    done: ({ passportAt }) => passportAt !== null,
  },
  {
    key: "webhook",
    label: "Subscribe to events",
    action: "Create a webhook and keep its secret.",
    deepLink: "/dashboard/webhooks",
    done: ({ webhookAt }) => webhookAt !== null,
  },
  {
    key: "live",
    label: "Go live",
    action: "Ask the operator to enable live and to issue a live key.",
    deepLink: "/dashboard/settings",
    done: ({ liveEnabled, liveKeyAt }) => liveEnabled && liveKeyAt !== null,
  },
];

const steps: readonly [step: string, at: (facts: Facts) => Date | null][] = [
  ["joined", (facts) => facts.joinedAt],
  ["first_test_order", (facts) => facts.testOrderAt],
  ["first_test_completed", (facts) => facts.testCompletedAt],
  ["first_room", (facts) => facts.roomAt],
  ["first_passport", (facts) => facts.passportAt],
  ["live_key", (facts) => facts.liveKeyAt],
  ["first_live_order", (facts) => facts.liveOrderAt],
  ["first_live_completed", (facts) => facts.liveCompletedAt],
];

const hours = (from: Date, to: Date): number => Math.max(0, Math.round((to.getTime() - from.getTime()) / 36_000) / 100);

/** The launchpad as facts make it (decisions, Partner access); pure. */
export function launchpadOf(
  { partnerId, firmName, tier }: Pick<Principal, "partnerId" | "firmName" | "tier">,
  facts: Facts,
): Omit<Launchpad, "requestId"> {
  const checklist = items.map(({ done, key, label, action, deepLink }) => ({
    key,
    label,
    done: done(facts),
    action,
    deepLink,
  }));
  return {
    partner: { id: partnerId, name: firmName, tier },
    readyForLive: checklist.every(({ key, done }) => done || key === "live"),
    completed: checklist.filter(({ done }) => done).length,
    total: checklist.length,
    checklist,
    funnel: steps.map(([step, at]) => ({ step, reached: at(facts) !== null, at: at(facts)?.toISOString() ?? null })),
    hoursToFirstLiveOrder: facts.liveOrderAt && hours(facts.joinedAt, facts.liveOrderAt),
  };
}

/** The caller's launchpad by one read. It is the firm's: the same for its test and its live keys. */
export const readLaunchpad = async (db: Sql, principal: Principal) =>
  launchpadOf(principal, await selectFacts(db, principal.partnerId));
