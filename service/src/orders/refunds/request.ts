import {
  type Operator,
  requirePasskeyOf,
  requirePermission,
  requireRefusedByAnother,
  requireSecondPerson,
  requireText,
} from "../../firms/operators/operators.ts";
import { auditLine } from "../../kernel/audit/audit.ts";
import type { Sql, Tx } from "../../kernel/platform/database/database.ts";
import { invalid, ServiceError } from "../../kernel/platform/errors.ts";
import { enqueue } from "../../kernel/platform/jobs/jobs.ts";
import { isUuid } from "../../kernel/platform/text.ts";
import { closeTasks } from "../../kernel/tasks/tasks.ts";
import { perform } from "../fulfilment/fulfilment.ts";
import type { LockedOrder } from "../order/order.ts";
import { unappliedOf } from "../payments/payments.ts";
import { type PartRequest, partRefundQueue, requestPartRefund } from "./part.ts";
import {
  heldFor,
  isWithin,
  lockShown,
  type RefundDeps,
  refusalByHand,
  refusalOf,
  requirePersonOfRefund,
} from "./rules.ts";
import * as store from "./store.ts";
import { dollarsOf, writeRequest } from "./write-request.ts";

export type { RefundRequest } from "./store.ts";

const unknown = () => new ServiceError("not_found", "No such refund request.");

/**
 * A refund request of the environment that the operator has chosen.
 * @throws ServiceError for a request that is unknown, or in the other environment
 */
export async function refundOf(
  { db }: { db: Sql },
  { environment }: Operator,
  id: string,
): Promise<store.RefundRequest> {
  const found = isUuid(id) ? await store.selectRequest(db, id, environment) : undefined;
  if (!found) throw unknown();
  return found;
}

/** The open refund requests, at most 200, and the 50 requests that ended last. Leaves out altered ones. */
export async function listRefunds({ db }: { db: Sql }, { environment }: Operator) {
  const [open, ended] = await Promise.all([store.selectOpen(db, environment), store.selectEnded(db, environment)]);
  return { open, ended };
}

/** Closes the task about a refund that the firm wants, because an operator has now requested it. */
const endAsked = (tx: Tx, orderId: number, by: string, at: Date) =>
  closeTasks(tx, { orderId, kinds: ["refund_asked"] }, { state: "done", at, by, outcome: "a refund was requested" });

/**
 * Requests a refund of all held payments of an order or, if the order is to continue, of a part. As a rule, another
 * operator decides.
 * @returns the request's id
 * @throws ServiceError without the permission or a reason; for an order that can't be refunded or has an open request;
 * and for an amount equal to all that is held, because only a refund without an amount ends the order
 */
export async function requestRefund(
  { db, clock }: RefundDeps,
  operator: Operator,
  { code, reason: typed, amountCents = null }: { code: string; reason: string; amountCents?: number | null },
): Promise<string> {
  requirePermission(operator, ["refunds.request"]);
  const requestedBy = requirePersonOfRefund(operator);
  const reason = requireText("reason", typed);
  if (amountCents !== null && amountCents < 1) throw invalid("Amount must be above zero.");
  return db.transaction(async (tx) => {
    const at = clock();
    const order = await lockShown(tx, operator, code);
    const payments = await heldFor(tx, order.id);
    const refusal = await refusalOf(tx, order, payments);
    if (refusal !== null) throw new ServiceError("conflict", refusal);
    const request = { reason, requestedBy, actor: operator.actor, at };
    const id =
      amountCents === null
        ? await writeRequest(tx, order, { ...request, payments, isPart: false })
        : await requestPart(tx, order, payments, { ...request, amountCents });
    await endAsked(tx, order.id, operator.actor, at);
    return id;
  });
}

async function requestPart(
  tx: Tx,
  order: LockedOrder,
  held: readonly store.Held[],
  request: PartRequest,
): Promise<string> {
  if (request.amountCents === dollarsOf(held))
    throw new ServiceError(
      "conflict",
      "This is all the money that is held for the order. Leave the amount empty to refund it, which ends the order.",
    );
  const part = await requestPartRefund(tx, order, request);
  if ("refusal" in part) throw new ServiceError("conflict", part.refusal);
  return part.requestId;
}

/**
 * Requests a refund of a payment that was not used to pay its order. The order does not move. As a rule, another
 * operator decides.
 * @returns the request's id
 * @throws ServiceError without the permission or a reason, for an unknown payment, for one that is no longer held, and
 * while another refund of the order is waiting
 */
export async function requestUnappliedRefund(
  { db, clock }: RefundDeps,
  operator: Operator,
  { eventId, reason: typed }: { eventId: string; reason: string },
): Promise<string> {
  requirePermission(operator, ["refunds.request", "money.decide"]);
  const requestedBy = requirePersonOfRefund(operator);
  const reason = requireText("reason", typed);
  return db.transaction(async (tx) => {
    const { orderCode, paymentId } = await unappliedOf(tx, operator.environment, eventId);
    const order = await lockShown(tx, operator, orderCode);
    const held = (await heldFor(tx, order.id)).find(({ id, amountCents }) => id === paymentId && amountCents > 0);
    if (!held)
      throw new ServiceError("conflict", "This payment is not held any more, or its refund was approved before.");
    const refusal = await refusalByHand(tx, order);
    if (refusal !== null) throw new ServiceError("conflict", refusal);
    return writeRequest(tx, order, {
      payments: [{ ...held, unapplied: true }],
      isPart: true,
      reason,
      requestedBy,
      actor: operator.actor,
      at: clock(),
    });
  });
}

/** Locks an open request and its order until the transaction ends. @throws ServiceError for an ended request */
async function lockOpen(tx: Tx, operator: Operator, id: string) {
  const { orderCode } = await refundOf({ db: tx }, operator, id);
  const order = await lockShown(tx, operator, orderCode);
  // All code that ends a request locks its order first. So after a wait for the lock, this second read shows the end.
  const request = await refundOf({ db: tx }, operator, id);
  if (request.state !== "requested") throw new ServiceError("conflict", endedWords(request));
  return { order, request };
}

function endedWords({ state, decidedByName, note }: store.RefundRequest): string {
  if (state === "closed") return `This request was closed. ${note ?? ""}`.trim();
  return `This request was ${state} before${decidedByName === null ? "" : ` by ${decidedByName}`}.`;
}

/**
 * Withdraws the operator's own request.
 * @throws ServiceError for another operator's request, and for an ended request
 */
export async function withdrawRefund({ db, clock }: RefundDeps, operator: Operator, id: string): Promise<void> {
  const by = requirePersonOfRefund(operator);
  await db.transaction(async (tx) => {
    const at = clock();
    const { order, request } = await lockOpen(tx, operator, id);
    if (request.requestedBy !== by)
      throw new ServiceError("conflict", "Only the person who asked for a refund can withdraw the request.");
    await end(tx, operator, order, id, { state: "withdrawn", by, at, note: null });
  });
}

/** Ends a request and its task, and writes the audit line. */
async function end(
  tx: Tx,
  { actor }: Operator,
  { id: orderId, partnerId }: { id: number; partnerId: string },
  id: string,
  decision: store.Decision,
): Promise<void> {
  const { state, at, solo, note } = decision;
  await store.updateDecision(tx, id, decision);
  const task = { state: state === "withdrawn" ? "dropped" : "done", at, by: actor, outcome: state } as const;
  await closeTasks(tx, { orderId, kinds: ["refund_approval"] }, task);
  const detail = { requestId: id, ...(solo && { solo }), ...(note !== null && { note }) };
  await tx.query(auditLine({ at, action: `refund.${state}`, actor, partnerId, orderId, detail }));
}

/**
 * Requires an operator who may decide on refunds.
 * @returns the person id of the operator
 * @throws ServiceError without the permission, or without a recent passkey check
 */
function requireApprover({ clock }: RefundDeps, operator: Operator): string {
  requirePermission(operator, ["money.decide"]);
  const by = requirePersonOfRefund(operator);
  requirePasskeyOf(operator, clock());
  return by;
}

/**
 * Approves a refund request, and queues the refund at the processor. The order enters RefundPending; if only a part is
 * refunded, it continues. Of two concurrent approvals, the second fails because the request has ended.
 * @throws ServiceError for the operator's own request, unless the service allows one person to approve it after an
 * hour; when the order can't be refunded any more; and for an ended request. Also when the held payments no longer
 * match the request: other payments, less than the part, or more than the request shows.
 */
export async function approveRefund(deps: RefundDeps, operator: Operator, id: string): Promise<void> {
  const by = requireApprover(deps, operator);
  await deps.db.transaction(async (tx) => {
    const at = deps.clock();
    const { order, request } = await lockOpen(tx, operator, id);
    const solo = requireSecondPerson(deps.refundApproval, operator, request, "refund", at);
    const held = await heldFor(tx, order.id);
    const movesNothing = request.part && request.payments.every(({ unapplied }) => unapplied);
    const refusal = await (movesNothing ? refusalByHand(tx, order) : refusalOf(tx, order, held));
    if (refusal !== null) throw new ServiceError("conflict", refusal);
    if (!isWithin(held, request))
      throw new ServiceError(
        "conflict",
        "The money held for this order has changed. Refuse this request, and ask again.",
      );
    await end(tx, operator, order, id, { state: "approved", by, at, solo, note: null });
    const { reason } = request;
    if (request.part) await enqueue(tx, partRefundQueue, { requestId: id });
    else await perform(tx, order, "refund_requested", { reason }, { actor: operator.actor, at, log: deps.log });
  });
}

/**
 * Refuses another operator's refund request, with a reason.
 * @throws ServiceError without the permission, a recent passkey check or a reason, for the operator's own request, and
 * for an ended one
 */
export async function refuseRefund(deps: RefundDeps, operator: Operator, id: string, typed: string): Promise<void> {
  const by = requireApprover(deps, operator);
  const note = requireText("note", typed);
  await deps.db.transaction(async (tx) => {
    const { order, request } = await lockOpen(tx, operator, id);
    requireRefusedByAnother(operator, request, "refund", deps.clock());
    await end(tx, operator, order, id, { state: "refused", by, at: deps.clock(), note });
  });
}
