import {
  type Approval,
  type Operator,
  operatorName,
  requirePerson,
  requireRefusedByAnother,
  requireSecondPerson,
  requireText,
} from "../../../firms/operators/operators.ts";
import { auditLine } from "../../../kernel/audit/audit.ts";
import type { Clock } from "../../../kernel/platform/clock.ts";
import type { Database, Sql, Tx } from "../../../kernel/platform/database/database.ts";
import { sql } from "../../../kernel/platform/database/sql.ts";
import { type StateMac, verified, writeStateMacs } from "../../../kernel/platform/database/state-mac.ts";
import { ServiceError } from "../../../kernel/platform/errors.ts";
import { newUuid } from "../../../kernel/platform/ids.ts";
import { stateRows } from "../../../kernel/platform/protected-data.ts";
import { closeTasks, openTask } from "../../../kernel/tasks/tasks.ts";
import { hasOrderCode, joinOrder, type LockedOrder, lockOrder, orderNotFound } from "../../../orders/order/order.ts";

/** The setting for whether one person may both request and approve. Refunds use the same setting. */
export type ApprovalDeps = { refundApproval: Approval };

type Deps = { db: Database; clock: Clock };

/**
 * An open request to accept a document that was notarized elsewhere. A second person has to approve it, unless the
 * installation lets one person do both.
 */
export type AcceptanceRequest = {
  id: string;
  /** The hash of the file. The requester and the approver must submit the same file. */
  sha256: string;
  reason: string;
  warnings: string[];
  requestedBy: string;
  requestedByName: string;
  requestedAt: Date;
};

const noPerson = "Two people with names are needed. Sign in by email, or use order move at the command line.";

/**
 * The MAC covers the document and the person who submitted it. It doesn't cover the decision, because only undecided
 * requests are read. A trigger allows only one decision.
 */
const acceptanceState: StateMac = {
  table: sql`taking_in_requests`,
  key: sql`id`,
  mac: sql`row_mac`,
  covered: (r) => sql`${r}.id, ${r}.order_id, ${r}.sha256, ${r}.reason, ${r}.warnings, ${r}.requested_by,
    extract(epoch FROM ${r}.requested_at)`,
};

export const protectedTables = [stateRows(acceptanceState, { backfill: { set: "desk and checkout" } })];

/**
 * The open request of an order; an order has at most one.
 * @throws ServiceError `unavailable` for a request whose MAC is invalid
 */
export async function openAcceptance(db: Sql, orderCode: string): Promise<AcceptanceRequest | undefined> {
  const [found] = await db.query<AcceptanceRequest>(sql`
    SELECT r.id, r.sha256, r.reason, r.warnings, r.requested_by AS "requestedBy", ${operatorName(sql`r.requested_by`)} AS "requestedByName",
      r.requested_at AS "requestedAt", ${verified(acceptanceState, sql`r`)}
    FROM taking_in_requests r ${joinOrder(sql`r.order_id`)}
    WHERE ${hasOrderCode(orderCode)} AND r.state = 'requested'`);
  return found;
}

async function lockExisting(tx: Tx, orderCode: string): Promise<LockedOrder> {
  const order = await lockOrder(tx, orderCode);
  if (!order) throw orderNotFound();
  return order;
}

/**
 * Requests another operator's approval of a document.
 * @param judge checks the locked order; throws when the order's status doesn't allow such a document
 * @throws ServiceError when the order has an open request already, or the operator is not a person
 */
export async function requestAcceptance(
  { db, clock }: Deps,
  operator: Operator,
  orderCode: string,
  { sha256, reason, warnings }: { sha256: string; reason: string; warnings: readonly string[] },
  judge: (tx: Tx, order: LockedOrder) => Promise<void>,
): Promise<void> {
  const requestedBy = requirePerson(operator, noPerson);
  await db.transaction(async (tx) => {
    const { id: orderId, ...order } = await lockExisting(tx, orderCode);
    await judge(tx, { id: orderId, ...order });
    const [id, at] = [newUuid(), clock()];
    const inserted = await tx.query(sql`
      INSERT INTO taking_in_requests (id, order_id, sha256, reason, warnings, requested_by, requested_at)
      VALUES (${id}, ${orderId}, ${sha256}, ${reason}, ${[...warnings]}::text[], ${requestedBy}, ${at})
      ON CONFLICT (order_id) WHERE state = 'requested' DO NOTHING RETURNING 1`);
    if (inserted.length === 0)
      throw new ServiceError("conflict", "A notarized document of this order waits for a second person already.");
    await writeStateMacs(tx, acceptanceState, sql`id = ${id}`);
    const { environment, partnerId } = order;
    await openTask(tx, { kind: "taking_in_approval", at, environment, orderId, reason });
    const detail = { requestId: id, sha256, reason };
    const { actor } = operator;
    await tx.query(auditLine({ at, action: "taking_in.requested", actor, partnerId, orderId, detail }));
  });
}

type Decision = {
  orderCode: string;
  /** The id of the request that the operator saw on the page. */
  id: string;
  state: "approved" | "refused" | "withdrawn";
  note?: string;
};

/**
 * Locks the order, and ends its open request with the operator's decision.
 * @throws ServiceError when the request has already ended, or this operator may not make this decision
 */
export async function decideAcceptance(
  tx: Tx,
  { clock, refundApproval }: ApprovalDeps & Pick<Deps, "clock">,
  operator: Operator,
  { orderCode, id, state, note }: Decision,
): Promise<void> {
  const by = requirePerson(operator, noPerson);
  const { id: orderId, partnerId } = await lockExisting(tx, orderCode);
  const request = await openAcceptance(tx, orderCode);
  const at = clock();
  if (request?.id !== id) throw new ServiceError("conflict", "This request has ended.");
  if (state === "refused") requireRefusedByAnother(operator, request, "document to be taken in", at);
  if (state === "withdrawn" && request.requestedBy !== by)
    throw new ServiceError("conflict", "Only the person who made the request can withdraw it.");
  const solo =
    state === "approved" && requireSecondPerson(refundApproval, operator, request, "document to be taken in", at);
  await tx.query(sql`
    UPDATE taking_in_requests SET state = ${state}, decided_by = ${by}, decided_at = ${at}, solo = ${solo},
      note = ${note ?? null}
    WHERE id = ${id}`);
  const { actor } = operator;
  const end = { state: state === "withdrawn" ? "dropped" : "done", at, by: actor, outcome: state } as const;
  await closeTasks(tx, { orderId, kinds: ["taking_in_approval"] }, end);
  const detail = { requestId: id, requestedBy: request.requestedBy, ...(solo && { solo }), ...(note && { note }) };
  await tx.query(auditLine({ at, action: `taking_in.${state}`, actor, partnerId, orderId, detail }));
}

/**
 * Ends the order's open request. Rejects, with a reason, a document that another operator submitted, or withdraws the
 * operator's own document.
 * @throws ServiceError when no request is open, or this operator may not make this decision
 */
export async function endAcceptance(
  deps: Deps & ApprovalDeps,
  operator: Operator,
  orderCode: string,
  decision: { state: "refused"; note: string } | { state: "withdrawn" },
): Promise<void> {
  const checked = decision.state === "refused" ? { ...decision, note: requireText("note", decision.note) } : decision;
  await deps.db.transaction(async (tx) => {
    await lockExisting(tx, orderCode);
    const request = await openAcceptance(tx, orderCode);
    if (!request) throw new ServiceError("conflict", "This request has ended.");
    await decideAcceptance(tx, deps, operator, { orderCode, id: request.id, ...checked });
  });
}
