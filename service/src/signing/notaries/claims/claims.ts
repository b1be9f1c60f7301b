import type { Operator } from "../../../firms/operators/operators.ts";
import type { Blobs } from "../../../kernel/platform/blobs/blobs.ts";
import type { Clock } from "../../../kernel/platform/clock.ts";
import type { Database, Sql, Tx } from "../../../kernel/platform/database/database.ts";
import { invalid, ServiceError } from "../../../kernel/platform/errors.ts";
import type { Log } from "../../../kernel/platform/logs.ts";
import type { RowMac } from "../../../kernel/platform/row-mac.ts";
import { isCode, rowIdIn } from "../../../kernel/platform/text.ts";
import { claimTaskIn, releaseTaskIn } from "../../../kernel/tasks/tasks.ts";
import { lockOrder, orderNotFound } from "../../../orders/order/order.ts";
import { commissionBlocks } from "../commissions/expiry.ts";
import { lockNotary, type Notary, notaryOfOperator } from "../commissions/store.ts";
import type { ReadEligibility } from "../eligibility/changes/in-force.ts";
import { type Eligibility, eligibilityFor } from "../eligibility/eligible.ts";
import { endWithoutAct, voidUnused } from "../sheets/room.ts";
import { openSheetOf } from "../sheets/store.ts";
import { latestRequest } from "./in-person-requests.ts";
import { claimedOrders, orderOfTask, unclaimedOrders, type WaitingOrder, waitingOrder } from "./orders.ts";
import type { NotaryPapers } from "./papers.ts";

export type DeskDeps = {
  db: Database;
  clock: Clock;
  log: Log;
  blobs: Blobs;
  rowMac: RowMac;
  papers: NotaryPapers;
  readEligibility: ReadEligibility;
  baseUrl: string;
};

export type EligibleOrder = { order: WaitingOrder; eligibility: Eligibility };

const maxShown = 200;

/**
 * Finds the requesting operator's own record as a notary.
 * @throws ServiceError `role_required` for an operator who is not on record as a notary
 */
export async function notaryOf(db: Sql, { id }: Pick<Operator, "id">): Promise<Notary> {
  const notary = id === null ? undefined : await notaryOfOperator(db, id);
  if (!notary) throw new ServiceError("role_required", "You are not on record as a notary. An administrator adds you.");
  return notary;
}

/**
 * The unclaimed orders that a notary may claim, and the orders that the notary has claimed. `others` counts the
 * unclaimed orders that the notary may not claim. Looks only at the 200 unclaimed orders that are due first.
 */
export async function deskOf(deps: DeskDeps, operator: Operator, notary: Notary) {
  const { db, clock, readEligibility } = deps;
  const now = clock();
  const [eligibility, waiting, mine] = await Promise.all([
    readEligibility(db),
    unclaimedOrders(deps, operator.environment, maxShown),
    claimedOrders(deps, operator.environment, operator.actor),
  ]);
  const judged = (order: WaitingOrder) => ({ order, eligibility: eligibilityFor(eligibility, notary, order, now) });
  const open = waiting.map(judged).filter(({ eligibility: { modes } }) => modes.length > 0);
  return { open, mine: mine.map(judged), others: waiting.length - open.length };
}

/**
 * Claims an order by the number of its task. The order's code is not used, because it would give access to the client's
 * page. Of two concurrent claims only one succeeds.
 * @returns the order's code
 * @throws ServiceError `not_found` for an order that the notary may not claim; `conflict` for one that is claimed
 * already
 */
export async function claimOrder(deps: DeskDeps, operator: Operator, task: string): Promise<string> {
  const { db, clock, readEligibility } = deps;
  const notary = await notaryOf(db, operator);
  const eligibility = await readEligibility(db);
  const taskId = rowIdIn(task);
  const order = taskId === undefined ? undefined : await orderOfTask(deps, operator.environment, taskId);
  if (!order || eligibilityFor(eligibility, notary, order, clock()).modes.length === 0) throw orderNotFound();
  await db.transaction(async (tx) => {
    await lockOrder(tx, order.code);
    await claimWaiting(tx, deps, order, { by: operator.actor, actor: operator.actor, at: clock() });
  });
  return order.code;
}

/**
 * Claims an order for a notary. The transaction must have locked the order.
 *
 * If an act of an earlier claim is still open, it ends here: nobody may continue an act that another notary saw.
 * @throws as `claimTaskIn`
 */
export async function claimWaiting(
  tx: Tx,
  { rowMac }: Pick<DeskDeps, "rowMac">,
  { orderId, taskId }: Pick<WaitingOrder, "orderId" | "taskId">,
  { by, actor, at }: { by: string; actor: string; at: Date },
): Promise<void> {
  await claimTaskIn(tx, taskId, { by, actor, at });
  await endWithoutAct(tx, rowMac, { orderId }, "abandoned", { by: "system", at });
}

/**
 * Releases an order that the operator has claimed. If another notary left an act open, it stays until the next claim,
 * which ends it.
 * @throws ServiceError `conflict` while the notary's own act is open, `not_found` for an order that the operator has
 * not claimed
 */
export async function releaseOrder(deps: DeskDeps, operator: Operator, code: string): Promise<void> {
  const { order, notary } = await orderInHands(deps, operator, code);
  const { actor } = operator;
  await deps.db.transaction(async (tx) => {
    await lockOrder(tx, code);
    const open = await openSheetOf({ ...deps, db: tx }, order.taskId);
    if (open?.notaryId === notary.id)
      throw new ServiceError("conflict", "An act is open for this order. End it first.");
    const at = deps.clock();
    await voidUnused(tx, deps.rowMac, order.orderId, at);
    await releaseTaskIn(tx, order.taskId, { by: actor, actor, at });
  });
}

async function orderInHands(deps: DeskDeps, operator: Operator, code: string) {
  const notary = await notaryOf(deps.db, operator);
  const order = isCode(code) ? await waitingOrder(deps, operator.environment, code) : undefined;
  if (order?.claimedBy !== operator.actor) throw orderNotFound();
  return { notary, order };
}

/**
 * An order that the notary has claimed.
 * @throws ServiceError `not_found` for any other order; `role_required` for a suspended notary, and for an operator who
 * is not a notary
 */
export async function claimedOrder(deps: DeskDeps, operator: Operator, code: string) {
  const { notary, order } = await orderInHands(deps, operator, code);
  requireActive(notary);
  const [rules, inPerson] = await Promise.all([deps.readEligibility(deps.db), latestRequest(deps.db, order.orderId)]);
  const eligibility = eligibilityFor(rules, notary, order, deps.clock());
  const title = deps.papers.titleOf(order);
  return { notary, order, title, eligibility, inPerson: inPerson ?? null };
}

export type Claimed = Awaited<ReturnType<typeof claimedOrder>>;

/**
 * Locks an order that the notary has claimed, and then the notary. Reads both again after the lock.
 * @throws ServiceError `conflict` when the notary has lost the claim; `validation` naming the reason when the
 * commission is not valid; `role_required` for a suspended notary
 */
export async function lockClaimed(tx: Tx, deps: DeskDeps, operator: Operator, { order, notary }: Claimed) {
  const locked = await lockOrder(tx, order.code);
  const now = await lockNotary(tx, notary.id);
  const still = await waitingOrder({ db: tx, rowMac: deps.rowMac }, operator.environment, order.code);
  if (!locked || !now || still?.taskId !== order.taskId || still.claimedBy !== operator.actor)
    throw new ServiceError("conflict", "You no longer have this order.");
  const at = deps.clock();
  requireActive(now);
  const blocks = commissionBlocks(now, at);
  if (blocks.length > 0) throw invalid(blocks.join(" "));
  const eligibility = eligibilityFor(await deps.readEligibility(tx), now, still, at);
  const inPerson = (await latestRequest(tx, still.orderId)) ?? null;
  return { locked, at, notary: now, order: still, eligibility, inPerson };
}

function requireActive({ status }: Notary): void {
  if (status === "suspended") throw new ServiceError("role_required", "You are suspended as a notary.");
}
