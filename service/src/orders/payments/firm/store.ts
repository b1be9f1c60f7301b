import type { Environment, Owner } from "../../../kernel/identity/identity.ts";
import { changeRow } from "../../../kernel/platform/database/change-rows.ts";
import type { Sql, Tx } from "../../../kernel/platform/database/database.ts";
import { isSealed, nothing, type Statement, sql } from "../../../kernel/platform/database/sql.ts";
import {
  type Marked,
  marked,
  type StateMac,
  verified,
  verifiedAll,
  writeStateMacs,
} from "../../../kernel/platform/database/state-mac.ts";
import { stateRows } from "../../../kernel/platform/protected-data.ts";
import type { SavedMethod } from "../processor/firm-account.ts";
import { paymentState } from "../store.ts";
import { coveredAmount } from "../supplements.ts";

/** The MAC covers the processor's ids for the firm and its method. So a forged row can't charge another customer. */
const methodState: StateMac = {
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

export const chargeState: StateMac = {
  table: sql`firm_charges`,
  key: sql`id`,
  mac: sql`row_mac`,
  covered: (
    c,
  ) => sql`${c}.id, ${c}.order_id, ${c}.partner_id, ${c}.environment, ${c}.method_id, ${coveredAmount(c)}, ${c}.asked_by,
    extract(epoch FROM ${c}.asked_at), ${c}.state, ${c}.payment_intent, ${c}.reason, extract(epoch FROM ${c}.changed_at),
    ${c}.state_version`,
};

export const firmRows = [stateRows(methodState), stateRows(limitState), stateRows(chargeState)];

export type MethodState = "asked" | "verifying" | "active" | "failed" | "removed";

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
};

const methods = (where: Statement): Statement => sql`
  SELECT m.id, m.partner_id AS "partnerId", m.environment, m.state, m.customer, m.setup_intent AS "setupIntent", m.method, m.kind,
    m.brand, m.last4, m.card_expires AS "cardExpires", m.added_by AS "addedBy", m.added_at AS "addedAt",
    ${verified(methodState, sql`m`)}
  FROM payment_methods m WHERE ${where}`;

/**
 * The firm's methods, the active one first, then newest first. Leaves out methods whose details were never entered.
 * @throws ServiceError `unavailable` for an altered row
 */
export const selectMethods = (db: Sql, { partnerId, environment }: Owner) =>
  db.query<PaymentMethod>(sql`${methods(sql`m.partner_id = ${partnerId} AND m.environment = ${environment} AND m.state <> 'asked'`)}
    ORDER BY m.state = 'active' DESC, m.added_at DESC, m.id LIMIT 20`);

/** @throws ServiceError `unavailable` for an altered row */
export async function selectMethod(db: Sql, id: string): Promise<PaymentMethod | undefined> {
  const [found] = await db.query<PaymentMethod>(methods(sql`m.id = ${id}`));
  return found;
}

/** The method that charges use. @throws ServiceError `unavailable` for an altered row */
export async function activeMethod(db: Sql, { partnerId, environment }: Owner): Promise<PaymentMethod | undefined> {
  const [found] = await db.query<PaymentMethod>(
    methods(sql`m.partner_id = ${partnerId} AND m.environment = ${environment} AND m.state = 'active'`),
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

const limits = (where: Statement): Statement => sql`
  SELECT l.spender, l.order_cents::float8 AS "orderCents", l.month_cents::float8 AS "monthCents", l.set_at AS "setAt",
    ${verified(limitState, sql`l`)}
  FROM spending_limits l WHERE ${where}`;

/** @throws ServiceError `unavailable` for an altered row */
export const selectLimits = (db: Sql, { partnerId, environment }: Owner) =>
  db.query<SpendingLimit>(
    sql`${limits(sql`l.partner_id = ${partnerId} AND l.environment = ${environment}`)} ORDER BY l.id LIMIT 1000`,
  );

/** Locks the limit, so that concurrent charges of one spender are counted one after another. */
export async function lockLimit(tx: Tx, { partnerId, environment }: Owner, spender: string) {
  const [found] = await tx.query<SpendingLimit>(
    sql`${limits(
      sql`l.partner_id = ${partnerId} AND l.environment = ${environment} AND l.spender = ${spender}`,
    )} FOR NO KEY UPDATE`,
  );
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

/**
 * `asked`: to be sent to the processor. `answered`: the processor has created the payment. `pending`: a bank is moving
 * the money. `declined`: the processor refused. `succeeded` and `failed`: a signed event said so. `refused`: never
 * sent.
 */
export type ChargeState = "asked" | "answered" | "pending" | "declined" | "succeeded" | "failed" | "refused";

export type FirmCharge = {
  id: string;
  orderId: number;
  orderCode: string;
  partnerId: string;
  environment: Environment;
  methodId: string;
  amountCents: number;
  /** The supplement that the charge pays; null when it pays the order's total. */
  supplementId: number | null;
  askedBy: string;
  askedAt: Date;
  changedAt: Date;
  state: ChargeState;
  paymentIntent: string | null;
  reason: string | null;
};

const charges = (where: Statement, more: Statement = nothing): Statement => sql`
  SELECT c.id, c.order_id AS "orderId", o.code AS "orderCode@order", c.partner_id AS "partnerId", c.environment,
    c.method_id AS "methodId", c.amount_cents AS "amountCents", c.supplement_id AS "supplementId", c.asked_by AS "askedBy", c.asked_at AS "askedAt",
    c.changed_at AS "changedAt", c.state, c.payment_intent AS "paymentIntent", c.reason ${more}, ${verified(chargeState, sql`c`)}
  FROM firm_charges c JOIN orders o ON o.id = c.order_id WHERE ${where}`;

export async function selectCharge(db: Sql, id: string): Promise<FirmCharge | undefined> {
  const [found] = await db.query<FirmCharge>(charges(sql`c.id = ${id}`));
  return found;
}

/** The charges of an order, the newest first. @throws ServiceError `unavailable` for an altered row */
export const chargesOfOrder = (db: Sql, orderId: number) =>
  db.query<FirmCharge>(sql`${charges(sql`c.order_id = ${orderId}`)} ORDER BY c.asked_at DESC, c.id`);

/** The charges of an order, found by the order's code, as pages need them. */
export const chargesOfCode = (db: Sql, orderCode: string) =>
  db.query<FirmCharge>(sql`${charges(isSealed(sql`o.code`, "order", orderCode))} ORDER BY c.asked_at DESC, c.id`);

export const isOpenCharge = ({ state }: Pick<FirmCharge, "state">): boolean =>
  state === "asked" || state === "answered" || state === "pending";

/**
 * The charges of a firm that have not ended, then its newest ones. An owner ends an overdue charge in this list.
 * @throws ServiceError `unavailable` for an altered row
 */
export const chargesOfFirm = (db: Sql, { partnerId, environment }: Owner) =>
  db.query<FirmCharge & { reference: string | null }>(sql`
    ${charges(sql`c.partner_id = ${partnerId} AND c.environment = ${environment}`, sql`, o.external_reference AS reference`)}
    ORDER BY c.state NOT IN ('asked', 'answered', 'pending'), c.asked_at DESC, c.id LIMIT 50`);

/** Whether a charge of the method may be on its way to the processor, or a bank is moving its money. */
export async function hasMovingCharge(db: Sql, methodId: string): Promise<boolean> {
  const found = await db.query(sql`
    SELECT FROM firm_charges WHERE method_id = ${methodId} AND state IN ('asked', 'pending') LIMIT 1`);
  return found.length > 0;
}

/**
 * The sum of a spender's charges since a time. Charges in progress and paid charges count; those that were fully
 * refunded don't.
 * @throws ServiceError `unavailable` when a charge or its payment was altered
 */
export async function spentSince(
  db: Sql,
  { partnerId, environment }: Owner,
  { spender, since, except }: { spender: string; since: Date; except: string | undefined },
) {
  const rows = await db.query<{ amountCents: number; isBack: boolean }>(sql`
    SELECT c.amount_cents AS "amountCents", coalesce(p.refunded_at IS NOT NULL, false) AS "isBack",
      ${verified(chargeState, sql`c`)}, ${verified(paymentState, sql`p`)}
    FROM firm_charges c LEFT JOIN payments p ON p.order_id = c.order_id AND p.payment_intent = c.payment_intent
    WHERE c.partner_id = ${partnerId} AND c.environment = ${environment} AND c.asked_by = ${spender} AND c.asked_at >= ${since}
      AND c.id IS DISTINCT FROM ${except ?? null}::uuid AND c.state IN ('asked', 'answered', 'pending', 'succeeded')`);
  return rows.filter(({ isBack }) => !isBack).reduce((sum, { amountCents }) => sum + amountCents, 0);
}

const ofPayment = sql`FROM firm_charges c JOIN payment_methods m ON m.id = c.method_id
  WHERE c.order_id = p.order_id AND c.payment_intent = p.payment_intent`;

/** The firm's card or bank account that made a payment; null when somebody paid on the processor's page. */
export type PayingMethod = Pick<PaymentMethod, "kind" | "brand" | "last4"> | null;

/** For the select list of a statement with a payment `p`: the firm's method that made it, as `method`. */
export const payingMethod: Statement = sql`
  (SELECT json_build_object('kind', m.kind, 'brand', m.brand, 'last4', m.last4) ${ofPayment}) AS method,
  ${verifiedAll(chargeState, sql`c`, ofPayment)}, ${verifiedAll(methodState, sql`m`, ofPayment)}`;

type NewCharge = Omit<FirmCharge, "orderCode" | "paymentIntent" | "changedAt">;

/** @returns false when the order already has a charge in progress */
export async function insertCharge(tx: Tx, charge: NewCharge): Promise<boolean> {
  const { id, orderId, partnerId, environment, methodId, amountCents, supplementId, askedBy, askedAt, state, reason } =
    charge;
  const inserted = await tx.query(sql`
    INSERT INTO firm_charges (id, order_id, partner_id, environment, method_id, amount_cents, supplement_id, asked_by, asked_at, state,
      reason, changed_at)
    VALUES (${id}, ${orderId}, ${partnerId}, ${environment}, ${methodId}, ${amountCents}, ${supplementId}, ${askedBy}, ${askedAt},
      ${state}, ${reason}, ${askedAt})
    ON CONFLICT DO NOTHING RETURNING id`);
  if (inserted.length === 1) await writeStateMacs(tx, chargeState, sql`id = ${id}`);
  return inserted.length === 1;
}

type ChargeChange = { state: ChargeState; at: Date; paymentIntent?: string | null; reason?: string | null };

export const updateCharge = (
  tx: Tx,
  id: string,
  { state, at, paymentIntent = null, reason = null }: ChargeChange,
): Promise<void> =>
  changeRow(
    tx,
    chargeState,
    id,
    sql`state = ${state}, payment_intent = coalesce(${paymentIntent}, payment_intent), reason = ${reason},
      changed_at = ${at}`,
  );

export type OverdueCharge = Pick<
  FirmCharge,
  "id" | "orderId" | "orderCode" | "environment" | "amountCents" | "askedAt" | "state"
>;

/** The charges whose event is overdue, oldest first. A row that was altered in the database is marked as such. */
export const overdueCharges = (db: Sql, { sentBefore, bankBefore }: { sentBefore: Date; bankBefore: Date }) =>
  db.query<OverdueCharge & Marked>(sql`
    SELECT c.id, c.order_id AS "orderId", o.code AS "orderCode@order", c.environment, c.amount_cents AS "amountCents",
      c.asked_at AS "askedAt", c.state, ${marked(chargeState, sql`c`)}
    FROM firm_charges c JOIN orders o ON o.id = c.order_id
    WHERE c.state IN ('asked', 'answered', 'pending')
      AND c.changed_at < CASE c.state WHEN 'pending' THEN ${bankBefore}::timestamptz ELSE ${sentBefore}::timestamptz END
    ORDER BY c.changed_at, c.id LIMIT 100`);
