import type { Environment, Owner } from "../../../kernel/identity/identity.ts";
import { changeRow, changeRowIf } from "../../../kernel/platform/database/change-rows.ts";
import type { Sql, Tx } from "../../../kernel/platform/database/database.ts";
import { type Statement, sql } from "../../../kernel/platform/database/sql.ts";
import {
  type Marked,
  marked,
  type StateMac,
  verified,
  writeStateMacs,
} from "../../../kernel/platform/database/state-mac.ts";
import { stateRows } from "../../../kernel/platform/protected-data.ts";
import { wasOtherAccount } from "../processor/account.ts";
import type { SavedMethod } from "../processor/firm-account.ts";

/** The MAC covers the processor's ids for the firm and its method. So a forged row can't charge another customer. */
export const methodState: StateMac = {
  table: sql`payment_methods`,
  key: sql`id`,
  mac: sql`row_mac`,
  covered: (
    m,
  ) => sql`${m}.id, ${m}.partner_id, ${m}.environment, ${m}.state, ${m}.customer, ${m}.setup_intent, ${m}.method,
    ${m}.kind, ${m}.brand, ${m}.last4, ${m}.card_expires, ${m}.added_by, extract(epoch FROM ${m}.added_at), ${m}.ended_by,
    ${m}.state_version`,
};

const limitState: StateMac = {
  table: sql`spending_limits`,
  key: sql`id`,
  mac: sql`row_mac`,
  covered: (
    l,
  ) => sql`${l}.id, ${l}.partner_id, ${l}.environment, ${l}.spender, ${l}.order_cents, ${l}.month_cents, ${l}.set_by,
    extract(epoch FROM ${l}.set_at), ${l}.state_version`,
};

/** The largest spending limit, $1,000,000. */
export const maxCents = 100_000_000;

export const methodRows = [stateRows(methodState), stateRows(limitState)];

/**
 * `asked`: a setup without a result. `verifying`: the bank account is being verified. `unusable`: the bank account
 * can't be debited any more, or the present processor account or the sandbox doesn't have the method. An owner then has
 * to replace it.
 */
type MethodState = "asked" | "verifying" | "active" | "unusable" | "failed" | "removed";

export type PaymentMethod = {
  id: string;
  partnerId: string;
  environment: Environment;
  state: MethodState;
  customer: string;
  setupIntent: string | null;
  method: string | null;
  kind: "card" | "bank" | null;
  brand: string | null;
  last4: string | null;
  cardExpires: string | null;
  addedBy: string;
  addedAt: Date;
  /** The actor that ended the use of the method; null for a method in use, and for one that a bank ended. */
  endedBy: string | null;
};

/** The actor that ends the use of a method when only an earlier processor account has the method. */
export const accountChange = "system:account-change";

/**
 * SQL condition: true if charges can use the method `m`. False for methods of the processor's test mode that an earlier
 * release stored in the test environment: the sandbox can't charge them.
 */
export const isActive = (m: Statement): Statement =>
  sql`(${m}.state = 'active' AND (${m}.environment = 'live' OR ${m}.method LIKE 'sandbox:%'))`;

const shownState = (m: Statement): Statement =>
  sql`CASE WHEN ${m}.state = 'active' AND NOT ${isActive(m)} THEN 'unusable' ELSE ${m}.state END`;

const methods = (where: Statement): Statement => sql`
  SELECT m.id, m.partner_id AS "partnerId", m.environment, ${shownState(sql`m`)} AS state, m.customer, m.setup_intent AS "setupIntent", m.method, m.kind,
    m.brand, m.last4, m.card_expires AS "cardExpires", m.added_by AS "addedBy", m.added_at AS "addedAt",
    m.ended_by AS "endedBy", ${verified(methodState, sql`m`)}
  FROM payment_methods m WHERE ${where}`;

/**
 * At most 20 of the firm's methods, even removed ones: the active one first, then newest first. Leaves out methods
 * whose details were never entered.
 * @throws ServiceError `unavailable` for an altered row
 */
export const selectMethods = (db: Sql, { partnerId, environment }: Owner) =>
  db.query<PaymentMethod>(sql`${methods(sql`m.partner_id = ${partnerId} AND m.environment = ${environment} AND m.state <> 'asked'`)}
    ORDER BY ${isActive(sql`m`)} DESC, m.added_at DESC, m.id LIMIT 20`);

/**
 * Finds a method by our id; undefined for null or an unknown id.
 * @throws ServiceError `unavailable` for an altered row
 */
export async function selectMethod(db: Sql, id: string | null): Promise<PaymentMethod | undefined> {
  if (id === null) return undefined;
  const [found] = await db.query<PaymentMethod>(methods(sql`m.id = ${id}`));
  return found;
}

/** Methods by the processor's id. @throws ServiceError `unavailable` for an altered row */
export const methodsNamed = (db: Sql, method: string) => db.query<PaymentMethod>(methods(sql`m.method = ${method}`));

/** Methods by our ids. @throws ServiceError `unavailable` for an altered row */
export const methodsById = (db: Sql, ids: readonly string[]) =>
  db.query<PaymentMethod>(methods(sql`m.id = ANY (${ids}::uuid[])`));

/** The methods that a new one replaces. @throws ServiceError `unavailable` for an altered row */
export const replacedMethods = (db: Sql, { partnerId, environment }: Owner) =>
  db.query<PaymentMethod>(
    methods(sql`m.partner_id = ${partnerId} AND m.environment = ${environment} AND m.state IN ('active', 'unusable')`),
  );

/** The method that charges use. @throws ServiceError `unavailable` for an altered row */
export async function activeMethod(db: Sql, { partnerId, environment }: Owner): Promise<PaymentMethod | undefined> {
  const [found] = await db.query<PaymentMethod>(
    methods(sql`m.partner_id = ${partnerId} AND m.environment = ${environment} AND ${isActive(sql`m`)}`),
  );
  return found;
}

type NewMethod = Pick<PaymentMethod, "id" | "partnerId" | "environment" | "customer" | "addedBy" | "addedAt">;

export async function insertMethod(tx: Tx, method: NewMethod): Promise<void> {
  const { id, partnerId, environment, customer, addedBy, addedAt } = method;
  await tx.query(sql`
    INSERT INTO payment_methods (id, partner_id, environment, customer, added_by, added_at)
    VALUES (${id}, ${partnerId}, ${environment}, ${customer}, ${addedBy}, ${addedAt})`);
  await writeStateMacs(tx, methodState, sql`id = ${id}`);
}

/** Makes an active method unusable. @returns false for a method that is not active */
export const endUse = (tx: Tx, id: string, by: string | null): Promise<boolean> =>
  changeRowIf(tx, methodState, id, sql`state = 'unusable', ended_by = ${by}`, sql`state = 'active'`);

/**
 * Stores the details of the new card that a bank issued in the place of an active card.
 * @returns false for a card that is not active
 */
export const renewCard = (
  tx: Tx,
  id: string,
  { brand, last4, expires }: Pick<SavedMethod, "brand" | "last4" | "expires">,
): Promise<boolean> =>
  changeRowIf(
    tx,
    methodState,
    id,
    sql`brand = coalesce(${brand}, brand), last4 = coalesce(${last4}, last4), card_expires = ${expires}`,
    sql`state = 'active'`,
  );

/** A month as cards name it, MM/YYYY. A card expires at the end of its month. */
export const monthOf = (at: Date): string => `${String(at.getUTCMonth() + 1).padStart(2, "0")}/${at.getUTCFullYear()}`;

const numberOf = (month: string): number => {
  const [mm = "", yyyy = ""] = month.split("/");
  return Number(yyyy) * 12 + Number(mm);
};

/**
 * `this_month` for a card that expires at the end of this month, and `expired` for one that has expired. Null for any
 * other card, and for a bank account.
 */
export function expiryOf(
  { cardExpires }: Pick<PaymentMethod, "cardExpires">,
  now: Date,
): "this_month" | "expired" | null {
  if (cardExpires === null) return null;
  const left = numberOf(cardExpires) - numberOf(monthOf(now));
  return left < 0 ? "expired" : left === 0 ? "this_month" : null;
}

/** Active live cards that expire in the month and whose firms were not mailed about it. @param month as MM/YYYY */
const expiringIn = (month: string): Statement =>
  sql`state = 'active' AND environment = 'live' AND card_expires = ${month} AND expiry_notified IS DISTINCT FROM ${month}`;

export const cardsExpiringIn = (db: Sql, month: string) =>
  db.query<{ id: string }>(sql`SELECT id FROM payment_methods WHERE ${expiringIn(month)} ORDER BY id`);

/**
 * Records that the firm is mailed about the card's expiry.
 * @returns false when another node has recorded it, or the card was renewed or removed in the meantime
 */
export const markExpiryNotified = (tx: Tx, id: string, month: string): Promise<boolean> =>
  changeRowIf(tx, methodState, id, sql`expiry_notified = ${month}`, expiringIn(month));

/**
 * The ids of live methods that were added to another processor account than the one in use. Includes only methods that
 * charges use or a bank is verifying.
 */
export const methodsElsewhere = (db: Sql) =>
  db.query<{ id: string }>(sql`
    SELECT id FROM payment_methods WHERE environment = 'live' AND state IN ('active', 'verifying') AND ${wasOtherAccount(sql`added_at`)}`);

type MethodChange = { state: MethodState; setupIntent?: string; saved?: SavedMethod; endedBy?: string };

export const updateMethod = (tx: Tx, id: string, { state, setupIntent, saved, endedBy }: MethodChange): Promise<void> =>
  changeRow(
    tx,
    methodState,
    id,
    sql`state = ${state}, setup_intent = coalesce(${setupIntent ?? null}, setup_intent),
      method = coalesce(${saved?.method ?? null}, method), kind = coalesce(${saved?.kind ?? null}, kind),
      brand = coalesce(${saved?.brand ?? null}, brand), last4 = coalesce(${saved?.last4 ?? null}, last4),
      card_expires = coalesce(${saved?.expires ?? null}, card_expires), ended_by = ${endedBy ?? null}`,
  );

export type SpendingLimit = { spender: string; orderCents: number; monthCents: number; setAt: Date };

const limits = (where: Statement, check: typeof verified | typeof marked): Statement => sql`
  SELECT l.spender, l.order_cents::float8 AS "orderCents", l.month_cents::float8 AS "monthCents", l.set_at AS "setAt",
    ${check(limitState, sql`l`)}
  FROM spending_limits l WHERE ${where}`;

/** The spending limits of a firm's members and keys, at most 1,000. Marks altered rows. */
export const selectLimits = (db: Sql, { partnerId, environment }: Owner) =>
  db.query<SpendingLimit & Marked>(
    sql`${limits(sql`l.partner_id = ${partnerId} AND l.environment = ${environment}`, marked)} ORDER BY l.id LIMIT 1000`,
  );

const limitOf = ({ partnerId, environment }: Owner, spender: string): Statement =>
  limits(sql`l.partner_id = ${partnerId} AND l.environment = ${environment} AND l.spender = ${spender}`, verified);

/**
 * Reads the spending limit of a member or a key; undefined without one.
 * @throws ServiceError `unavailable` for an altered row
 */
export async function selectLimit(db: Sql, owner: Owner, spender: string) {
  const [found] = await db.query<SpendingLimit>(limitOf(owner, spender));
  return found;
}

/** Locks the limit, so that concurrent charges of one spender are compared with it one after another. */
export async function lockLimit(tx: Tx, owner: Owner, spender: string) {
  const [found] = await tx.query<SpendingLimit>(sql`${limitOf(owner, spender)} FOR NO KEY UPDATE`);
  return found;
}

type NewLimit = Omit<SpendingLimit, "setAt"> & { owner: Owner; by: string; at: Date };

export async function putLimit(tx: Tx, { owner, spender, orderCents, monthCents, by, at }: NewLimit): Promise<void> {
  const { partnerId, environment } = owner;
  // Locking verifies the row's MAC first. So an altered row is refused and not overwritten.
  await lockLimit(tx, owner, spender);
  await tx.query(sql`
    INSERT INTO spending_limits (partner_id, environment, spender, order_cents, month_cents, set_by, set_at)
    VALUES (${partnerId}, ${environment}, ${spender}, ${orderCents}, ${monthCents}, ${by}, ${at})
    ON CONFLICT (partner_id, environment, spender) DO UPDATE
      SET order_cents = excluded.order_cents, month_cents = excluded.month_cents, set_by = excluded.set_by, set_at = excluded.set_at`);
  await writeStateMacs(
    tx,
    limitState,
    sql`partner_id = ${partnerId} AND environment = ${environment} AND spender = ${spender}`,
  );
}
