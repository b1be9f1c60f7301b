/** The notary's side of the queue for meetings “now”: going on duty, and accepting the next request. */
import type { Operator } from "../../../firms/operators/operators.ts";
import { auditLine } from "../../../kernel/audit/audit.ts";
import { hourMs } from "../../../kernel/platform/clock.ts";
import type { Tx } from "../../../kernel/platform/database/database.ts";
import { ServiceError } from "../../../kernel/platform/errors.ts";
import { lockOrder } from "../../../orders/order/order.ts";
import { claimWaiting, notaryOf } from "../claims/claims.ts";
import { orderOfId, type WaitingOrder } from "../claims/orders.ts";
import { lockNotary, type Notary } from "../commissions/store.ts";
import { sessionOf } from "../presence/ipen.ts";
import { lockRequest, onDuty, openRequests, setAccepted, writeDuty } from "../schedule/queue.ts";
import { notariesInSession } from "./estimate.ts";
import { callPeople } from "./mail.ts";
import { lineOf, maxOpen, mayAccept, type QueueDeps, type Request } from "./queue.ts";

/** How long a duty lasts unless it is extended. Without this limit, people would wait for a notary who has left. */
const dutyMs = 4 * hourMs;

/** The queue as a notary sees it. */
export type NotaryQueue = {
  dutyUntil: Date | null;
  /** The requests that this notary may accept, oldest first. */
  waiting: readonly Request[];
  /** The order whose request this notary has accepted, until its session opens; otherwise null. */
  accepted: WaitingOrder | null;
};

export async function notaryQueueOf(deps: QueueDeps, operator: Operator, notary: Notary): Promise<NotaryQueue> {
  const { db, clock } = deps.sheets.desk;
  const now = clock();
  const [line, duty] = await Promise.all([
    lineOf(deps, db, operator.environment, now),
    onDuty(db, operator.environment, now),
  ]);
  return {
    dutyUntil: duty.get(notary.id) ?? null,
    waiting: line.waiting.filter(({ order }) => mayAccept(deps, line, notary, order, now)),
    accepted: line.requests.find(({ state, notaryId }) => state === "taken" && notaryId === notary.id)?.order ?? null,
  };
}

/**
 * Sets the notary off duty or on duty. A duty ends four hours from now; setting it again extends it.
 * @throws ServiceError `role_required` when a suspended notary goes on duty, `conflict` when a notary goes off duty but
 * has called people who still wait for the session
 */
export async function setDuty(deps: QueueDeps, operator: Operator, isOn: boolean): Promise<void> {
  sessionOf(operator);
  const { db, clock } = deps.sheets.desk;
  const { environment, actor } = operator;
  const { id } = await notaryOf(db, operator);
  await db.transaction(async (tx) => {
    const notary = await lockNotary(tx, id);
    const at = clock();
    const open = isOn ? [] : await openRequests(tx, environment, maxOpen);
    if (open.some(({ state, notaryId }) => state === "taken" && notaryId === id))
      throw new ServiceError("conflict", "You have called somebody: open that session, or give the order back.");
    if (isOn && notary?.status !== "active") throw new ServiceError("role_required", "You are suspended as a notary.");
    await writeDuty(
      tx,
      { notaryId: id, environment },
      { since: at, until: isOn ? new Date(at.getTime() + dutyMs) : at },
    );
    const action = isOn ? "notary.on_duty" : "notary.off_duty";
    await tx.query(auditLine({ at, action, actor, detail: { notaryId: id, environment } }));
  });
}

/**
 * Accepts the oldest request that the notary may accept, and claims its order. Two concurrent notaries get different
 * requests.
 * @returns the order's code
 * @throws ServiceError `conflict` for a notary who is off duty, has already called people or is in a session; also if
 * no waiting request is one that the notary may accept
 */
export async function acceptNext(deps: QueueDeps, operator: Operator): Promise<string> {
  sessionOf(operator);
  const { desk } = deps.sheets;
  const notary = await notaryOf(desk.db, operator);
  const { waiting } = await notaryQueueOf(deps, operator, notary);
  for (const { order } of waiting)
    if (await desk.db.transaction((tx) => acceptRequest(tx, deps, operator, notary, order))) return order.code;
  await desk.db.transaction((tx) => requireFree(tx, deps, operator, notary));
  throw new ServiceError("conflict", "Nobody whom you may meet is waiting.");
}

/**
 * Accepts a request for the notary.
 * @returns false when the request no longer waits, or the notary may no longer accept it
 */
async function acceptRequest(
  tx: Tx,
  deps: QueueDeps,
  operator: Operator,
  { id }: Notary,
  { code, orderId }: WaitingOrder,
) {
  const { desk } = deps.sheets;
  if (!(await lockOrder(tx, code))) return false;
  const request = await lockRequest(tx, orderId);
  const notary = await lockNotary(tx, id);
  const order = await orderOfId({ db: tx, rowMac: desk.rowMac }, orderId);
  const at = desk.clock();
  if (!order || !notary || request?.state !== "waiting" || request.expiresAt <= at) return false;
  await requireFree(tx, deps, operator, notary);
  const rules = await desk.readEligibility(tx);
  if (!mayAccept(deps, { rules }, notary, order, at)) return false;
  await setAccepted(tx, request.id, { notaryId: id, keepsClaim: order.claimedBy !== null, at });
  if (order.claimedBy === null) await claimWaiting(tx, desk, order, { by: operator.actor, actor: operator.actor, at });
  const { partnerId } = order;
  const detail = { request: request.id, notaryId: id };
  await tx.query(auditLine({ at, action: "notary.now_taken", actor: operator.actor, partnerId, orderId, detail }));
  await callPeople(tx, order, { requestId: request.id, moment: "called", at });
  return true;
}

async function requireFree(tx: Tx, { sheets: { desk } }: QueueDeps, operator: Operator, { id, status }: Notary) {
  if (status !== "active") throw new ServiceError("role_required", "You are suspended as a notary.");
  const { environment } = operator;
  if (!(await onDuty(tx, environment, desk.clock())).has(id))
    throw new ServiceError("conflict", "You are off duty. Go on duty first.");
  const open = await openRequests(tx, environment, maxOpen);
  if (open.some(({ state, notaryId }) => state === "taken" && notaryId === id))
    throw new ServiceError("conflict", "You have called somebody already: open that session first.");
  if ((await notariesInSession(tx)).has(id))
    throw new ServiceError("conflict", "You are in a session. End it before you call the next people.");
}
