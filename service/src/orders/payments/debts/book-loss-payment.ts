/**
 * Books money that a firm paid outside the processor, such as by check, for a payment that a bank took back. If the
 * lost payment was for several orders, the money goes to the named order first, then to the others. Also reverses
 * bookings.
 */
import { auditLine } from "../../../kernel/audit/audit.ts";
import type { Environment } from "../../../kernel/identity/identity.ts";
import type { Tx } from "../../../kernel/platform/database/database.ts";
import { type Statement, sql } from "../../../kernel/platform/database/sql.ts";
import { writeStateMacs } from "../../../kernel/platform/database/state-mac.ts";
import { invalid, ServiceError } from "../../../kernel/platform/errors.ts";
import { isPlainText } from "../../../kernel/platform/text.ts";
import { openTask } from "../../../kernel/tasks/tasks.ts";
import { bookNow, bookTime } from "../../../kernel/test-clock/test-clock.ts";
import { dollars } from "../../dollars.ts";
import { hasOrderCode, joinOrder, type LockedOrder, lockOrders, orderCodes } from "../../order/order.ts";
import { tellFirm } from "../mails/money-mail.ts";
import { lockBilling } from "../records/documents.ts";
import {
  type LossPaymentWay,
  lossPaymentState,
  lossPaymentWays,
  lostPayments,
  wayText,
} from "../records/loss-payments.ts";
import { zoneOrDefault } from "../records/zone.ts";
import { isSamePayment, type OpenLoss, openLosses, ordersOfPayments } from "./open-losses.ts";
import { releaseSubject, reviseDebt } from "./price-debt.ts";

/** The booking as a person typed it. */
export type TypedLossPayment = {
  code: string;
  /** The id of the order's payment that a bank took back. */
  payment: number;
  amountCents: number;
  way: string;
  reference: string;
  /** The day on which the money arrived: `2026-11-29`. */
  receivedOn: string;
};

type By = { environment: Environment; actor: string; at: Date };

/**
 * Books money that the firm paid for a payment that a bank took back: first for the order `code`, then for the
 * payment's other orders.
 * @throws ServiceError for a payment of another order, values that can't be right, a sum above the debt, and a booking
 * that already exists
 */
export async function bookLossPayment(tx: Tx, typed: TypedLossPayment, by: By): Promise<void> {
  const { payment, amountCents } = typed;
  const facts = factsOf(typed);
  const orders = await lockPayees(tx, typed, by);
  const lost = await openLosses(
    tx,
    orders.map(({ id }) => id),
  );
  const own = lost.find(({ id }) => id === payment);
  if (!own) throw noSuchPayment();
  await requireDay(tx, orders, own, { ...facts, at: by.at });
  const ofPayment = lost.filter((each) => isSamePayment(each, own));
  requireNew(ofPayment, facts);
  const same = ofPayment.filter((each) => each.openCents > 0 && each.currency === "usd");
  const open = same.reduce((sum, { openCents }) => sum + openCents, 0);
  if (amountCents < 1 || amountCents > open)
    throw new ServiceError(
      "conflict",
      open === 0
        ? "Nothing is owed for this payment."
        : `The amount must be from $0.01 to ${dollars(open)}, which is still owed for this payment.`,
    );
  let left = amountCents;
  for (const each of [...same.filter(({ id }) => id === payment), ...same.filter(({ id }) => id !== payment)]) {
    const cents = Math.min(left, each.openCents);
    const order = orders.find(({ id }) => id === each.orderId);
    if (cents > 0 && order) await book(tx, order, { payment: each.id, cents, ...facts }, by);
    left -= cents;
  }
}

type Facts = { way: LossPaymentWay; reference: string; receivedOn: string };

const maxReferenceLength = 40;

/** @throws ServiceError naming the field */
function factsOf({ way, reference: typed, receivedOn }: TypedLossPayment): Facts {
  const reference = typed.trim().replaceAll(/ +/g, " ");
  if (!Object.hasOwn(lossPaymentWays, way)) throw invalid("Choose how the money came.");
  if (reference === "" || reference.length > maxReferenceLength || !isPlainText(reference))
    throw invalid(
      `The reference must have 1 to ${maxReferenceLength} characters: the number of the check, or the bank’s reference.`,
    );
  const day = new Date(`${receivedOn}T00:00:00Z`);
  if (
    !/^\d{4}-\d{2}-\d{2}$/.test(receivedOn) ||
    Number.isNaN(day.getTime()) ||
    !day.toISOString().startsWith(receivedOn)
  )
    throw invalid("The day must be a date, such as 2026-11-29.");
  return { way: way as LossPaymentWay, reference, receivedOn };
}

const noSuchPayment = () => new ServiceError("not_found", "No such payment.");

/**
 * Locks all orders of the payment that a bank took back, by ascending id. The code that applies the processor's events
 * locks them in the same sequence.
 */
async function lockPayees(tx: Tx, { code, payment }: TypedLossPayment, { environment }: By): Promise<LockedOrder[]> {
  const [owner] = await tx.query(sql`
    SELECT FROM payments p ${joinOrder(sql`p.order_id`)}
    WHERE p.id = ${payment} AND ${hasOrderCode(code)} AND o.environment = ${environment}`);
  if (!owner) throw noSuchPayment();
  const ids = await ordersOfPayments(tx, [{ id: payment }]);
  return lockOrders(tx, [...(await orderCodes(tx, ids)).values()]);
}

/**
 * Requires a day that is neither in the future nor before the bank took the payment back. Allows the day in the firm's
 * time zone and that in UTC, because the operator may be elsewhere.
 */
async function requireDay(
  tx: Tx,
  [order]: readonly LockedOrder[],
  { lostAt }: OpenLoss,
  { receivedOn, at }: Pick<Facts, "receivedOn"> & { at: Date },
): Promise<void> {
  if (!order) throw noSuchPayment();
  const zone = await zoneOrDefault(tx, order.partnerId);
  const days = (time: Date) =>
    [zone, "UTC"]
      .map((timeZone) => new Intl.DateTimeFormat("sv-SE", { dateStyle: "short", timeZone }).format(time))
      .sort();
  const [, last = ""] = days(await bookNow(tx, order, at));
  const [first = ""] = lostAt === null ? [] : days(lostAt);
  if (receivedOn > last) throw invalid("The day must not be in the future.");
  if (receivedOn < first) throw invalid(`The day must not be before ${first}, when the bank took the payment back.`);
}

/**
 * Refuses money that is already booked, because two people may handle the same check. A reversed booking doesn't count.
 */
function requireNew(losses: readonly OpenLoss[], { way, reference, receivedOn }: Facts): void {
  const isSame = (each: OpenLoss["bookings"][number]) =>
    each.reversedAt === null &&
    each.way === way &&
    each.reference.toLowerCase() === reference.toLowerCase() &&
    each.receivedOn === receivedOn;
  if (losses.some(({ bookings }) => bookings.some(isSame)))
    throw new ServiceError(
      "conflict",
      `Money that came ${wayText({ way, reference })} on that day is booked for this payment already.`,
    );
}

async function book(
  tx: Tx,
  order: LockedOrder,
  { payment, cents, ...facts }: Facts & { payment: number; cents: number },
  { actor, at }: By,
): Promise<void> {
  const { id: orderId, partnerId, environment, status } = order;
  const row = { ...facts, payment, cents, reverses: null, reason: null, actor };
  const id = await insert(tx, order, row, at);
  const detail = { booking: id, payment, amountCents: cents, ...facts };
  await tx.query(auditLine({ at, action: "loss.paid_outside", actor, partnerId, orderId, detail }));
  const rest = await reviseDebt(tx, order, { isReversed: false, actor, at });
  const mail = {
    moment: "loss_paid",
    cents,
    about: `loss-payment:${id}`,
    how: wayText(facts),
    isDue: rest > 0,
  } as const;
  await tellFirm(tx, order, mail);
  if (status !== "OnHold" || rest > 0) return;
  const reason = `${dollars(cents)} came ${wayText(facts)} for this order, whose payment a bank had taken back. The order is on hold: release it.`;
  await openTask(tx, { kind: "dispute", at, environment, orderId, subject: releaseSubject(orderId), reason });
}

/**
 * Reverses a booking of money that was not received, or that went back to the firm. The caller has locked the order.
 * @throws ServiceError for a booking of another order, and for one that was reversed before
 */
export async function reverseLossPayment(
  tx: Tx,
  order: LockedOrder,
  { booking: id, reason, actor, at }: { booking: number; reason: string; actor: string; at: Date },
): Promise<void> {
  const { id: orderId, partnerId } = order;
  const losses = await lostPayments(tx, [orderId]);
  const found = losses
    .flatMap(({ id: payment, bookings }) => bookings.map((each) => ({ ...each, payment })))
    .find((each) => each.id === id);
  if (!found) throw new ServiceError("not_found", "No such booking.");
  if (found.reversedAt !== null) throw new ServiceError("conflict", "This booking was reversed before.");
  const { way, reference, receivedOn, payment, cents } = found;
  await insert(tx, order, { way, reference, receivedOn, payment, cents, reverses: id, reason, actor }, at);
  const detail = { booking: id, payment, amountCents: cents, reason };
  await tx.query(auditLine({ at, action: "loss.paid_outside_reversed", actor, partnerId, orderId, detail }));
  const rest = await reviseDebt(tx, order, { isReversed: true, actor, at });
  const mail = { moment: "loss_payment_reversed", cents, about: `loss-payment:${id}`, how: wayText(found) } as const;
  await tellFirm(tx, order, { ...mail, isDue: rest > 0, why: reason });
}

type Row = Facts & { payment: number; cents: number; reverses: number | null; reason: string | null; actor: string };

/**
 * Inserts a booking or a reversal with the next number of its year. Bookings and reversals are numbered separately. The
 * row's time is never in a closed month.
 * @returns the row's id
 */
async function insert(tx: Tx, { partnerId, environment }: LockedOrder, row: Row, at: Date): Promise<number> {
  await lockBilling(tx, { partnerId, environment });
  const zone = await zoneOrDefault(tx, partnerId);
  const own = (of: Statement) => sql`${of}.partner_id = ${partnerId} AND ${of}.environment = ${environment}`;
  const series = sql`${own(sql`x`)} AND (x.reverses IS NULL) = ${row.reverses === null}`;
  const [inserted] = await tx.query<{ id: number }>(sql`
    WITH booked AS (
      SELECT greatest(${bookTime(sql`${at}::timestamptz`, { partnerId: sql`${partnerId}::uuid`, environment: sql`${environment}::text` })},
        (SELECT max(x.booked_at) FROM loss_payments x WHERE ${own(sql`x`)}), (SELECT max(d.booked_at) FROM billing_documents d WHERE ${own(sql`d`)}),
        (SELECT max(d.ends_at) FROM billing_statements d WHERE ${own(sql`d`)})) AS at
    ), dated AS (
      SELECT at, greatest(extract(year FROM at AT TIME ZONE ${zone}::text)::int, (SELECT max(x.year) FROM loss_payments x WHERE ${series})) AS year
      FROM booked
    )
    INSERT INTO loss_payments (partner_id, environment, year, number, payment_id, reverses, amount_cents, way, reference, received_on,
      reason, recorded_by, booked_at)
    SELECT ${partnerId}::uuid, ${environment}, year,
      1 + coalesce((SELECT max(x.number) FROM loss_payments x WHERE ${series} AND x.year = dated.year), 0),
      ${row.payment}::bigint, ${row.reverses}::bigint, ${row.cents}::bigint, ${row.way}, ${row.reference}, ${row.receivedOn}::date,
      ${row.reason}::text, ${row.actor}, at
    FROM dated RETURNING id`);
  if (!inserted) throw new Error("a booking has its row");
  await writeStateMacs(tx, lossPaymentState, sql`id = ${inserted.id}`);
  return inserted.id;
}
