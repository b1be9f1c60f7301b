import { auditLine } from "../audit/audit.ts";
import { type Operator, requirePermission, requireText } from "../operators/operators.ts";
import type { Sql, Tx } from "../platform/database/database.ts";
import { ServiceError } from "../platform/errors.ts";
import { newUuid } from "../platform/ids.ts";
import { isUuid } from "../platform/text.ts";
import { closeTasks, openTask } from "../tasks/tasks.ts";
import { heldFor, lockShown, type RefundDeps, refusalOf, requirePersonOfRefund } from "./rules.ts";
import * as store from "./store.ts";

export type { RefundRequest } from "./store.ts";

const unknown = () => new ServiceError("not_found", "No such refund request.");

/** @throws ServiceError for one that is unknown, or of the other environment */
export async function refundOf(
  { db }: { db: Sql },
  { environment }: Operator,
  id: string,
): Promise<store.RefundRequest> {
  const found = isUuid(id) ? await store.selectRequest(db, id, environment) : undefined;
  if (!found) throw unknown();
  return found;
}

/** Requests that wait, and the latest that ended. */
export async function listRefunds({ db }: { db: Sql }, { environment }: Operator) {
  const [open, ended] = await Promise.all([store.selectOpen(db, environment), store.selectEnded(db, environment)]);
  return { open, ended };
}

/**
 * Asks for a refund of all that is held for an order; another operator decides.
 * @returns the request's id
 * @throws ServiceError without the permission or a reason, and for an order that cannot be refunded or has an open request
 */
export async function requestRefund(
  { db, clock }: RefundDeps,
  operator: Operator,
  { code, reason: typed }: { code: string; reason: string },
): Promise<string> {
  requirePermission(operator, ["refunds.request"]);
  const requestedBy = requirePersonOfRefund(operator);
  const reason = requireText("reason", typed);
  return db.transaction(async (tx) => {
    const at = clock();
    const order = await lockShown(tx, operator, code);
    const payments = await heldFor(tx, order.id);
    const refusal = refusalOf(order, payments);
    if (refusal !== null) throw new ServiceError("conflict", refusal);
    const id = newUuid();
    const { id: orderId, environment, partnerId } = order;
    if (!(await store.insertRequest(tx, { id, orderId, reason, payments, requestedBy, at })))
      throw new ServiceError("conflict", "A refund of this order was asked for already.");
    await tx.query(openTask({ kind: "refund_approval", at, environment, orderId, reason }));
    const detail = { requestId: id, reason, payments };
    await tx.query(auditLine({ at, action: "refund.requested", actor: operator.actor, partnerId, orderId, detail }));
    return id;
  });
}

/** An open request and its order, both locked until the transaction ends. @throws ServiceError for one that has ended */
export async function lockOpen(tx: Tx, operator: Operator, id: string) {
  const { orderCode } = await refundOf({ db: tx }, operator, id);
  // Everybody locks the order first: who waited reads how the request ended meanwhile.
  const order = await lockShown(tx, operator, orderCode);
  const request = await refundOf({ db: tx }, operator, id);
  if (request.state !== "requested") throw new ServiceError("conflict", endedWords(request));
  return { order, request };
}

function endedWords({ state, decidedByName, note }: store.RefundRequest): string {
  if (state === "closed") return `This request was closed. ${note ?? ""}`.trim();
  return `This request was ${state} before${decidedByName === null ? "" : ` by ${decidedByName}`}.`;
}

/** Takes back what one asked for oneself. @throws ServiceError for another's request, and for one that has ended */
export async function withdrawRefund({ db, clock }: RefundDeps, operator: Operator, id: string): Promise<void> {
  const by = requirePersonOfRefund(operator);
  await db.transaction(async (tx) => {
    const at = clock();
    const { order, request } = await lockOpen(tx, operator, id);
    if (request.requestedBy !== by)
      throw new ServiceError("conflict", "Only who asked for a refund withdraws the request.");
    await end(tx, operator, order, id, { state: "withdrawn", by, at, note: null });
  });
}

/** Ends a request with its task, and notes it. */
export async function end(
  tx: Tx,
  { actor }: Operator,
  { id: orderId, partnerId }: { id: number; partnerId: string },
  id: string,
  decision: store.Decision,
): Promise<void> {
  const { state, at, solo, note } = decision;
  await store.updateDecision(tx, id, decision);
  const task = { state: state === "withdrawn" ? "dropped" : "done", at, by: actor, outcome: state } as const;
  await tx.query(closeTasks({ orderId, kinds: ["refund_approval"] }, task));
  const detail = { requestId: id, ...(solo && { solo }), ...(note !== null && { note }) };
  await tx.query(auditLine({ at, action: `refund.${state}`, actor, partnerId, orderId, detail }));
}
