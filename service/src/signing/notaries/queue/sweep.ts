import { auditLine } from "../../../kernel/audit/audit.ts";
import { minuteMs } from "../../../kernel/platform/clock.ts";
import type { Tx } from "../../../kernel/platform/database/database.ts";
import { releaseTaskIn } from "../../../kernel/tasks/tasks.ts";
import { lockOrder } from "../../../orders/order/order.ts";
import type { DeskDeps } from "../claims/claims.ts";
import { draftOfClaimant, orderOfId, peopleOf, type WaitingOrder } from "../claims/orders.ts";
import { lockNotary } from "../commissions/store.ts";
import {
  lockRequest,
  type NotaryRequest,
  requestsToLookAt,
  setEnded,
  setWaiting,
  writeDuty,
} from "../schedule/queue.ts";
import { openSheetOf } from "../sheets/store.ts";
import { callPeople } from "./mail.ts";
import { waitMs } from "./queue.ts";

type SweepDeps = Pick<DeskDeps, "db" | "clock" | "rowMac" | "log">;

/**
 * A notary who accepted a request must open the session within this time. When a request expires, a notary who claimed
 * the order less than this long ago keeps the claim.
 */
const callMs = 5 * minuteMs;

/**
 * Ends requests that nobody accepted in time, or whose order no longer waits for a notary. Returns an accepted request
 * to the queue if the notary opened no session in time, or has released the order. If that notary keeps the order, ends
 * the request instead.
 */
export async function sweepRequests(deps: SweepDeps, stopping: AbortSignal): Promise<void> {
  const now = deps.clock();
  for (const { orderId } of await requestsToLookAt(deps.db, now, new Date(now.getTime() - callMs))) {
    if (stopping.aborted) return;
    await lookAt(deps, orderId).catch((error: unknown) =>
      deps.log.error({ err: error, orderId }, "the sweep could not handle a request for a notary"),
    );
  }
}

async function lookAt({ db, clock, rowMac, log }: SweepDeps, orderId: number): Promise<void> {
  const seen = await peopleOf({ db, rowMac }, orderId);
  if (!seen)
    return log.error({ orderId }, "a request for a notary is of an order that was altered outside the service");
  await db.transaction(async (tx) => {
    // Locks the order before its request. Creating and accepting a request use the same sequence.
    await lockOrder(tx, seen.code);
    const request = await lockRequest(tx, orderId);
    const order = await orderOfId({ db: tx, rowMac }, orderId);
    const at = clock();
    if (!request) return;
    if (!order) return setEnded(tx, request.id, "elsewhere", at);
    if (request.state === "taken") return reviewAccepted(tx, rowMac, request, order, at);
    if (request.expiresAt <= at) await expire(tx, rowMac, request, order, at);
  });
}

type Mac = SweepDeps["rowMac"];

/**
 * Ends the request. A notary who has held the claim for `callMs` loses it, unless the notary has begun to act. Others
 * may then accept the next request. A notary with a newer claim keeps it.
 */
async function expire(tx: Tx, rowMac: Mac, { id, notaryId }: NotaryRequest, order: WaitingOrder, at: Date) {
  await setEnded(tx, id, "expired", at);
  const { partnerId, orderId, claimedAt } = order;
  const hadTime = claimedAt !== null && at.getTime() - claimedAt.getTime() >= callMs;
  const isReleased = hadTime && (await releaseIdle(tx, rowMac, order, at));
  const detail = { request: id, ...(notaryId !== null && { notaryId }), ...(isReleased && { released: true }) };
  await tx.query(auditLine({ at, action: "notary.now_expired", actor: "system", partnerId, orderId, detail }));
  await callPeople(tx, order, { requestId: id, moment: "expired", at });
}

/**
 * Releases the order from a notary who has not begun to act.
 * @returns false for an unclaimed order, and when its notary has opened or noted an act, or has a future appointment
 */
async function releaseIdle(tx: Tx, rowMac: Mac, order: WaitingOrder, at: Date): Promise<boolean> {
  const { claimedBy, taskId } = order;
  if (claimedBy === null || (await openSheetOf({ db: tx, rowMac }, taskId))) return false;
  const draft = await draftOfClaimant(tx, order);
  if (draft && (draft.act !== null || (draft.appointmentAt !== null && draft.appointmentAt > at))) return false;
  await releaseTaskIn(tx, taskId, { by: claimedBy, actor: "system", at });
  return true;
}

/**
 * Returns a request to its old position in the queue when its notary released the order, or opened no session in time.
 * In the second case, the notary also goes off duty and loses the order.
 *
 * A notary who has noted an act, or has an appointment, keeps the order. Then the request ends, because no other notary
 * may accept it.
 */
async function reviewAccepted(
  tx: Tx,
  rowMac: Mac,
  request: NotaryRequest,
  order: WaitingOrder,
  at: Date,
): Promise<void> {
  const { id, notaryId, takenAt } = request;
  const { orderId, taskId, partnerId, environment, claimedBy } = order;
  // If an act is already open, the people have met the notary. So the request ends.
  if (notaryId === null || (await openSheetOf({ db: tx, rowMac }, taskId))) return setEnded(tx, id, "met", at);
  const notary = await lockNotary(tx, notaryId);
  const by = `operator:${notary?.operatorId}`;
  const isLate = takenAt === null || at.getTime() - takenAt.getTime() >= callMs;
  if (!isLate && claimedBy === by) return;
  if (isLate) await writeDuty(tx, { notaryId, environment }, { since: at, until: at });
  if (claimedBy === by && !(await releaseIdle(tx, rowMac, order, at))) return expire(tx, rowMac, request, order, at);
  await setWaiting(tx, id, new Date(at.getTime() + waitMs));
  const detail = { request: id, notaryId };
  await tx.query(auditLine({ at, action: "notary.now_put_back", actor: "system", partnerId, orderId, detail }));
}
