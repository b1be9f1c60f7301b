import type { Environment } from "../../../kernel/identity/identity.ts";
import { changeRow } from "../../../kernel/platform/database/change-rows.ts";
import type { Sql, Tx } from "../../../kernel/platform/database/database.ts";
import { isSealed, nothing, type Statement, sql } from "../../../kernel/platform/database/sql.ts";
import {
  type marked,
  type StateMac,
  verified,
  verifiedAll,
  writeStateMacs,
} from "../../../kernel/platform/database/state-mac.ts";
import { stateRows } from "../../../kernel/platform/protected-data.ts";
import { leapt } from "../../../kernel/test-clock/test-clock.ts";
import { joinOrder } from "../../order/order.ts";
import { isActive, methodState, methodsById, type PaymentMethod } from "./methods.ts";
import { coveredAmount } from "./supplements.ts";

/**
 * The amount as the MAC covers it: with the group's id if the charge has a group. Without a group it is the amount
 * alone, as in earlier releases.
 */
const coveredPart = (row: Statement): Statement => sql`CASE WHEN ${row}.group_id IS NULL
  THEN ${coveredAmount(row)} ELSE jsonb_build_array(${coveredAmount(row)}, ${row}.group_id) END`;

/** The MAC covers the time of sending only if there is one. So the MACs of earlier releases stay valid. */
const coveredTimes = (row: Statement): Statement => sql`CASE WHEN ${row}.sent_at IS NULL
  THEN to_jsonb(extract(epoch FROM ${row}.asked_at))
  ELSE jsonb_build_array(extract(epoch FROM ${row}.asked_at), extract(epoch FROM ${row}.sent_at)) END`;

export const chargeState: StateMac = {
  table: sql`firm_charges`,
  key: sql`id`,
  mac: sql`row_mac`,
  covered: (
    c,
  ) => sql`${c}.id, ${c}.order_id, ${c}.partner_id, ${c}.environment, ${c}.method_id, ${coveredPart(c)}, ${c}.asked_by,
    ${coveredTimes(c)}, ${c}.state, ${c}.payment_intent, ${c}.reason, extract(epoch FROM ${c}.changed_at),
    ${c}.state_version`,
};

export const chargeRows = stateRows(chargeState);

/**
 * `asked`: queued for the processor, or sent without an answer. `answered`: the processor has created the payment.
 * `pending`: a bank is moving the money. `declined`: the processor refused. `succeeded`: a signed event reported it.
 * `failed`: an event reported it, or the payment was canceled. `refused`: never sent.
 */
export type ChargeState = "asked" | "answered" | "pending" | "declined" | "succeeded" | "failed" | "refused";

/** The reason why a spender (a member or a key) may not make a charge. */
export type SpendingRefusal = "left" | "no_limit" | "above_order_limit" | "above_month_limit";

/** The reason of a failed charge that a person ended manually. */
export const endedByPerson = "ended";

/**
 * A charge of the firm's method for one order. A payment at the processor consists of one charge, or of all charges of
 * a group, which always have the same state.
 */
export type FirmCharge = {
  id: string;
  /** The payment of which this charge is a part; null for a payment of this order alone. */
  groupId: string | null;
  orderId: number;
  orderCode: string;
  partnerId: string;
  environment: Environment;
  /** The firm's method; null for a charge that was refused because the firm had none. */
  methodId: string | null;
  amountCents: number;
  /** The supplement that the charge pays; null when it pays the order's total. */
  supplementId: number | null;
  askedBy: string;
  askedAt: Date;
  /**
   * The time when the charge was first sent to the processor. Null for a charge that was never sent, or that an earlier
   * release sent. After that time, only the processor knows whether a payment exists.
   */
  sentAt: Date | null;
  changedAt: Date;
  state: ChargeState;
  paymentIntent: string | null;
  reason: string | null;
};

/**
 * SQL expression: a time of a test row, moved back by as much as the firm's test clock was advanced after that time.
 * The time of a live row is unchanged.
 */
export const agedOf = (row: Statement, at: Statement): Statement =>
  sql`CASE WHEN ${row}.environment = 'test' THEN ${leapt(at, sql`${row}.partner_id`)} ELSE ${at} END`;

/** @param seen `verified` to refuse altered rows, or `marked` to mark them */
export const charges = (
  where: Statement,
  more: Statement = nothing,
  seen: typeof verified | typeof marked = verified,
): Statement => sql`
  SELECT c.id, c.group_id AS "groupId", c.order_id AS "orderId", o.code AS "orderCode@order", c.partner_id AS "partnerId", c.environment,
    c.method_id AS "methodId", c.amount_cents AS "amountCents", c.supplement_id AS "supplementId", c.asked_by AS "askedBy", c.asked_at AS "askedAt",
    c.sent_at AS "sentAt", ${agedOf(sql`c`, sql`c.changed_at`)} AS "changedAt", c.state, c.payment_intent AS "paymentIntent", c.reason ${more}, ${seen(chargeState, sql`c`)}
  FROM firm_charges c ${joinOrder(sql`c.order_id`)} WHERE ${where}`;

export async function selectCharge(db: Sql, id: string): Promise<FirmCharge | undefined> {
  const [found] = await db.query<FirmCharge>(charges(sql`c.id = ${id}`));
  return found;
}

export async function lockCharge(tx: Tx, id: string): Promise<FirmCharge | undefined> {
  await tx.query(sql`SELECT FROM firm_charges WHERE id = ${id} FOR NO KEY UPDATE`);
  return selectCharge(tx, id);
}

/** The id by which the processor knows the payment of a charge. */
export const paymentIdOf = ({ id, groupId }: Pick<FirmCharge, "id" | "groupId">): string => groupId ?? id;

/**
 * The charges of a payment, in the sequence in which their orders are locked; empty for an unknown payment.
 * @throws ServiceError `unavailable` for an altered row
 */
export const chargesOfPayment = (db: Sql, paymentId: string) =>
  db.query<FirmCharge>(sql`
    ${charges(sql`c.group_id = ${paymentId} OR (c.group_id IS NULL AND c.id = ${paymentId})`)} ORDER BY c.order_id`);

export const sumOfCharges = (all: readonly Pick<FirmCharge, "amountCents">[]): number =>
  all.reduce((sum, { amountCents }) => sum + amountCents, 0);

/** The charges of an order, the newest first. @throws ServiceError `unavailable` for an altered row */
export const chargesOfOrder = (db: Sql, orderId: number) =>
  db.query<FirmCharge>(sql`${charges(sql`c.order_id = ${orderId}`)} ORDER BY c.asked_at DESC, c.id`);

/** The charges of an order, found by the order's code, as pages need them. */
export const chargesOfCode = (db: Sql, orderCode: string) =>
  db.query<FirmCharge>(sql`${charges(isSealed(sql`o.code`, "order", orderCode))} ORDER BY c.asked_at DESC, c.id`);

/** A firm's method that can be charged; null for none. */
export type FirmMethod = Pick<PaymentMethod, "id" | "kind" | "brand" | "last4"> | null;

export type ChargeOfOrder = Pick<
  FirmCharge,
  "id" | "groupId" | "orderId" | "state" | "amountCents" | "reason" | "methodId" | "askedBy"
>;

/**
 * For the SELECT list of a query that lists orders `o` of a firm. `firmMethod`: the method that can be charged.
 * `charges`: the charges of the orders, the newest first.
 * @param ofOrders the text after FROM that selects the orders
 */
export function firmPaysColumns(
  { partnerId, environment }: { partnerId: Statement; environment: Statement },
  ofOrders: Statement,
): Statement {
  const methods = sql`FROM payment_methods m
    WHERE m.partner_id = ${partnerId} AND m.environment = ${environment} AND ${isActive(sql`m`)}`;
  const own = sql`FROM ${ofOrders} JOIN firm_charges c ON c.order_id = o.id`;
  return sql`
    (SELECT json_build_object('id', m.id, 'kind', m.kind, 'brand', m.brand, 'last4', m.last4) ${methods}) AS "firmMethod",
    ${verifiedAll(methodState, sql`m`, methods)},
    (SELECT coalesce(json_agg(json_build_object('id', c.id, 'groupId', c.group_id, 'orderId', c.order_id, 'state', c.state,
      'amountCents', c.amount_cents, 'reason', c.reason, 'methodId', c.method_id, 'askedBy', c.asked_by) ORDER BY c.asked_at DESC, c.id), '[]') ${own}) AS charges,
    ${verifiedAll(chargeState, sql`c`, own)}`;
}

/**
 * Groups charges into payments. `moving`: the payments in progress. `failed`: the newest payment, if it was declined,
 * refused or failed; otherwise empty.
 * @param charges the newest first. A payment in the result contains only its charges from this list.
 */
export function unpaidPayments(charges: readonly ChargeOfOrder[]): {
  moving: ChargeOfOrder[][];
  failed: ChargeOfOrder[];
} {
  const payments = [...Map.groupBy(charges, paymentIdOf).values()];
  const isMoving = (parts: readonly ChargeOfOrder[]) => parts.some(isOpenCharge);
  const [latest = []] = payments;
  const hasFailed = !isMoving(latest) && latest.every(({ state }) => state !== "succeeded");
  return { moving: payments.filter(isMoving), failed: hasFailed ? latest : [] };
}

export const isOpenCharge = ({ state }: Pick<FirmCharge, "state">): boolean =>
  state === "asked" || state === "answered" || state === "pending";

/** SQL condition: the same as `isOpenCharge`, of the charge `c`. */
export const isOpen = (c: Statement): Statement => sql`${c}.state IN ('asked', 'answered', 'pending')`;

/** True if a charge of the method is in progress. */
export async function hasMovingCharge(db: Sql, methodId: string): Promise<boolean> {
  const found = await db.query(sql`
    SELECT FROM firm_charges c WHERE c.method_id = ${methodId} AND ${isOpen(sql`c`)} LIMIT 1`);
  return found.length > 0;
}

/**
 * The firms' cards and bank accounts that were charged for a payment.
 * @throws ServiceError `unavailable` for an altered row
 */
export async function methodsOfIntent(db: Sql, paymentIntent: string): Promise<PaymentMethod[]> {
  const found = await db.query<FirmCharge>(charges(sql`c.payment_intent = ${paymentIntent}`));
  return methodsById(
    db,
    found.flatMap(({ methodId }) => methodId ?? []),
  );
}

const ofPayment = sql`FROM firm_charges c JOIN payment_methods m ON m.id = c.method_id
  WHERE c.order_id = p.order_id AND c.payment_intent = p.payment_intent`;

/** The firm's card or bank account that was charged for a payment; null for any other payment. */
export type PayingMethod = Pick<PaymentMethod, "kind" | "brand" | "last4"> | null;

/** For the SELECT list of a query with a payment `p`: the firm's method that made it, as `method`. */
export const payingMethod: Statement = sql`
  (SELECT json_build_object('kind', m.kind, 'brand', m.brand, 'last4', m.last4) ${ofPayment}) AS method,
  ${verifiedAll(chargeState, sql`c`, ofPayment)}, ${verifiedAll(methodState, sql`m`, ofPayment)}`;

type NewCharge = Omit<FirmCharge, "orderCode" | "paymentIntent" | "sentAt" | "changedAt">;

/**
 * Inserts a charge.
 * @returns false when the order already has a charge in progress
 */
export async function insertCharge(tx: Tx, charge: NewCharge): Promise<boolean> {
  const { id, groupId, orderId, partnerId, environment, methodId, amountCents, supplementId } = charge;
  const { askedBy, askedAt, state, reason } = charge;
  const inserted = await tx.query(sql`
    INSERT INTO firm_charges (id, group_id, order_id, partner_id, environment, method_id, amount_cents, supplement_id, asked_by, asked_at, state,
      reason, changed_at)
    VALUES (${id}, ${groupId}, ${orderId}, ${partnerId}, ${environment}, ${methodId}, ${amountCents}, ${supplementId}, ${askedBy}, ${askedAt},
      ${state}, ${reason}, ${askedAt})
    ON CONFLICT DO NOTHING RETURNING id`);
  if (inserted.length === 1) await writeStateMacs(tx, chargeState, sql`id = ${id}`);
  return inserted.length === 1;
}

type ChargeChange = { state: ChargeState; at: Date; paymentIntent?: string | null; reason?: string | null };

/** Changes the state and the reason of all charges of a payment. Without `reason`, removes the stored reason. */
export async function updateCharges(
  tx: Tx,
  payment: readonly Pick<FirmCharge, "id">[],
  { state, at, paymentIntent = null, reason = null }: ChargeChange,
): Promise<void> {
  const set = sql`state = ${state}, payment_intent = coalesce(${paymentIntent}, payment_intent), reason = ${reason},
    changed_at = ${at}`;
  for (const { id } of payment) await changeRow(tx, chargeState, id, set);
}

/**
 * Records that a payment is about to be sent for the first time. The caller must commit this before it sends the
 * request.
 */
export async function markSent(tx: Tx, payment: readonly Pick<FirmCharge, "id" | "sentAt">[], at: Date): Promise<void> {
  for (const { id, sentAt } of payment) if (sentAt === null) await changeRow(tx, chargeState, id, sql`sent_at = ${at}`);
}
