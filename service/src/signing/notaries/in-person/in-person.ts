import { ownersWhoSee } from "../../../firms/members/members.ts";
import { type Operator, requirePerson, requireText } from "../../../firms/operators/operators.ts";
import { auditLine } from "../../../kernel/audit/audit.ts";
import type { Owner } from "../../../kernel/identity/identity.ts";
import type { Clock } from "../../../kernel/platform/clock.ts";
import type { Database, Sql } from "../../../kernel/platform/database/database.ts";
import { invalid, ServiceError } from "../../../kernel/platform/errors.ts";
import { newUuid } from "../../../kernel/platform/ids.ts";
import { isCode } from "../../../kernel/platform/text.ts";
import { findOwnOrder, lockOrder } from "../../../orders/order/order.ts";
import { requestPartRefund, technologyFeeOf } from "../../../orders/refunds/refunds.ts";
import type { Act } from "../acts/act.ts";
import { claimedOrder, type DeskDeps, lockClaimed } from "../desk/desk.ts";
import type { Typed } from "../form-reader.ts";
import { inPersonMail } from "./mail.ts";
import {
  countRequests,
  decideInPerson,
  type InPersonRequest,
  insertInPerson,
  latestRequest,
  orderIdOf,
} from "./store.ts";

export type { InPersonRequest } from "./store.ts";

/** A firm that declines is asked with other reasons, and not without end. */
const mostRequests = 3;

/**
 * Asks the firm whether the notary may act in person, in ink, although online notarization was bought. Its owners are mailed.
 * @throws ServiceError when the firm was asked already, or too often
 */
export async function askInPerson(deps: DeskDeps, operator: Operator, code: string, typed: Typed): Promise<void> {
  const requestedBy = requirePerson(operator, "Sign in by email: the firm is asked in the name of a person.");
  const reason = requireText("reason", typed["reason"] ?? "");
  const claimed = await claimedOrder(deps, operator, code);
  await deps.db.transaction(async (tx) => {
    const { order, at, eligibility } = await lockClaimed(tx, deps, operator, claimed);
    if (!eligibility.modes.includes("ink"))
      throw invalid("An act in person, in ink, is not open to you for this order.");
    const { orderId, partnerId, environment } = order;
    const last = await latestRequest(tx, orderId);
    if (last?.state === "requested") throw new ServiceError("conflict", "The firm was asked already.");
    if (last?.state === "agreed") throw new ServiceError("conflict", "The firm has agreed already.");
    if ((await countRequests(tx, orderId)) >= mostRequests)
      throw new ServiceError("conflict", `A firm is asked at most ${mostRequests} times for an order.`);
    const id = newUuid();
    await insertInPerson(tx, { id, orderId, reason, requestedBy, at });
    for (const ownerId of await ownersWhoSee(tx, { partnerId, environment }))
      await inPersonMail.enqueue(tx, { id, orderCode: code, partnerId, environment, ownerId });
    const detail = { requestId: id, reason };
    await tx.query(
      auditLine({ at, action: "notary.in_person_requested", actor: operator.actor, partnerId, orderId, detail }),
    );
  });
}

/** The latest request about a firm's own order, and what would go back of the payment; null for none. */
export async function inPersonOf(db: Sql, orderCode: string, owner: Owner) {
  const orderId = await orderIdOf(db, orderCode, owner);
  const request = orderId === undefined ? undefined : await latestRequest(db, orderId);
  return orderId !== undefined && request ? { request, technologyFeeCents: await technologyFeeOf(db, orderId) } : null;
}

type Decision = { owner: Owner; orderCode: string; actor: string; agrees: boolean };

/** What came of a decision. */
export type InPersonDecision = {
  state: "agreed" | "declined";
  /** What was asked to be given back; null for nothing. */
  refundCents: number | null;
};

/**
 * Writes down whether the firm agrees. When it does, a refund of the technology fee is asked for: the order's status stays, and another
 * person than the notary approves the refund.
 * @throws ServiceError `not_found` for another firm's order, `conflict` when nothing is open: of two decisions at once one counts
 */
export async function answerInPerson(
  { db, clock }: { db: Database; clock: Clock },
  { owner, orderCode, actor, agrees }: Decision,
): Promise<InPersonDecision> {
  const noOrder = () => new ServiceError("not_found", "Order not found.");
  if (!isCode(orderCode) || !(await findOwnOrder(db, orderCode, owner))) throw noOrder();
  return db.transaction(async (tx) => {
    const at = clock();
    const order = await lockOrder(tx, orderCode);
    if (!order) throw noOrder();
    const { id: orderId, partnerId, status } = order;
    const request = await latestRequest(tx, orderId);
    if (!request) throw new ServiceError("conflict", "The firm was not asked for an act in person.");
    if (request.state !== "requested") throw new ServiceError("conflict", `The firm has ${request.state} already.`);
    if (status !== "NotarizationPending")
      throw new ServiceError("conflict", `An order in ${status} waits for no notary.`);
    const state = agrees ? "agreed" : "declined";
    await decideInPerson(tx, request.id, { state, by: actor, at });
    const amountCents = agrees ? await technologyFeeOf(tx, orderId) : 0;
    const reason = "The firm agreed to a notarization in person, in ink: the technology fee goes back.";
    const { requestedBy } = request;
    const asked = agrees ? await requestPartRefund(tx, order, { amountCents, reason, requestedBy, actor, at }) : null;
    const detail = { requestId: request.id, ...(asked !== null && { refund: asked }) };
    await tx.query(auditLine({ at, action: `notary.in_person_${state}`, actor, partnerId, orderId, detail }));
    return { state, refundCents: asked === null ? null : amountCents };
  });
}

/** Why an act of the mode can't be recorded: online notarization was bought, and the firm has not agreed to ink; null when it can. */
export function inPersonObstacle(mode: Act["mode"], request: InPersonRequest | null): string | null {
  if (mode !== "ink" || request?.state === "agreed") return null;
  const bought =
    "Online notarization was bought for this document, so an act in person, in ink, needs the firm’s agreement.";
  if (request === null) return `${bought} Ask the firm first.`;
  return request.state === "requested"
    ? `${bought} The firm was asked and has not answered yet.`
    : `${bought} The firm declined.`;
}
