/** The job that sends charges of a firm's card or bank account to the processor. */
import { readShownFirm } from "../../../firms/partners/partners.ts";
import { readOrigins } from "../../../kernel/audit/audit.ts";
import { minuteMs } from "../../../kernel/platform/clock.ts";
import type { Sql, Tx } from "../../../kernel/platform/database/database.ts";
import { sql } from "../../../kernel/platform/database/sql.ts";
import { fromOrders, lockUnalteredOrders, orderPayer, wasPricedByPerson } from "../../order/order.ts";
import { partToCharge } from "../checkout/checkout.ts";
import { paymentRefusal } from "../checkout/refusals.ts";
import { closeCheckouts, currency, OpenElsewhere } from "../checkout/sessions.ts";
import { tellFirm, tellOfPostage } from "../mails/money-mail.ts";
import { accountOf, wasSentElsewhere } from "../methods/methods.ts";
import { applyFailedDebit } from "../methods/unusable.ts";
import { presentAccount } from "../processor/account.ts";
import type { ChargeAnswer } from "../processor/charge-requests.ts";
import type { FirmAccount } from "../processor/firm-account.ts";
import { type AlteredOrder, isSound, lockSorted, reportAltered } from "../records/altered.ts";
import * as charges from "../records/charges.ts";
import { activeMethod, selectMethod } from "../records/methods.ts";
import { endChargeTasks, notify } from "./charge-events.ts";
import { amountsOf, type ChargeDeps, insertPayment, type OrderPart } from "./charges.ts";
import { confirm, endPayment, type Payment, type Unsettled } from "./confirm-charge.ts";
import { spendingRefusal } from "./limits.ts";

/**
 * A charge is overdue when the processor's answer, or the event after the answer, takes longer than this. A bank has
 * more time.
 */
export const eventWithinMs = 10 * minuteMs;

/**
 * The payload of the job: the order to charge, or the orders that one payment is to pay. `methodId`: the only method
 * that may be charged, because the web form showed it. Null if nobody agreed to a charge. Without `methodId`, the
 * firm's active method is charged.
 */
export type ChargeJob = ({ orderId: number } | { orderIds: readonly number[] }) & { methodId?: string | null };

/**
 * Charges the firm's method for orders, once. Orders without a charge share a payment if the same member or key placed
 * them. The spending limits of that member or key apply. The charges are stored first, so a retry after a crash sends
 * the same idempotency key. A failed payment doesn't stop the others.
 */
export async function sendCharges(deps: ChargeDeps, job: ChargeJob, isRepeated: boolean): Promise<void> {
  const payments = await deps.db.transaction((tx) => reserve(tx, deps, job));
  // Nobody agreed to a charge, so this job sends nothing. A payment that a person requested since has a job of its own.
  if (job.methodId === null) return;
  const failures: unknown[] = [];
  for (const payment of payments)
    await sendPayment(deps, payment, isRepeated).catch((error: unknown) => failures.push(error));
  // Throws another error than `OpenElsewhere` if there is one, because a retry may succeed within minutes.
  // `OpenElsewhere` lasts until a checkout page expires, which can take hours.
  if (failures.length > 0) throw failures.find((error) => !(error instanceof OpenElsewhere)) ?? failures[0];
}

async function sendPayment(deps: ChargeDeps, payment: Payment, isRepeated: boolean): Promise<void> {
  const { db, clock } = deps;
  const [first] = payment;
  const account = accountOf(deps, first);
  // The charge was sent through an earlier account, and only that account can have the payment. That account's event or
  // an operator ends the charge.
  if (await wasSentElsewhere(deps, first)) return;
  for (const { orderId } of payment) await closeCheckouts(deps, orderId);
  // Looks up a charge that may have been sent before, because the processor's idempotency keys expire after a day. An
  // old charge is also looked up: an operator's retry is not marked as repeated, and earlier releases did not store
  // `sentAt`.
  const isOld = clock().getTime() - first.askedAt.getTime() > eventWithinMs;
  const maySent = isRepeated || isOld || first.sentAt !== null;
  const answer =
    (maySent ? await earlierAnswer(deps, account, first) : null) ?? (await send(deps, account, payment, maySent));
  if (answer === null) return;
  const at = clock();
  await db.transaction((tx) => record(tx, payment, answer, at));
}

/** Records the processor's answer, unless its event has already ended the payment. */
async function record(tx: Tx, payment: Payment, answer: ChargeAnswer, at: Date): Promise<void> {
  // Records the answer even if one of the orders was altered in the meantime.
  await lockUnalteredOrders(tx, codesIn(payment));
  const now = await charges.chargesOfPayment(tx, charges.paymentIdOf(payment[0]));
  const { state, paymentIntent } = answer;
  const reason = state === "declined" ? answer.reason : null;
  await explainFailure(tx, now, reason, at);
  if (now[0]?.state !== "asked") return;
  await charges.updateCharges(tx, now, { state, at, paymentIntent, reason });
  await applyFailedDebit(tx, await selectMethod(tx, payment[0].methodId), reason, { at, actor: "processor" });
  // The processor may decline without creating a payment. Then no event follows that would end the task about the
  // overdue charge.
  if (state === "declined") await endChargeTasks(tx, now, { state: "done", at, by: "processor", outcome: state });
  if (state !== "answered") await notify(tx, now, state === "declined" ? "failed" : "pending", at);
}

/**
 * Stores the reason from the processor's answer, if an event without a reason has failed the payment before the answer
 * arrived.
 */
async function explainFailure(
  tx: Tx,
  payment: readonly charges.FirmCharge[],
  reason: string | null,
  at: Date,
): Promise<void> {
  const [first] = payment;
  if (reason === null || first?.state !== "failed" || first.reason !== null) return;
  await charges.updateCharges(tx, payment, { state: "failed", at, reason });
  await applyFailedDebit(tx, await selectMethod(tx, first.methodId), reason, { at, actor: "processor" });
}

const codesIn = (payment: readonly charges.FirmCharge[]): string[] => payment.map(({ orderCode }) => orderCode);

/**
 * The processor's answer to an earlier attempt of the payment, if this service has lost that answer. It is recorded
 * even if the payment would now be refused, because the money is already moving.
 */
async function earlierAnswer({ db }: ChargeDeps, account: FirmAccount, first: charges.FirmCharge) {
  const method = await selectMethod(db, first.methodId);
  const id = charges.paymentIdOf(first);
  return method ? account.findCharge({ id, customer: method.customer }, first.askedAt) : null;
}

/** Sends a payment if it is still allowed. Otherwise ends it and returns null. */
async function send(
  deps: ChargeDeps,
  account: FirmAccount,
  payment: Payment,
  maySent: boolean,
): Promise<ChargeAnswer | null> {
  const present = payment[0].environment === "live" ? await presentAccount(deps) : null;
  const confirmed = await deps.db.transaction((tx) => confirm(tx, deps, payment, { maySent, present }));
  if (confirmed === null) return null;
  if ("reason" in confirmed) return settle(deps, account, payment, confirmed);
  const [first] = payment;
  const { environment, partnerId } = first;
  const { name: firmName } = await readShownFirm(deps.db, partnerId);
  const id = charges.paymentIdOf(first);
  const amountCents = charges.sumOfCharges(payment);
  return account.charge({
    id,
    orderCodes: codesIn(payment),
    environment,
    firmName,
    ...confirmed,
    amountCents,
    currency,
  });
}

/**
 * Ends a payment that is no longer allowed but was already sent without an answer. Only the processor knows whether it
 * has the payment. Until the processor has canceled it, or made sure that there is none, the payment stays open: its
 * orders can't be paid in another way.
 * @returns the processor's answer when it is too late to cancel; null when the payment has ended
 */
async function settle(
  deps: ChargeDeps,
  account: FirmAccount,
  payment: Payment,
  { customer, reason }: Unsettled,
): Promise<ChargeAnswer | null> {
  const [first] = payment;
  const id = charges.paymentIdOf(first);
  const { paymentIntent } = first;
  const amountCents = charges.sumOfCharges(payment);
  const end = await account.end({ id, customer, paymentIntent, amountCents, currency }, first.askedAt);
  if (end.state === "unclear" || end.state === "foreign")
    throw new Error("the processor can't tell yet whether it has the payment: it stays open");
  if (end.state !== "canceled")
    return { state: end.state === "paid" ? "answered" : "pending", paymentIntent: end.paymentIntent };
  await deps.db.transaction(async (tx) => {
    await lockUnalteredOrders(tx, codesIn(payment));
    const now = await charges.chargesOfPayment(tx, id);
    const at = deps.clock();
    await explainFailure(tx, now, reason, at);
    if (now[0]?.state !== "asked") return;
    await endPayment(tx, now, { state: "failed", reason, at, paymentIntent: end.paymentIntent });
  });
  return null;
}

/**
 * Finds orders by their ids without verifying their MACs, because an altered order must not stop the charges of the
 * others.
 */
const ordersById = (db: Sql, ids: readonly number[]) =>
  db.query<AlteredOrder>(sql`
    SELECT o.id AS "orderId", o.code AS "orderCode@order" ${fromOrders} WHERE o.id = ANY (${ids}::bigint[]) ORDER BY o.id`);

/**
 * The payments to send, each with its charges. An order is charged automatically only once. Orders that the same person
 * or key placed for the same firm share a payment: limits are per person, and a method is per firm. Leaves out
 * supplements, and orders that a client pays or that a person priced. Opens a task for an altered order.
 */
async function reserve(tx: Tx, deps: ChargeDeps, job: ChargeJob): Promise<Payment[]> {
  const orderIds = "orderIds" in job ? job.orderIds : [job.orderId];
  const payments = new Set<string>();
  const due: OrderPart[] = [];
  const all = await ordersById(tx, orderIds);
  const { orders } = await lockSorted(tx, all);
  const altered: AlteredOrder[] = [];
  for (const each of all) {
    const order = orders.find(({ id }) => id === each.orderId);
    let isAsked = false;
    const isUnaltered = await isSound(
      (async () => {
        if (order && (await orderPayer(tx, order.id)) !== "firm") return;
        const earlier = await charges.chargesOfOrder(tx, each.orderId);
        const asked = earlier.find(({ state }) => state === "asked");
        isAsked = asked !== undefined;
        // Includes a requested payment even if one of its orders was altered. The job then ends that payment instead of
        // sending it.
        if (asked) payments.add(charges.paymentIdOf(asked));
        const part = asked || !order ? undefined : await partToCharge(tx, order);
        // An order of $0.00 is completed at its checkout.
        if (
          !order ||
          !part ||
          part.amountCents === 0 ||
          earlier.some(({ supplementId }) => supplementId === part.supplementId)
        )
          return;
        if ((await paymentRefusal(tx, deps.notarySupply, order)) !== null) return;
        // The firm may not have seen this amount: postage for a corrected address, or a price that a person set. So the
        // firm only gets a mail about it. A member or a key must request the charge.
        if (part.supplementId !== null) return tellOfPostage(tx, order, { ...part, id: part.supplementId });
        if (await wasPricedByPerson(tx, order.id))
          return tellFirm(tx, order, { moment: "priced", cents: part.amountCents, about: "price" });
        due.push({ order, part });
      })(),
    );
    if (!isUnaltered || (!order && !isAsked)) altered.push(each);
  }
  for (const [placer, parts] of await byPlacer(tx, deps, due)) {
    // `isSound` is also false if the firm's method, its limits or its time zone were altered.
    const isUnaltered = await isSound(
      reserveParts(tx, deps, { spender: placer, shown: job.methodId }, parts).then(
        (id) => void (id !== null && payments.add(id)),
      ),
    );
    if (!isUnaltered) altered.push(...parts.map(({ order: { id, code } }) => ({ orderId: id, orderCode: code })));
  }
  const consequence =
    "The firm was not charged for it, and no job charges it later. When the record is as it was, ask the firm to charge the order on its page, or to open its checkout.";
  await reportAltered(tx, altered, { about: "charge", consequence, at: deps.clock() });
  const found: Payment[] = [];
  for (const id of payments) {
    const [first, ...others] = await charges.chargesOfPayment(tx, id);
    if (first?.state === "asked") found.push([first, ...others]);
  }
  return found;
}

/** Groups the orders into payments: the orders that the same person or key placed for the same firm share a payment. */
async function byPlacer(
  tx: Tx,
  { rowMac }: ChargeDeps,
  due: readonly OrderPart[],
): Promise<(readonly [placer: string | null, parts: readonly OrderPart[]])[]> {
  const origins = await readOrigins(
    tx,
    rowMac,
    due.map(({ order }) => order.id),
  );
  const placerOf = ({ order }: OrderPart) => origins.get(order.id)?.placedBy ?? null;
  const groups = Map.groupBy(due, (each) => {
    const { partnerId, environment } = each.order;
    return [partnerId, environment, placerOf(each)].join(" ");
  });
  return [...groups.values()].map((parts) => [parts[0] ? placerOf(parts[0]) : null, parts]);
}

/**
 * Inserts one payment of orders that the same person or key placed. Inserts it as refused when it may not be charged.
 * @param shown the job's `methodId`
 * @returns the payment's id; null when neither a member nor a key placed the orders, so that a checkout pays them
 */
async function reserveParts(
  tx: Tx,
  deps: ChargeDeps,
  { spender, shown }: { spender: string | null; shown: string | null | undefined },
  parts: readonly OrderPart[],
): Promise<string | null> {
  const [first] = parts;
  if (!first) return null;
  const at = deps.clock();
  const method = await activeMethod(tx, first.order);
  if (!spender || !/^(?:member|key):/.test(spender)) return null;
  // Charges nothing if a colleague has replaced or removed the method since the web form showed it.
  if (shown && shown !== method?.id) {
    const reason = method ? "method_changed" : "method_removed";
    return (await insertPayment(tx, parts, { methodId: shown, askedBy: spender, at, reason })).paymentId;
  }
  if (!method)
    return (await insertPayment(tx, parts, { methodId: null, askedBy: spender, at, reason: "no_method" })).paymentId;
  const refusal = await spendingRefusal(tx, deps, first.order, { spender, amounts: amountsOf(parts) });
  const reason = refusal?.reason ?? (shown === null ? "not_agreed" : null);
  return (await insertPayment(tx, parts, { methodId: method.id, askedBy: spender, at, reason })).paymentId;
}
