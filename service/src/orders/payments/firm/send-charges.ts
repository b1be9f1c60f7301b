/** The job that sends charges of a firm's card or bank account to the processor. */
import { readShownFirm } from "../../../firms/partners/partners.ts";
import { readOrigins } from "../../../kernel/audit/audit.ts";
import type { Sql, Tx } from "../../../kernel/platform/database/database.ts";
import { sql } from "../../../kernel/platform/database/sql.ts";
import { openTask } from "../../../kernel/tasks/tasks.ts";
import { dollars } from "../../dollars.ts";
import { type LockedOrder, lockOrders, orderPayer, verifiedOrders } from "../../order/order.ts";
import { partOf, partToCharge, paymentRefusal } from "../checkout/checkout.ts";
import { closeCheckouts, currency } from "../checkout/sessions.ts";
import { currentSessions, type Part } from "../checkout/store.ts";
import type { ChargeAnswer } from "../processor/firm-account.ts";
import type { Processor } from "../processor/processor.ts";
import { endChargeTasks, notify } from "./charge-events.ts";
import * as charges from "./charge-store.ts";
import { amountsOf, type ChargeDeps, insertPayment, type OrderPart } from "./charges.ts";
import { spendingRefusal } from "./limits.ts";
import { activeMethod, selectMethod } from "./store.ts";
import { takeFailedDebit } from "./unusable.ts";

/** A charge is overdue when the processor's answer or its event takes longer than this. */
export const eventWithinMs = 10 * 60_000;

/** The charges of one payment: at least one. */
type Payment = readonly [charges.FirmCharge, ...charges.FirmCharge[]];

/** The payload of the job: the order to charge, or the orders that one payment is to pay. */
export type ChargeJob = { orderId: number } | { orderIds: readonly number[] };

/**
 * Charges the firm's method for orders, once. Orders that have no charge yet get one payment together, within the
 * limits of the person or key that placed them. After a crash, the next attempt uses the same rows, so its request has
 * the same idempotency key.
 */
export async function sendCharges(deps: ChargeDeps, job: ChargeJob, isRepeated: boolean): Promise<void> {
  const codes = await codesOf(deps.db, "orderIds" in job ? job.orderIds : [job.orderId]);
  const payments = await deps.db.transaction((tx) => reserve(tx, deps, codes));
  for (const payment of payments) await sendPayment(deps, payment, isRepeated);
}

async function sendPayment(deps: ChargeDeps, payment: Payment, isRepeated: boolean): Promise<void> {
  const { db, clock, processor } = deps;
  const [first] = payment;
  if (!processor) throw new Error("payments are not configured: the charge waits");
  for (const { orderId } of payment) await closeCheckouts({ db, processor }, orderId);
  // The processor's idempotency keys expire after a day. A job that an operator retries later counts as a first
  // attempt. So an old charge is looked up before it is sent.
  const isOld = clock().getTime() - first.askedAt.getTime() > eventWithinMs;
  const answer =
    (isRepeated || isOld ? await earlierAnswer(deps, processor, first) : null) ??
    (await send(deps, processor, payment));
  if (answer === null) return;
  await db.transaction(async (tx) => {
    await lockOrders(tx, codesIn(payment));
    const now = await charges.chargesOfPayment(tx, charges.paymentIdOf(first));
    // The processor's event has already ended the charge.
    if (now[0]?.state !== "asked") return;
    const reason = answer.state === "declined" ? answer.reason : null;
    const { state, paymentIntent } = answer;
    const at = clock();
    await charges.updateCharges(tx, now, { state, at, paymentIntent, reason });
    await takeFailedDebit(tx, await selectMethod(tx, first.methodId), reason, { at, actor: "processor" });
    if (state !== "answered") await notify(tx, now, state === "declined" ? "failed" : "pending", at);
  });
}

const codesIn = (payment: readonly charges.FirmCharge[]): string[] => payment.map(({ orderCode }) => orderCode);

/**
 * The processor's answer to an earlier attempt of the payment. This service has lost that answer. The answer counts
 * even if the payment would now be refused, because the money is already on its way.
 */
async function earlierAnswer({ db }: ChargeDeps, processor: Processor, first: charges.FirmCharge) {
  const method = await selectMethod(db, first.methodId);
  const id = charges.paymentIdOf(first);
  return method ? processor.firm.findCharge({ id, customer: method.customer }, first.askedAt) : null;
}

/** Sends a payment if it is still allowed. Otherwise ends it and returns null. */
async function send(deps: ChargeDeps, processor: Processor, payment: Payment): Promise<ChargeAnswer | null> {
  const ready = await deps.db.transaction((tx) => confirm(tx, deps, payment));
  if (!ready) return null;
  const [first] = payment;
  const { environment, partnerId } = first;
  const { name: firmName } = await readShownFirm(deps.db, partnerId);
  const id = charges.paymentIdOf(first);
  const amountCents = charges.sumOfCharges(payment);
  return processor.firm.charge({
    ...{ id, orderCodes: codesIn(payment), environment, firmName, ...ready, amountCents, currency },
  });
}

async function codesOf(db: Sql, orderIds: readonly number[]): Promise<string[]> {
  const found = await db.query<{ code: string }>(sql`
    SELECT code AS "code@order", ${verifiedOrders} FROM orders WHERE id = ANY (${orderIds}::bigint[]) ORDER BY id`);
  return found.map(({ code }) => code);
}

/**
 * The payments to send, each with its charges. An order, or a supplement, is charged automatically only once. The
 * orders that can be charged now are charged together, if the same person or key placed them.
 */
async function reserve(tx: Tx, deps: ChargeDeps, codes: readonly string[]): Promise<Payment[]> {
  const payments = new Set<string>();
  const due: OrderPart[] = [];
  for (const order of await lockOrders(tx, codes)) {
    if ((await orderPayer(tx, order.id)) !== "firm") continue;
    const earlier = await charges.chargesOfOrder(tx, order.id);
    const asked = earlier.find(({ state }) => state === "asked");
    if (asked) payments.add(charges.paymentIdOf(asked));
    const part = asked ? undefined : await partToCharge(tx, order);
    if (!part || earlier.some((each) => each.supplementId === part.supplementId)) continue;
    if ((await paymentRefusal(tx, deps.notarySupply, order)) === null) due.push({ order, part });
  }
  const origins = await readOrigins(
    tx,
    deps.rowMac,
    due.map(({ order }) => order.id),
  );
  const byPlacer = Map.groupBy(due, ({ order }) => origins.get(order.id)?.placedBy);
  for (const [placer, parts] of byPlacer) {
    const paymentId = await reserveParts(tx, deps, placer ?? null, parts);
    if (paymentId !== null) payments.add(paymentId);
  }
  const found: Payment[] = [];
  for (const id of payments) {
    const [first, ...others] = await charges.chargesOfPayment(tx, id);
    if (first?.state === "asked") found.push([first, ...others]);
  }
  return found;
}

/** Inserts one payment of orders that the same person or key placed. @returns null when a checkout is to pay them */
async function reserveParts(
  tx: Tx,
  deps: ChargeDeps,
  spender: string | null,
  parts: readonly OrderPart[],
): Promise<string | null> {
  const [first] = parts;
  if (!first) return null;
  const at = deps.clock();
  const method = await activeMethod(tx, first.order);
  if (!method || !spender || !/^(?:member|key):/.test(spender)) return leaveToCheckout(tx, parts, at);
  const refusal = await spendingRefusal(tx, deps, first.order, { spender, amounts: amountsOf(parts) });
  // A key without a spending limit can place orders, but can't charge the firm's payment method. The firm pays such an
  // order at a checkout, like a firm without a payment method.
  if (refusal?.reason === "no_limit" && spender.startsWith("key:")) return leaveToCheckout(tx, parts, at);
  const asked = { methodId: method.id, askedBy: spender, at, reason: refusal?.reason ?? null };
  return (await insertPayment(tx, parts, asked)).paymentId;
}

/**
 * Leaves the payment to a checkout that the firm opens. For a supplement, the firm expects no checkout and gets no
 * mail. So a task asks an operator to contact the firm, or to buy the label anyway.
 */
async function leaveToCheckout(tx: Tx, parts: readonly OrderPart[], at: Date): Promise<null> {
  for (const { order, part } of parts) {
    const { id: orderId, environment, isRush } = order;
    const reason = `The firm pays this order, and ${dollars(part.amountCents)} more is due for its postage. No card or bank account can be charged: ask the firm to open the checkout, or buy the label anyway.`;
    if (part.supplementId !== null)
      await openTask(tx, { kind: "postage_dearer", at, environment, orderId, isRush, reason });
  }
  return null;
}

type Ready = { customer: string; method: string; kind: "card" | "bank" };

/**
 * Checks all conditions again just before the request to the processor. Ends a payment that is no longer allowed: all
 * of its charges, even if the reason concerns only one of its orders, because the caller approved this sum.
 */
async function confirm(tx: Tx, deps: ChargeDeps, payment: Payment): Promise<Ready | null> {
  const orders = await lockOrders(tx, codesIn(payment));
  const now = await charges.chargesOfPayment(tx, charges.paymentIdOf(payment[0]));
  const [first] = now;
  if (first?.state !== "asked" || now.length !== orders.length) return null;
  const found = await selectMethod(tx, first.methodId);
  const { method, kind, customer } = found ?? {};
  const isUsable = found?.state === "active" && method != null && kind != null && customer !== undefined;
  const reason = await reasonAgainst(tx, deps, orders, now);
  if (reason === null && isUsable) return { customer, method, kind };
  const at = deps.clock();
  const unusable = found?.state === "unusable" ? "method_unusable" : "method_removed";
  const ended = { state: "refused", reason: reason ?? unusable } as const;
  await charges.updateCharges(tx, now, { ...ended, at });
  await endChargeTasks(tx, now, { state: "done", at, by: "system", outcome: "the charge was not sent" });
  await notify(
    tx,
    now.map((each) => ({ ...each, ...ended })),
    "refused",
    at,
  );
  return null;
}

async function reasonAgainst(
  tx: Tx,
  deps: ChargeDeps,
  orders: readonly LockedOrder[],
  payment: readonly charges.FirmCharge[],
): Promise<string | null> {
  const byOrder = new Map(payment.map((charge) => [charge.orderId, charge]));
  for (const order of orders) {
    const charge = byOrder.get(order.id);
    const due: Part = await partOf(tx, order);
    if (due.amountCents !== charge?.amountCents || due.supplementId !== charge.supplementId) return "price_changed";
    if ((await paymentRefusal(tx, deps.notarySupply, order, charge.id)) !== null) return "not_payable";
  }
  const [first] = payment;
  if (!first) return "not_payable";
  const amounts = payment.map(({ amountCents }) => amountCents);
  const own = { spender: first.askedBy, amounts, except: payment.map(({ id }) => id) };
  const limit = await spendingRefusal(tx, deps, first, own);
  if (limit !== null) return limit.reason;
  // The checkouts were closed before this. So a session that is still open was paid in the meantime.
  const open = await currentSessions(
    tx,
    orders.map(({ id }) => id),
  );
  return open.length > 0 ? "paid_by_checkout" : null;
}
