import { auditLine } from "../../../kernel/audit/audit.ts";
import { minuteMs } from "../../../kernel/platform/clock.ts";
import type { Tx } from "../../../kernel/platform/database/database.ts";
import { releaseTaskIn } from "../../../kernel/tasks/tasks.ts";
import { lockOrder } from "../../../orders/order/order.ts";
import { lockNotary } from "../commissions/store.ts";
import type { DeskDeps } from "../desk/desk.ts";
import { orderOfId, peopleOf, type WaitingOrder } from "../desk/orders.ts";
import { openSheetOf } from "../sheets/store.ts";
import { callPeople } from "./mail.ts";
import { waitMs } from "./queue.ts";
import { lockRequest, type NotaryRequest, requestsToLookAt, setEnded, setWaiting, writeDuty } from "./store.ts";

type SweepDeps = Pick<DeskDeps, "db" | "clock" | "rowMac" | "log">;

/** How soon a notary who took a request must open the session. */
const callMs = 5 * minuteMs;

/** Ends requests that nobody took in time. Returns requests whose notary did not come to the queue. */
export async function sweepRequests(deps: SweepDeps, stopping: AbortSignal): Promise<void> {
  const now = deps.clock();
  for (const { orderId } of await requestsToLookAt(deps.db, now, new Date(now.getTime() - callMs))) {
    if (stopping.aborted) return;
    await lookAt(deps, orderId).catch((error: unknown) =>
      deps.log.error({ err: error, orderId }, "a request for a notary stays as it is"),
    );
  }
}

async function lookAt({ db, clock, rowMac, log }: SweepDeps, orderId: number): Promise<void> {
  const seen = await peopleOf({ db, rowMac }, orderId);
  if (!seen)
    return log.error({ orderId }, "a request for a notary is of an order that was altered outside the service");
  await db.transaction(async (tx) => {
    // The order is locked first, as when a request is made or taken.
    await lockOrder(tx, seen.code);
    const request = await lockRequest(tx, orderId);
    const order = await orderOfId({ db: tx, rowMac }, orderId);
    const at = clock();
    if (!request) return;
    if (!order) return setEnded(tx, request.id, "elsewhere", at);
    if (request.state === "taken") return lookAtTaken(tx, rowMac, request, order, at);
    if (request.expiresAt <= at) await expire(tx, request, order, at);
  });
}

async function expire(tx: Tx, { id, notaryId }: NotaryRequest, order: WaitingOrder, at: Date): Promise<void> {
  await setEnded(tx, id, "expired", at);
  const { partnerId, orderId } = order;
  const detail = { request: id, ...(notaryId !== null && { notaryId }) };
  await tx.query(auditLine({ at, action: "notary.now_expired", actor: "system", partnerId, orderId, detail }));
  await callPeople(tx, order, { requestId: id, moment: "expired", at });
}

/**
 * Returns a request to its position when its notary released the order, or did not open the session. In the second case
 * that notary goes off duty, but keeps an order that was claimed before the request was taken: the request ends, because
 * nobody else may take it.
 */
async function lookAtTaken(
  tx: Tx,
  rowMac: SweepDeps["rowMac"],
  request: NotaryRequest,
  order: WaitingOrder,
  at: Date,
): Promise<void> {
  const { id, notaryId, takenAt, keepsClaim } = request;
  const { orderId, taskId, partnerId, environment, claimedBy } = order;
  // An act is already open, so the people meet in another way.
  if (notaryId === null || (await openSheetOf({ db: tx, rowMac }, taskId))) return setEnded(tx, id, "met", at);
  const notary = await lockNotary(tx, notaryId);
  const by = `operator:${notary?.operatorId}`;
  const isLate = takenAt === null || at.getTime() - takenAt.getTime() >= callMs;
  if (!isLate && claimedBy === by) return;
  if (isLate) await writeDuty(tx, { notaryId, environment }, { since: at, until: at });
  if (claimedBy === by && keepsClaim) return expire(tx, request, order, at);
  await setWaiting(tx, id, new Date(at.getTime() + waitMs));
  if (claimedBy === by) await releaseTaskIn(tx, taskId, { by, at });
  const detail = { request: id, notaryId };
  await tx.query(auditLine({ at, action: "notary.now_put_back", actor: "system", partnerId, orderId, detail }));
}
