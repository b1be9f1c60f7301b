/**
 * Overdue charges, about which the processor's event should have arrived by now. The service sends an unanswered charge
 * again, opens a task for a person, and ends a charge when a person requests it.
 */
import { requireOwnerOfMoney } from "../../../firms/members/members.ts";
import { auditLine } from "../../../kernel/audit/audit.ts";
import { actorOf, type Environment, type Owner, type Principal } from "../../../kernel/identity/identity.ts";
import { type Clock, dayMs } from "../../../kernel/platform/clock.ts";
import type { Database, Sql } from "../../../kernel/platform/database/database.ts";
import { sql } from "../../../kernel/platform/database/sql.ts";
import type { Marked } from "../../../kernel/platform/database/state-mac.ts";
import { ServiceError } from "../../../kernel/platform/errors.ts";
import { requeue } from "../../../kernel/platform/jobs/jobs.ts";
import type { Log } from "../../../kernel/platform/logs.ts";
import { isUuid } from "../../../kernel/platform/text.ts";
import { neverOpened, openTask } from "../../../kernel/tasks/tasks.ts";
import { firmChargeQueue, lockUnalteredOrders } from "../../order/order.ts";
import { currency } from "../checkout/sessions.ts";
import { accountOf, type FirmPaysDeps, wasSentElsewhere } from "../methods/methods.ts";
import type { ChargeEnd } from "../processor/charge-requests.ts";
import type { Processor } from "../processor/processor.ts";
import { reportAltered } from "../records/altered.ts";
import * as store from "../records/charges.ts";
import { selectMethod } from "../records/methods.ts";
import { endChargeTasks, notify } from "./charge-events.ts";
import { allOverdue, chargesOnPage, type OverdueCharge, overdueCharges, placeOf } from "./overdue-charges.ts";
import { eventWithinMs } from "./send-charges.ts";

/** A bank debit takes up to four business days; holidays may add more. */
const bankWithinMs = 10 * dayMs;

const overdueAt = (at: Date) => {
  const before = (ms: number) => new Date(at.getTime() - ms);
  return { sentBefore: before(eventWithinMs), bankBefore: before(bankWithinMs) };
};

/** True if the processor's answer to the charge, or its event about the charge, is overdue. */
export function isOverdueCharge(
  { state, changedAt }: Pick<store.FirmCharge, "state" | "changedAt">,
  at: Date,
): boolean {
  const { sentBefore, bankBefore } = overdueAt(at);
  return store.isOpenCharge({ state }) && changedAt < (state === "pending" ? bankBefore : sentBefore);
}

/** The state of an overdue charge, and the operator's next step. */
function overdueText({ state, sentAt, isElsewhere, pageEndsAt }: OverdueCharge, at: Date): string {
  if (isElsewhere)
    return "The charge was sent to an earlier account of the payment processor. Look for it and cancel it there; then end it here, so that its orders can be paid in another way.";
  if (state === "answered")
    return "The payment processor has the charge, and its event did not arrive. Send the event again there.";
  if (state === "pending")
    return "The bank has not answered for ten days. Ask the payment processor, or end the charge.";
  if (sentAt === null && pageEndsAt !== null && pageEndsAt > at)
    return `A payment page of its orders is open in an earlier account of the payment processor until ${pageEndsAt.toISOString().slice(0, 16).replace("T", " ")} UTC. The charge is sent after that, unless its orders are paid there.`;
  return "The charge could not be sent to the payment processor, and is tried again. End it to have its orders paid in another way.";
}

/**
 * Opens a task for each overdue charge, because its order can't be paid in another way until the charge ends. If a bank
 * has not answered a debit, mails the firm once. If the processor has not answered a charge, queues it again with the
 * same idempotency key. Live charges come first, so that charges in test can't delay them.
 */
export async function watchCharges(deps: WatchDeps, stopping?: AbortSignal): Promise<void> {
  const at = deps.clock();
  for (const environment of ["live", "test"] as const)
    for await (const overdue of allOverdue(deps.db, overdueAt(at), { environment })) {
      if (stopping?.aborted) return;
      await watchCharge(deps, overdue, at).catch((error: Error) => {
        deps.log.error({ err: error, charge: overdue.id }, "an overdue charge could not be reported");
      });
    }
}

type WatchDeps = { db: Database; clock: Clock; log: Log };

async function watchCharge({ db, log }: WatchDeps, overdue: OverdueCharge & Marked, at: Date): Promise<void> {
  const { id, orderId, environment, state, isAuthentic } = overdue;
  if (!isAuthentic) {
    log.error({ charge: id }, "a charge of a firm was altered in the database");
    const consequence = "A charge for it waits for the payment processor, and is neither sent again nor ended.";
    await db.transaction((tx) => reportAltered(tx, [overdue], { about: "charge", consequence, at }));
    return;
  }
  const task = { kind: "firm_charge", at, environment, orderId, subject: id } as const;
  await db.transaction(async (tx) => {
    // Another node that reports the same charge waits here, so that the firm is mailed once.
    const charge = await store.lockCharge(tx, id);
    if (charge?.state !== state) return;
    const isFirst = (await tx.query(sql`SELECT WHERE ${neverOpened("firm_charge", id)}`)).length === 1;
    await openTask(tx, { ...task, reason: overdueText(overdue, at) });
    if (state === "asked") await requeue(tx, firmChargeQueue, { orderId });
    if (state === "pending" && isFirst)
      await notify(tx, await store.chargesOfPayment(tx, store.paymentIdOf(charge)), "overdue", at);
  });
}

/**
 * Counts a firm's overdue payments, up to 100, and returns the ids of the orders that wait for them. Altered payments
 * are counted, but their orders are left out.
 */
export async function overdueOf(
  { db, clock }: { db: Sql; clock: Clock },
  owner: Owner,
): Promise<{ payments: number; orderIds: number[] }> {
  const overdue = await Array.fromAsync(allOverdue(db, overdueAt(clock()), owner));
  return {
    payments: overdue.length,
    orderIds: overdue.flatMap(({ isAuthentic, orderIds }) => (isAuthentic ? orderIds : [])),
  };
}

type EndDeps = { db: Database; clock: Clock; processor: Processor | null };

/** An overdue charge as operators see it. `text`: the state of the charge in words. */
type StuckCharge = OverdueCharge & { text: string };

/**
 * A page of overdue charges. `next`: the last charge of a full page, after which the next page continues; null for a
 * page that is not full.
 */
export type StuckCharges = { charges: readonly StuckCharge[]; next: string | null };

/**
 * For operators: one page of an environment's overdue charges, oldest first. Leaves out altered ones.
 * @param after the `next` of the previous page; null for the first page
 */
export async function stuckCharges(
  { db, clock }: { db: Sql; clock: Clock },
  environment: Environment,
  after: string | null = null,
): Promise<StuckCharges> {
  const at = clock();
  const place = after === null ? null : await placeOf(db, after);
  const overdue = await overdueCharges(db, overdueAt(at), { environment }, place);
  const charges = overdue.filter(({ isAuthentic }) => isAuthentic);
  return {
    charges: charges.map((each) => ({ ...each, text: overdueText(each, at) })),
    next: overdue.length < chargesOnPage ? null : (overdue.at(-1)?.id ?? null),
  };
}

const unknown = () => new ServiceError("not_found", "No such charge.");
const conflict = (message: string) => new ServiceError("conflict", `${message} Nothing was changed.`);

const refusals = {
  paid: "The payment processor has the money, and its event did not arrive yet. The order waits for the event.",
  moving: "The bank moves the money, and the payment processor can’t cancel the payment any more.",
  unclear: "The payment processor can’t tell yet whether it has a payment. Try again later.",
  foreign:
    "The payment processor doesn’t know the customer of this payment, so another account may have it. The operator of this service ends the payment after a look there.",
  elsewhere:
    "The operator of this service uses another account of the payment processor since, and ends the payment after a look at the earlier one.",
} as const;

/**
 * Ends an overdue charge, so that its order can be paid in another way. First the processor cancels the payment, or
 * makes sure that none can be made. Only then does the charge end, with all other charges of its payment. The present
 * account can't report a charge that was sent to an earlier account, so an operator must check that account.
 * @param byOperator true if an operator ends the charge; false if an owner of the firm does
 * @throws ServiceError `not_found`; `conflict` for a charge that has ended or is not overdue, that the processor can't
 * cancel, or that only an operator may end; `payments_not_configured`; `processor_failed`
 */
export async function endCharge(
  deps: EndDeps,
  { id, environment, actor }: { id: string; environment: Environment; actor: string },
  byOperator = false,
): Promise<void> {
  const { db, clock } = deps;
  const charge = isUuid(id) ? await store.selectCharge(db, id) : undefined;
  if (charge?.environment !== environment) throw unknown();
  if (!store.isOpenCharge(charge)) throw conflict("The charge has ended already.");
  if (!isOverdueCharge(charge, clock())) throw conflict("The charge is under way, and not overdue.");
  const { paymentIntent, askedAt } = charge;
  const isElsewhere = await wasSentElsewhere(deps, charge);
  if (isElsewhere && !byOperator) throw conflict(refusals.elsewhere);
  const method = await selectMethod(db, charge.methodId);
  if (!method) throw unknown();
  const paymentId = store.paymentIdOf(charge);
  const parts = await store.chargesOfPayment(db, paymentId);
  const amountCents = store.sumOfCharges(parts);
  const payment = { id: paymentId, customer: method.customer, paymentIntent, amountCents, currency };
  const asked: ChargeEnd | null = isElsewhere ? null : await accountOf(deps, charge).end(payment, askedAt);
  const isLookedUp = isElsewhere || (asked?.state === "foreign" && byOperator);
  const end: ChargeEnd = asked === null || isLookedUp ? { state: "canceled", paymentIntent } : asked;
  if (end.state !== "canceled") throw conflict(refusals[end.state]);
  await db.transaction(async (tx) => {
    const at = clock();
    // Locks only the orders that were not altered. So an altered order doesn't prevent the others from being paid in
    // another way.
    await lockUnalteredOrders(
      tx,
      parts.map(({ orderCode }) => orderCode),
    );
    const now = await store.chargesOfPayment(tx, paymentId);
    const state = now[0]?.state;
    if (state === undefined) throw unknown();
    if (state === "succeeded") throw conflict("The payment was confirmed in this moment.");
    // Does nothing if the processor's event about the cancellation arrived first and ended the charge.
    if (!store.isOpenCharge({ state })) return;
    const ended = { state: "failed", reason: store.endedByPerson } as const;
    await store.updateCharges(tx, now, { ...ended, at, paymentIntent: end.paymentIntent });
    await endChargeTasks(tx, now, { state: "done", at, by: actor, outcome: "ended" });
    for (const { id: each, partnerId, orderId } of now)
      await tx.query(
        auditLine({
          at,
          action: "charge.ended",
          actor,
          partnerId,
          orderId,
          detail: { charge: each, ...(isLookedUp && { isElsewhere: true }) },
        }),
      );
    await notify(
      tx,
      now.map((each) => ({ ...each, ...ended })),
      "failed",
      at,
    );
  });
}

/**
 * Ends an overdue charge at the request of an owner of the firm.
 * @throws ServiceError for a caller who is not an owner, and the errors of `endCharge`
 */
export async function endOwnCharge(deps: FirmPaysDeps, principal: Principal, id: string): Promise<void> {
  const { partnerId, environment } = principal;
  await deps.db.transaction(async (tx) => {
    await requireOwnerOfMoney(tx, deps, principal);
    const charge = isUuid(id) ? await store.selectCharge(tx, id) : undefined;
    if (charge?.partnerId !== partnerId) throw unknown();
  });
  await endCharge(deps, { id, environment, actor: actorOf(principal) });
}
