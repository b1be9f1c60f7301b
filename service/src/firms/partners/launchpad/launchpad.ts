import type { Environment, Principal } from "../../../kernel/identity/identity.ts";
import type { Sql } from "../../../kernel/platform/database/database.ts";
import { nothing, type Statement, sql } from "../../../kernel/platform/database/sql.ts";
import type { Launchpad } from "./schemas.ts";

type Item = { key: string; label: string; action: string; deepLink: string; done: (facts: Facts) => boolean };

/** The steps that lead a new partner to live; the last step is live itself. Each step links to the page for it. */
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

/**
 * Reads the caller's launchpad with one query. The launchpad belongs to the firm, so it is the same for test and live
 * keys.
 */
export const readLaunchpad = async (db: Sql, principal: Principal) =>
  launchpadOf(principal, await selectFacts(db, principal.partnerId));

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

// Because the environment is a constant in the query, each fact needs only one index look-up, however many rows there
// are.
const inEnvironment: Readonly<Record<Environment, Statement>> = {
  test: sql`partner_id = p.id AND environment = 'test'`,
  live: sql`partner_id = p.id AND environment = 'live'`,
};
const first = (table: Statement, environment: Environment, more = nothing) =>
  sql`(SELECT min(created_at) FROM ${table} WHERE ${inEnvironment[environment]}${more})`;
const firstOfBoth = (table: Statement, more = nothing) =>
  sql`least(${first(table, "test", more)}, ${first(table, "live", more)})`;
const firstCompleted = (environment: Environment) =>
  sql`(SELECT updated_at FROM orders WHERE ${inEnvironment[environment]} AND status = 'Completed'
    ORDER BY created_at, id LIMIT 1)`;
const firstClosing = sql`(SELECT c.created_at FROM rooms r JOIN closing_passports c ON c.room_id = r.id AND c.version = 1
    WHERE r.partner_id = p.id ORDER BY c.created_at LIMIT 1)`;

const facts = sql`p.created_at AS "joinedAt", p.live_enabled AS "liveEnabled",
  ${first(sql`orders`, "test")} AS "testOrderAt", ${firstCompleted("test")} AS "testCompletedAt",
  ${firstOfBoth(sql`rooms`)} AS "roomAt", coalesce(${firstOfBoth(sql`passports`)}, ${firstClosing}) AS "passportAt",
  ${firstOfBoth(sql`webhooks`, sql` AND deleted_at IS NULL`)} AS "webhookAt",
  ${first(sql`partner_keys`, "live")} AS "liveKeyAt",
  ${first(sql`orders`, "live")} AS "liveOrderAt", ${firstCompleted("live")} AS "liveCompletedAt"`;

async function selectFacts(db: Sql, partnerId: string): Promise<Facts> {
  const [found] = await db.query<Facts>(sql`SELECT ${facts} FROM partners p WHERE p.id = ${partnerId}`);
  if (!found) throw new Error("a principal without its partner");
  return found;
}
