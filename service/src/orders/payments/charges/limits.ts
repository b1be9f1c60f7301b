import { findActiveActor, listMembers, listOwnKeys, requireOwnerOfMoney } from "../../../firms/members/members.ts";
import { auditLine } from "../../../kernel/audit/audit.ts";
import { actorOf, type Owner, type Principal } from "../../../kernel/identity/identity.ts";
import type { Clock } from "../../../kernel/platform/clock.ts";
import type { Sql, Tx } from "../../../kernel/platform/database/database.ts";
import { sql } from "../../../kernel/platform/database/sql.ts";
import { nullIfAltered } from "../../../kernel/platform/database/state-mac.ts";
import { invalid, ServiceError } from "../../../kernel/platform/errors.ts";
import { bookNow } from "../../../kernel/test-clock/test-clock.ts";
import type { FirmPaysDeps } from "../methods/methods.ts";
import type { SpendingRefusal } from "../records/charges.ts";
import * as store from "../records/methods.ts";
import { zoneOf } from "../records/zone.ts";
import { spentSince } from "./firm-payments.ts";

/** A member or a key, with its limits. Limits of 0 permit nothing, except to an owner, who has no limits. */
export type Spender = {
  spender: string;
  name: string;
  isOwner: boolean;
  orderCents: number;
  monthCents: number;
  /** True if the row with the limits was altered in the database. Nothing can be spent until it is restored. */
  isAltered?: true;
};

/**
 * The firm's members and the environment's keys in use, with their limits. In live, leaves out members without live
 * access.
 */
export async function listSpenders({ db }: { db: Sql }, principal: Principal): Promise<Spender[]> {
  const { partnerId, environment } = principal;
  const [members, keys, limits] = await Promise.all([
    listMembers({ db }, partnerId),
    listOwnKeys({ db }, principal),
    store.selectLimits(db, principal),
  ]);
  const limitOf = new Map(limits.map((limit) => [limit.spender, limit]));
  const people = members
    .filter(({ liveAccess }) => environment === "test" || liveAccess)
    .map(({ userId, email, role, linkedAt }) => ({
      spender: `member:${userId}`,
      name: email,
      isOwner: role === "owner",
      since: linkedAt,
    }));
  const ownKeys = keys
    .filter((key) => key.environment === environment && key.revokedAt === null)
    .map(({ keyId, name, last4 }) => ({
      spender: `key:${keyId}`,
      name: `API key ${name ?? `…${last4}`}`,
      isOwner: false,
      since: null,
    }));
  return [...people, ...ownKeys].map(({ since, ...each }) => {
    const found = limitOf.get(each.spender);
    if (found && !found.isAuthentic) return { ...each, orderCents: 0, monthCents: 0, isAltered: true };
    const limit = found && isSince(found, since) ? found : undefined;
    return { ...each, orderCents: limit?.orderCents ?? 0, monthCents: limit?.monthCents ?? 0 };
  });
}

/**
 * The cents of the month's limit that each spender with limits has used, by spender. Null for a spender with an altered
 * charge. Null for all spenders if the row that names the time zone was altered. A spender with null can't spend until
 * the operator has restored the row.
 */
export async function spentThisMonth(
  { db, clock }: { db: Sql; clock: Clock },
  owner: Owner,
  spenders: readonly Spender[],
): Promise<ReadonlyMap<string, number | null>> {
  const since = await startOfMonth(db, owner, clock()).catch(nullIfAltered);
  const used = new Map<string, number | null>();
  for (const { spender } of spenders.filter(({ monthCents }) => monthCents > 0))
    used.set(spender, since && (await spentSince(db, owner, { spender, since, except: [] }).catch(nullIfAltered)));
  return used;
}

/**
 * True if the limit was set after the member joined. A limit from before is ignored: a member who leaves the firm and
 * joins again can't spend until an owner sets a new limit.
 */
const isSince = ({ setAt }: store.SpendingLimit, since: Date | null): boolean =>
  since === null || setAt.getTime() >= since.getTime();

/**
 * Parses a typed amount into cents.
 * @throws ServiceError naming the field
 */
function centsOf(name: string, typed: string): number {
  const text = typed.trim().replaceAll(",", "").replace(/^\$/, "");
  const cents = /^\d{1,7}(?:\.\d{2})?$/.test(text || "0") ? Math.round(Number(text) * 100) : store.maxCents + 1;
  if (cents > store.maxCents) throw invalid(`${name} must be an amount in dollars, at most 1,000,000.`);
  return cents;
}

/**
 * Sets how much a member or a key may spend with the firm's method. Two empty amounts end the permission.
 * @throws ServiceError for a caller who is not an owner or has no recent sign-in or passkey; for a spender who is an
 * owner or not the firm's; and for amounts that can't be read, or of which only one is empty
 */
export async function setLimit(
  deps: FirmPaysDeps,
  principal: Principal,
  { spender, perOrder, perMonth }: { spender: string; perOrder: string; perMonth: string },
): Promise<void> {
  const { partnerId, environment } = principal;
  const owner = { partnerId, environment };
  const [orderCents, monthCents] = [centsOf("perOrder", perOrder), centsOf("perMonth", perMonth)];
  // A spender needs both limits. One alone would look like a permission, but permit nothing.
  if ((orderCents === 0) !== (monthCents === 0))
    throw invalid(`${orderCents === 0 ? "perOrder" : "perMonth"} is empty: set both limits, or leave both empty.`);
  await deps.db.transaction(async (tx) => {
    await requireOwnerOfMoney(tx, deps, principal);
    const current = (await listSpenders({ db: tx }, principal)).find((each) => each.spender === spender);
    if (!current) throw new ServiceError("not_found", "No such member or key.");
    if (current.isOwner) throw new ServiceError("conflict", "Owners have no limit.");
    const at = deps.clock();
    const by = actorOf(principal);
    await store.putLimit(tx, { owner, spender, orderCents, monthCents, by, at });
    const detail = { spender, environment, orderCents, monthCents };
    await tx.query(auditLine({ at, action: "spending_limit.set", actor: by, partnerId, detail }));
  });
}

/**
 * The start of the current month, in the time zone of the firm's statements. In the test environment, the month is that
 * of the test clock, and its start is converted back to real time.
 * @throws ServiceError `unavailable` when the MAC of the row that names the time zone is invalid
 */
async function startOfMonth(db: Sql, owner: Owner, at: Date): Promise<Date> {
  const zone = await zoneOf(db, owner.partnerId);
  const now = await bookNow(db, owner, at);
  const [month] = await db.query<{ start: Date }>(sql`
    SELECT date_trunc('month', ${now}::timestamptz AT TIME ZONE ${zone}::text) AT TIME ZONE ${zone}::text AS start`);
  if (!month) throw new Error("a month without a start");
  return new Date(month.start.getTime() - (now.getTime() - at.getTime()));
}

/**
 * `at`: the index of the first amount that exceeds the limit. `leftCents`: the rest of the exceeded limit, for one
 * order or in this month; 0 for other reasons.
 */
export type LimitRefusal = { reason: SpendingRefusal; at: number; leftCents: number };

type Spending = { spender: string; amounts: readonly number[]; except?: readonly string[] };
type LimitDeps = Pick<FirmPaysDeps, "rowMac" | "clock">;

/**
 * Checks the spender's limits for a payment: each order's amount by the limit per order, and their sum by the limit per
 * month. Returns the reason for a refusal, or null when the spender may spend the sum now. Concurrent payments of one
 * spender are checked one after another.
 * @param asked `except`: the ids of the payment's own charges, which are not added to the sum already spent
 */
export const spendingRefusal = (tx: Tx, deps: LimitDeps, owner: Owner, asked: Spending): Promise<LimitRefusal | null> =>
  refusalBy(tx, deps, owner, { ...asked, limitOf: () => store.lockLimit(tx, owner, asked.spender) });

/** Like `spendingRefusal`, for a page that previews a payment. Locks nothing. */
export const expectedRefusal = (
  db: Sql,
  deps: LimitDeps,
  owner: Owner,
  asked: Spending,
): Promise<LimitRefusal | null> =>
  refusalBy(db, deps, owner, { ...asked, limitOf: () => store.selectLimit(db, owner, asked.spender) });

async function refusalBy(
  db: Sql,
  deps: LimitDeps,
  owner: Owner,
  { spender, amounts, except = [], limitOf }: Spending & { limitOf: () => Promise<store.SpendingLimit | undefined> },
): Promise<LimitRefusal | null> {
  const actor = await findActiveActor(db, deps, owner, spender);
  if (!actor) return { reason: "left", at: 0, leftCents: 0 };
  if (actor.role === "owner") return null;
  const limit = await limitOf();
  if (!limit || limit.orderCents === 0 || limit.monthCents === 0 || !isSince(limit, actor.since))
    return { reason: "no_limit", at: 0, leftCents: 0 };
  const above = amounts.findIndex((cents) => cents > limit.orderCents);
  if (above >= 0) return { reason: "above_order_limit", at: above, leftCents: limit.orderCents };
  const since = await startOfMonth(db, owner, deps.clock());
  const before = await spentSince(db, owner, { spender, since, except });
  let spent = before;
  for (const [at, cents] of amounts.entries()) {
    spent += cents;
    if (spent > limit.monthCents)
      return { reason: "above_month_limit", at, leftCents: Math.max(0, limit.monthCents - before) };
  }
  return null;
}
