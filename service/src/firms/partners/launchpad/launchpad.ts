import type { Environment, Principal } from "../../../kernel/identity/identity.ts";
import type { Sql } from "../../../kernel/platform/database/database.ts";
import { listed, nothing, quoted, type Statement, sql } from "../../../kernel/platform/database/sql.ts";
import type { Launchpad } from "./schemas.ts";

type Item = { key: string; label: string; action: string; deepLink: string; done: (facts: Facts) => boolean };

/**
 * The steps that lead a new partner to live access; the last step is live access itself. Each step links to the page
 * for it.
 */
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
    action: "Ask for live in the settings.",
    deepLink: "/dashboard/settings",
    done: ({ liveEnabled }) => liveEnabled,
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

/** Computes the launchpad from the facts (decisions, Partner access); pure. */
function launchpadOf(
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

export type ReadLaunchpad = (principal: Principal) => Promise<Omit<Launchpad, "requestId">>;

/**
 * Returns a function that reads a firm's launchpad with one query. The launchpad is the same for the firm's test and
 * live keys.
 */
export const openLaunchpad =
  (db: Sql, firstTimes: FirstTimes): ReadLaunchpad =>
  async (principal) =>
    launchpadOf(principal, await selectFacts(db, firstTimes, principal.partnerId));

/** The times of a partner's first actions; null for actions that are still to come. */
type Facts = {
  joinedAt: Date;
  liveEnabled: boolean;
  testOrderAt: Date | null;
  testCompletedAt: Date | null;
  roomAt: Date | null;
  passportAt: Date | null;
  webhookAt: Date | null;
  liveKeyAt: Date | null;
  liveOrderAt: Date | null;
  liveCompletedAt: Date | null;
};

/**
 * For each fact, an SQL expression about the firm `p`. Each expression is declared by the feature that owns the table
 * in it.
 */
export type FirstTimes = Readonly<Record<Exclude<keyof Facts, "joinedAt" | "liveEnabled" | "liveKeyAt">, Statement>>;

/**
 * SQL conditions for the rows of the firm `p` in each environment. The environment is a constant in the text of the
 * SQL, so a fact needs one index look-up, however many rows there are.
 */
export const ofFirmIn: Readonly<Record<Environment, Statement>> = {
  test: sql`partner_id = p.id AND environment = 'test'`,
  live: sql`partner_id = p.id AND environment = 'live'`,
};

/** SQL expression: when the firm `p` got its first row in a table, in one environment. */
export const firstIn = (table: Statement, environment: Environment, more = nothing): Statement =>
  sql`(SELECT min(created_at) FROM ${table} WHERE ${ofFirmIn[environment]}${more})`;

export const firstOfBoth = (table: Statement, more = nothing): Statement =>
  sql`least(${firstIn(table, "test", more)}, ${firstIn(table, "live", more)})`;

async function selectFacts(db: Sql, firstTimes: FirstTimes, partnerId: string): Promise<Facts> {
  const times = Object.entries(firstTimes).map(([name, at]) => sql`${at} AS ${quoted(name)}`);
  const [found] = await db.query<Facts>(sql`
    SELECT p.created_at AS "joinedAt", p.live_enabled AS "liveEnabled", ${firstIn(sql`partner_keys`, "live")} AS "liveKeyAt", ${listed(times)}
    FROM partners p WHERE p.id = ${partnerId}`);
  if (!found) throw new Error("a principal without its partner");
  return found;
}
