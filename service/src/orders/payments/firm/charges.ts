import { ownersWhoSee } from "../../../firms/members/members.ts";
import { readShownFirm } from "../../../firms/partners/partners.ts";
import { auditLine, readOrigins } from "../../../kernel/audit/audit.ts";
import { actorOf, type Principal } from "../../../kernel/identity/identity.ts";
import type { Sql, Tx } from "../../../kernel/platform/database/database.ts";
import { sql } from "../../../kernel/platform/database/sql.ts";
import { ServiceError } from "../../../kernel/platform/errors.ts";
import { newUuid } from "../../../kernel/platform/ids.ts";
import { enqueue } from "../../../kernel/platform/jobs/jobs.ts";
import { requireProof } from "../../../kernel/platform/recent-proof.ts";
import { isCode } from "../../../kernel/platform/text.ts";
import { closeTasks, openTask } from "../../../kernel/tasks/tasks.ts";
import { dollars } from "../../dollars.ts";
import {
  firmChargeQueue,
  type LockedOrder,
  lockOrder,
  type NotarySupply,
  orderPayer,
  verifiedOrders,
} from "../../order/order.ts";
import { partOf, partToCharge, paymentRefusal } from "../checkout/checkout.ts";
import { closeCheckouts, currency } from "../checkout/sessions.ts";
import { currentSessions, type Part } from "../checkout/store.ts";
import type { ChargeAnswer } from "../processor/firm-account.ts";
import type { SessionMessage } from "../processor/message.ts";
import type { Processor } from "../processor/processor.ts";
import { reportUnpaid } from "../unpaid-supplements.ts";
import { spendingRefusal } from "./limits.ts";
import { type ChargeMoment, chargeMailQueue } from "./mail.ts";
import { detachQueue, type FirmPaysDeps, requireProcessor } from "./methods.ts";
import * as store from "./store.ts";

export type ChargeDeps = FirmPaysDeps & { notarySupply: NotarySupply };

const noMethod = () =>
  new ServiceError("not_payable", "Your firm has no card or bank account on file. An owner adds one under Billing.");

/** A charge is overdue when the processor's answer or its event takes longer than this. */
export const eventWithinMs = 10 * 60_000;

const refusals = {
  left: "This person or key can’t spend for the firm any more.",
  no_limit: "An owner has not allowed you to spend. Ask an owner of your firm.",
  above_order_limit: "The sum is above your limit for one order. Ask an owner of your firm.",
  above_month_limit: "The sum is above what is left of your limit for this month. Ask an owner of your firm.",
} as const;

/**
 * Creates a charge of the firm's method, at a member's request, for an order that the firm pays. A job sends the
 * charge, and the processor's event moves the order.
 * @throws ServiceError `not_found`; `not_payable`, also above the caller's limits; the errors of `requireProof`
 */
export async function chargeByMember(deps: ChargeDeps, principal: Principal, code: string): Promise<void> {
  requireProcessor(deps, principal);
  await deps.db.transaction(async (tx) => {
    const order = isCode(code) ? await lockOrder(tx, code) : undefined;
    if (!order || order.partnerId !== principal.partnerId || order.environment !== principal.environment)
      throw new ServiceError("not_found", "Order not found.");
    requireProof(principal, deps.clock());
    if ((await orderPayer(tx, order.id)) !== "firm")
      throw new ServiceError("not_payable", "The client pays this order.");
    const refusal = await paymentRefusal(tx, deps.notarySupply, order);
    if (refusal !== null) throw new ServiceError("not_payable", refusal);
    await chargePayable(tx, deps, principal, order);
  });
}

/**
 * Creates the charge that the caller requested for a payable order, and queues it for sending.
 * @returns its id and amount
 * @throws ServiceError `not_payable` without a method on file, and above the caller's limits
 */
export async function chargePayable(
  tx: Tx,
  deps: ChargeDeps,
  principal: Principal,
  order: LockedOrder,
): Promise<{ chargeId: string; totalCents: number }> {
  const method = await store.activeMethod(tx, order);
  if (!method) throw noMethod();
  const spender = actorOf(principal);
  const { amountCents } = await partOf(tx, order);
  const limit = await spendingRefusal(tx, deps, order, { spender, amountCents });
  if (limit !== null) throw new ServiceError("not_payable", refusals[limit]);
  const chargeId = await insert(tx, order, { methodId: method.id, askedBy: spender, at: deps.clock(), reason: null });
  await enqueue(tx, firmChargeQueue, { orderId: order.id });
  return { chargeId, totalCents: amountCents };
}

type Asked = { methodId: string; askedBy: string; at: Date; reason: string | null };

/**
 * Inserts a charge that is to be sent. With `reason`, inserts a refused charge, which is never sent.
 * @returns its id
 */
async function insert(tx: Tx, order: LockedOrder, { methodId, askedBy, at, reason }: Asked): Promise<string> {
  const { id: orderId, partnerId, environment } = order;
  const { amountCents, supplementId } = await partOf(tx, order);
  const id = newUuid();
  const state = reason === null ? "asked" : "refused";
  const charge = {
    id,
    orderId,
    partnerId,
    environment,
    methodId,
    amountCents,
    supplementId,
    askedBy,
    askedAt: at,
    changedAt: at,
    state,
    reason,
  } as const;
  if (!(await store.insertCharge(tx, charge)))
    throw new ServiceError("conflict", "A payment by your firm is under way.");
  const detail = { charge: id, amountCents, ...(reason !== null && { reason }) };
  await tx.query(auditLine({ at, action: `charge.${state}`, actor: askedBy, partnerId, orderId, detail }));
  if (reason !== null) await notify(tx, { ...charge, orderCode: order.code, paymentIntent: null }, "refused", at);
  return id;
}

/**
 * Charges the firm's method for an order, once. If there is no charge yet, creates one within the limits of the person
 * or key that placed the order. After a crash, the next attempt uses the same row, so its request has the same
 * idempotency key.
 */
export async function chargeOrder(deps: ChargeDeps, orderId: number, isRepeated: boolean): Promise<void> {
  const { db, clock, processor } = deps;
  const code = await codeOf(db, orderId);
  const asked = code === undefined ? undefined : await db.transaction((tx) => reserve(tx, deps, code));
  if (code === undefined || !asked) return;
  if (!processor) throw new Error("payments are not configured: the charge waits");
  await closeCheckouts({ db, processor }, orderId);
  // The processor's idempotency keys expire after a day. A job that an operator retries later counts as a first
  // attempt. So an old charge is looked up before it is sent.
  const isOld = clock().getTime() - asked.askedAt.getTime() > eventWithinMs;
  const answer =
    (isRepeated || isOld ? await earlierAnswer(deps, processor, asked) : null) ?? (await send(deps, processor, asked));
  if (answer === null) return;
  await db.transaction(async (tx) => {
    await lockOrder(tx, code);
    const charge = await store.selectCharge(tx, asked.id);
    // The processor's event has already ended the charge.
    if (charge?.state !== "asked") return;
    const reason = answer.state === "declined" ? answer.reason : null;
    const { state, paymentIntent } = answer;
    const at = clock();
    await store.updateCharge(tx, charge.id, { state, at, paymentIntent, reason });
    if (state !== "answered") await notify(tx, charge, state === "declined" ? "failed" : "pending", at);
  });
}

/**
 * The processor's answer to an earlier attempt of the charge. This service has lost that answer. The answer counts even
 * if the charge would now be refused, because the money is already on its way.
 */
async function earlierAnswer({ db }: ChargeDeps, processor: Processor, { id, methodId, askedAt }: store.FirmCharge) {
  const method = await store.selectMethod(db, methodId);
  return method ? processor.firm.findCharge({ id, customer: method.customer }, askedAt) : null;
}

/** Sends a charge if it is still allowed. Otherwise ends the charge and returns null. */
async function send(deps: ChargeDeps, processor: Processor, asked: store.FirmCharge): Promise<ChargeAnswer | null> {
  const { id, orderCode, environment, partnerId, amountCents } = asked;
  const ready = await deps.db.transaction((tx) => confirm(tx, deps, orderCode, asked));
  if (!ready) return null;
  const { name: firmName } = await readShownFirm(deps.db, partnerId);
  return processor.firm.charge({ id, orderCode, environment, firmName, ...ready, amountCents, currency });
}

async function codeOf(db: Sql, orderId: number): Promise<string | undefined> {
  const [found] = await db.query<{ code: string }>(
    sql`SELECT code AS "code@order", ${verifiedOrders} FROM orders WHERE id = ${orderId}`,
  );
  return found?.code;
}

/**
 * The charge to send; undefined when there is none. An order, or a supplement, gets a charge automatically only once.
 */
async function reserve(tx: Tx, deps: ChargeDeps, code: string): Promise<store.FirmCharge | undefined> {
  const order = await lockOrder(tx, code);
  if (!order || (await orderPayer(tx, order.id)) !== "firm") return undefined;
  const earlier = await store.chargesOfOrder(tx, order.id);
  const asked = earlier.find(({ state }) => state === "asked");
  if (asked) return asked;
  const part = await partToCharge(tx, order);
  if (!part || earlier.some((each) => each.supplementId === part.supplementId)) return undefined;
  if ((await paymentRefusal(tx, deps.notarySupply, order)) !== null) return undefined;
  const at = deps.clock();
  const method = await store.activeMethod(tx, order);
  const spender = (await readOrigins(tx, deps.rowMac, [order.id])).get(order.id)?.placedBy;
  if (!method || !spender || !/^(?:member|key):/.test(spender)) return leaveToCheckout(tx, order, part, at);
  const reason = await spendingRefusal(tx, deps, order, { spender, amountCents: part.amountCents });
  // A key without a spending limit can place orders, but can't charge the firm's payment method. The firm pays such an
  // order at a checkout, like a firm without a payment method.
  if (reason === "no_limit" && spender.startsWith("key:")) return leaveToCheckout(tx, order, part, at);
  await insert(tx, order, { methodId: method.id, askedBy: spender, at, reason });
  return (await store.chargesOfOrder(tx, order.id)).find(({ state }) => state === "asked");
}

/**
 * Leaves the payment to a checkout that the firm opens. For a supplement, the firm expects no checkout and gets no
 * mail. So a task asks an operator to contact the firm, or to buy the label anyway.
 */
async function leaveToCheckout(
  tx: Tx,
  { id: orderId, environment, isRush }: LockedOrder,
  { amountCents, supplementId }: Part,
  at: Date,
): Promise<undefined> {
  if (supplementId === null) return;
  const reason = `The firm pays this order, and ${dollars(amountCents)} more is due for its postage. No card or bank account can be charged: ask the firm to open the checkout, or buy the label anyway.`;
  await openTask(tx, { kind: "postage_dearer", at, environment, orderId, isRush, reason });
}

type Ready = { customer: string; method: string; kind: "card" | "bank" };

/** Checks all conditions again just before the request to the processor. Ends a charge that is no longer allowed. */
async function confirm(tx: Tx, deps: ChargeDeps, code: string, { id }: store.FirmCharge): Promise<Ready | null> {
  const order = await lockOrder(tx, code);
  const charge = await store.selectCharge(tx, id);
  if (!order || charge?.state !== "asked") return null;
  const found = await store.selectMethod(tx, charge.methodId);
  const { method, kind, customer } = found ?? {};
  const isUsable = found?.state === "active" && method != null && kind != null && customer !== undefined;
  const reason = await reasonAgainst(tx, deps, order, charge);
  if (reason === null && isUsable) return { customer, method, kind };
  const ended = { state: "refused", at: deps.clock(), reason: reason ?? "method_removed" } as const;
  await store.updateCharge(tx, id, ended);
  const end = { state: "done", at: ended.at, by: "system", outcome: "the charge was not sent" } as const;
  await closeTasks(tx, { orderId: charge.orderId, kinds: ["firm_charge"] }, end);
  await notify(tx, { ...charge, ...ended }, "refused", ended.at);
  return null;
}

async function reasonAgainst(
  tx: Tx,
  deps: ChargeDeps,
  order: LockedOrder,
  { id, amountCents, supplementId, askedBy: spender }: store.FirmCharge,
): Promise<string | null> {
  const due = await partOf(tx, order);
  if (due.amountCents !== amountCents || due.supplementId !== supplementId) return "price_changed";
  if ((await paymentRefusal(tx, deps.notarySupply, order, id)) !== null) return "not_payable";
  const limit = await spendingRefusal(tx, deps, order, { spender, amountCents, except: id });
  if (limit !== null) return limit;
  // The checkouts were closed before this. So a session that is still open was paid in the meantime.
  return (await currentSessions(tx, [order.id])).length > 0 ? "paid_by_checkout" : null;
}

/**
 * Updates a charge's row after a signed event about it. The caller has locked the order, and applies the event to it.
 * @returns the charge's state before the event; undefined for an unknown charge
 */
export async function takeCharge(
  tx: Tx,
  { chargeId, kind, paymentIntent, reason }: SessionMessage,
  { at, actor }: { at: Date; actor: string },
): Promise<store.ChargeState | undefined> {
  const charge = chargeId === null ? undefined : await store.selectCharge(tx, chargeId);
  if (!charge) return undefined;
  const { id, state: before, orderId } = charge;
  const state = kind === "cleared" ? "succeeded" : kind === "pending" ? "pending" : "failed";
  // Events arrive late and in any order. A success is final. After a failure, only a success counts.
  const isOver = before === "succeeded" || (before === "failed" && kind !== "cleared");
  if (isOver || (state === "pending" && (before === "declined" || before === "refused"))) return before;
  await store.updateCharge(tx, id, { state, at, paymentIntent, reason: state === "failed" ? reason : null });
  // `notify` queues this for a charge that failed.
  if (state === "succeeded") await enqueue(tx, detachQueue, { id: charge.methodId });
  if (state !== "pending")
    await closeTasks(tx, { orderId, kinds: ["firm_charge"] }, { state: "done", at, by: actor, outcome: state });
  if (state === "failed" && before !== "declined") await notify(tx, charge, "failed", at);
  if (state === "pending" && before !== "pending") await notify(tx, charge, "pending", at);
  return before;
}

/**
 * Mails the firm's owners and the member who requested the charge. For a supplement that was not charged, also opens a
 * task, because the parcel waits. A method that was removed during the charge is forgotten at the processor.
 */
export async function notify(
  tx: Tx,
  { id, askedBy, ...charge }: store.FirmCharge,
  moment: ChargeMoment,
  at: Date,
): Promise<void> {
  const { supplementId, amountCents, methodId } = charge;
  if (moment !== "pending") await enqueue(tx, detachQueue, { id: methodId });
  if (supplementId !== null && moment !== "pending") {
    const why = "the firm’s card or bank account was not charged";
    await reportUnpaid(tx, charge, { supplementId, amountCents, why, at });
  }
  const owners = await ownersWhoSee(tx, charge);
  const [kind, placer = ""] = askedBy.split(":");
  const people = new Set(kind === "member" ? [placer, ...owners] : owners);
  for (const userId of people) await enqueue(tx, chargeMailQueue, { id, moment, userId });
}
