import { ownersWhoSee } from "../../../firms/members/members.ts";
import { type Operator, requirePermission, requirePerson, requireText } from "../../../firms/operators/operators.ts";
import { auditLine } from "../../../kernel/audit/audit.ts";
import type { Owner } from "../../../kernel/identity/identity.ts";
import type { Clock } from "../../../kernel/platform/clock.ts";
import type { Database, Sql, Tx } from "../../../kernel/platform/database/database.ts";
import { invalid, ServiceError } from "../../../kernel/platform/errors.ts";
import { newUuid } from "../../../kernel/platform/ids.ts";
import { isCode } from "../../../kernel/platform/text.ts";
import { closeTasks, openTask } from "../../../kernel/tasks/tasks.ts";
import { findOwnOrder, type LockedOrder, lockOrder, orderNotFound } from "../../../orders/order/order.ts";
import { hasPartRefund, requestPartRefund, technologyFeeOf } from "../../../orders/refunds/refunds.ts";
import type { Act } from "../acts/act.ts";
import { claimedOrder, type DeskDeps, lockClaimed } from "../claims/claims.ts";
import {
  countRequests,
  decideInPerson,
  type InPersonRequest,
  insertInPerson,
  latestRequest,
  orderIdOf,
} from "../claims/in-person-requests.ts";
import type { Typed } from "../form-reader.ts";
import { inPersonMail } from "./mail.ts";

export type { InPersonRequest } from "../claims/in-person-requests.ts";

/**
 * The maximum number of requests for an order. After the firm has declined, the notary may ask the firm again, but not
 * without limit.
 */
const maxRequests = 3;

/**
 * Asks the firm to agree that the notary acts in person, on paper, although the order is for online notarization. Mails
 * the firm's owners.
 * @throws ServiceError when the firm was already asked, or too often, and when the notary may not act on paper
 */
export async function askInPerson(deps: DeskDeps, operator: Operator, code: string, typed: Typed): Promise<void> {
  const asker = askerOf(operator, typed);
  const claimed = await claimedOrder(deps, operator, code);
  await deps.db.transaction(async (tx) => {
    const { locked, at, eligibility } = await lockClaimed(tx, deps, operator, claimed);
    if (!eligibility.modes.includes("ink"))
      throw invalid("An act in person, in ink, is not open to you for this order.");
    await ask(tx, locked, { ...asker, at });
  });
}

/**
 * Asks the firm on behalf of an operator. Used when the notary does not work with this service, and the operator will
 * upload the notarized document.
 * @throws ServiceError when the firm was already asked, or too often, and for an order that isn't waiting for a notary
 */
export async function askInPersonElsewhere(
  { db, clock }: { db: Database; clock: Clock },
  operator: Operator,
  code: string,
  typed: Typed,
): Promise<void> {
  requirePermission(operator, ["documents.take_in"]);
  const asker = askerOf(operator, typed);
  await db.transaction(async (tx) => ask(tx, await lockForOperator(tx, operator, code), { ...asker, at: clock() }));
}

type Asker = { operator: Operator; requestedBy: string; reason: string };

const askerOf = (operator: Operator, typed: Typed): Asker => ({
  operator,
  requestedBy: requirePerson(operator, "Sign in by email: the firm is asked in the name of a person."),
  reason: requireText("reason", typed["reason"] ?? ""),
});

async function lockForOperator(tx: Tx, { environment }: Operator, code: string): Promise<LockedOrder> {
  const order = isCode(code) ? await lockOrder(tx, code) : undefined;
  if (order?.environment !== environment) throw orderNotFound();
  return order;
}

async function ask(tx: Tx, order: LockedOrder, { operator, requestedBy, reason, at }: Asker & { at: Date }) {
  const { id: orderId, code: orderCode, partnerId, environment } = order;
  requireWaiting(order);
  const last = await latestRequest(tx, orderId);
  if (last?.state === "requested") throw new ServiceError("conflict", "The firm was asked already.");
  if (last?.state === "agreed") throw new ServiceError("conflict", "The firm has agreed already.");
  if ((await countRequests(tx, orderId)) >= maxRequests)
    throw new ServiceError("conflict", `A firm is asked at most ${maxRequests} times for an order.`);
  const id = newUuid();
  await insertInPerson(tx, { id, orderId, reason, requestedBy, at });
  for (const ownerId of await ownersWhoSee(tx, { partnerId, environment }))
    await inPersonMail.enqueue(tx, { id, orderCode, partnerId, environment, ownerId });
  const detail = { requestId: id, reason };
  await tx.query(
    auditLine({ at, action: "notary.in_person_requested", actor: operator.actor, partnerId, orderId, detail }),
  );
}

function requireWaiting({ status }: LockedOrder): void {
  if (status !== "NotarizationPending")
    throw new ServiceError("conflict", `An order in ${status} does not wait for a notary.`);
}

/**
 * The latest request to act in person for an order of the firm. Also returns the technology fee, which would be
 * refunded if the firm agrees. Null without a request.
 */
export async function inPersonOf(db: Sql, orderCode: string, owner: Owner) {
  const orderId = await orderIdOf(db, orderCode, owner);
  const request = orderId === undefined ? undefined : await latestRequest(db, orderId);
  return orderId !== undefined && request ? { request, technologyFeeCents: await technologyFeeOf(db, orderId) } : null;
}

type Decision = { owner: Owner; orderCode: string; actor: string; agrees: boolean };

/** The result of the firm's answer to a request. */
export type InPersonDecision = {
  state: "agreed" | "declined";
  /** The amount of the requested refund in cents; null when none was requested. */
  refundCents: number | null;
};

/**
 * Records the firm's answer. The order's status stays the same.
 *
 * If the firm agrees and a technology fee was paid, requests its refund. That refund needs an approval like any other.
 * If it can't be requested, opens a task that states the reason.
 * @throws ServiceError `not_found` for another firm's order; `conflict` when no request is open, so only one of two
 * concurrent answers succeeds; `conflict` also when the order no longer waits for a notary
 */
export async function answerInPerson(
  { db, clock }: { db: Database; clock: Clock },
  { owner, orderCode, actor, agrees }: Decision,
): Promise<InPersonDecision> {
  if (!isCode(orderCode) || !(await findOwnOrder(db, orderCode, owner))) throw orderNotFound();
  return db.transaction(async (tx) => {
    const at = clock();
    const order = await lockOrder(tx, orderCode);
    if (!order) throw orderNotFound();
    const { id: orderId, partnerId, environment } = order;
    const request = await latestRequest(tx, orderId);
    if (!request) throw new ServiceError("conflict", "The firm was not asked for an act in person.");
    if (request.state !== "requested") throw new ServiceError("conflict", `The firm has ${request.state} already.`);
    requireWaiting(order);
    const state = agrees ? "agreed" : "declined";
    await decideInPerson(tx, request.id, { state, by: actor, at });
    const asked = agrees ? await askFee(tx, order, { requestedBy: request.requestedBy, actor, at }) : null;
    const detail = { requestId: request.id, ...asked };
    await tx.query(auditLine({ at, action: `notary.in_person_${state}`, actor, partnerId, orderId, detail }));
    if (asked && "noRefund" in asked)
      await openTask(tx, { kind: "technology_fee", at, environment, orderId, reason: asked.noRefund });
    return { state, refundCents: asked && "refund" in asked ? asked.refundCents : null };
  });
}

const feeReason = "The firm agreed to a notarization in person, in ink: the technology fee goes back.";

type FeeRequest = { requestedBy: string; actor: string; at: Date };

type FeeAsked = { refund: string; refundCents: number } | { noRefund: string };

/**
 * Requests a refund of an order's technology fee. Null when no fee was paid. The transaction must have locked the
 * order.
 */
async function askFee(tx: Tx, order: LockedOrder, { requestedBy, actor, at }: FeeRequest): Promise<FeeAsked | null> {
  const refundCents = await technologyFeeOf(tx, order.id);
  if (refundCents === 0) return null;
  const asked = await requestPartRefund(tx, order, {
    amountCents: refundCents,
    reason: feeReason,
    requestedBy,
    actor,
    at,
  });
  return "refusal" in asked ? { noRefund: asked.refusal } : { refund: asked.requestId, refundCents };
}

/**
 * Requests the refund of the technology fee again, because the first request failed when the firm agreed. Ends the task
 * about it.
 * @throws ServiceError `conflict` with the reason when the request fails again, and when the refund was already
 * requested
 */
export async function askTechnologyFee(
  { db, clock }: { db: Database; clock: Clock },
  operator: Operator,
  code: string,
): Promise<void> {
  requirePermission(operator, ["refunds.request"]);
  const requestedBy = requirePerson(operator, "Refunds need people with names. Sign in by email.");
  await db.transaction(async (tx) => {
    const [at, order] = [clock(), await lockForOperator(tx, operator, code)];
    const { id: orderId } = order;
    if ((await latestRequest(tx, orderId))?.state !== "agreed")
      throw new ServiceError("conflict", "The firm has not agreed to an act in person.");
    if (await hasPartRefund(tx, orderId))
      throw new ServiceError("conflict", "A refund of the technology fee was asked for already.");
    const { actor } = operator;
    const asked = await askFee(tx, order, { requestedBy, actor, at });
    if (asked === null) throw new ServiceError("conflict", "No technology fee was paid for this order.");
    if ("noRefund" in asked) throw new ServiceError("conflict", asked.noRefund);
    const end = { state: "done", at, by: actor, outcome: "a refund was asked for" } as const;
    await closeTasks(tx, { orderId, kinds: ["technology_fee"] }, end);
  });
}

/**
 * The reason why an act in this mode can't be recorded: the order is for online notarization, and the firm has not
 * agreed to an act on paper. Null when it can be recorded.
 */
export function inPersonObstacle(mode: Act["mode"], request: Pick<InPersonRequest, "state"> | null): string | null {
  if (mode !== "ink" || request?.state === "agreed") return null;
  const bought =
    "Online notarization was bought for this document, so an act in person, in ink, needs the firm’s agreement.";
  if (request === null) return `${bought} Ask the firm first.`;
  return request.state === "requested"
    ? `${bought} The firm was asked and has not answered yet.`
    : `${bought} The firm declined.`;
}
