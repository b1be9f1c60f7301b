import type { Operator } from "../../operators/operators.ts";
import { lockOrder } from "../../orders/orders.ts";
import type { Blobs } from "../../platform/blobs/blobs.ts";
import type { Clock } from "../../platform/clock.ts";
import type { Database, Sql, Tx } from "../../platform/database/database.ts";
import { invalid, ServiceError } from "../../platform/errors.ts";
import type { Log } from "../../platform/logs.ts";
import type { RowMac } from "../../platform/row-mac.ts";
import { isCode } from "../../platform/text.ts";
import type { Workers } from "../../platform/workers/task.ts";
import type { SealDocument } from "../../seals/seals.ts";
import { claimTask, releaseTask } from "../../tasks/tasks.ts";
import { commissionBlocks } from "../commissions/expiry.ts";
import { lockNotary, type Notary, notaryOfOperator } from "../commissions/store.ts";
import { type Eligibility, type EligibilityDeps, eligibilityFor } from "../eligibility/eligible.ts";
import { claimedOrders, orderOfTask, unclaimedOrders, type WaitingOrder, waitingOrder } from "./orders.ts";

export type DeskDeps = {
  db: Database;
  clock: Clock;
  log: Log;
  blobs: Blobs;
  rowMac: RowMac;
  workers: Workers;
  sealDocument: SealDocument;
  eligibility: EligibilityDeps;
  /** PEM of the time-stamping authorities that are trusted. */
  tsaRoots: string;
  baseUrl: string;
};

export type EligibleOrder = { order: WaitingOrder; eligibility: Eligibility };

const mostShown = 200;

const noOrder = () => new ServiceError("not_found", "Order not found.");

/** The record of a notary who asks. @throws ServiceError `role_required` for who has none */
export async function notaryOf(db: Sql, { id }: Pick<Operator, "id">): Promise<Notary> {
  const notary = id === null ? undefined : await notaryOfOperator(db, id);
  if (!notary) throw new ServiceError("role_required", "You are not on record as a notary. An administrator adds you.");
  return notary;
}

/** The orders that a notary may take, and those the notary has taken. What may not be taken is not shown. */
export async function deskOf(deps: DeskDeps, operator: Operator, notary: Notary) {
  const { db, clock, eligibility } = deps;
  const now = clock();
  const [waiting, mine] = await Promise.all([
    unclaimedOrders(db, operator.environment, mostShown),
    claimedOrders(db, operator.environment, operator.actor),
  ]);
  const judged = (order: WaitingOrder) => ({ order, eligibility: eligibilityFor(eligibility, notary, order, now) });
  return {
    open: waiting.map(judged).filter(({ eligibility: { modes } }) => modes.length > 0),
    mine: mine.map(judged),
  };
}

/**
 * Takes an order by its task, since its code opens the client's page: of two at once one gets it.
 * @returns the order's code
 * @throws ServiceError `not_found` for one that the notary may not take
 */
export async function claimOrder(deps: DeskDeps, operator: Operator, task: string): Promise<string> {
  const { db, clock, eligibility } = deps;
  const notary = await notaryOf(db, operator);
  const order = /^\d{1,15}$/.test(task) ? await orderOfTask(db, operator.environment, Number(task)) : undefined;
  if (!order || eligibilityFor(eligibility, notary, order, clock()).modes.length === 0) throw noOrder();
  await claimTask(deps, order.taskId, operator.actor);
  return order.code;
}

export async function releaseOrder(deps: DeskDeps, operator: Operator, code: string): Promise<void> {
  const { order } = await orderInHands(deps, operator, code);
  await releaseTask(deps, order.taskId, operator.actor);
}

async function orderInHands({ db }: DeskDeps, operator: Operator, code: string) {
  const notary = await notaryOf(db, operator);
  const order = isCode(code) ? await waitingOrder(db, operator.environment, code) : undefined;
  if (order?.claimedBy !== operator.actor) throw noOrder();
  return { notary, order };
}

/** An order in the notary's hands. @throws ServiceError `not_found` for every other, `role_required` for who is suspended */
export async function claimedOrder(deps: DeskDeps, operator: Operator, code: string) {
  const { notary, order } = await orderInHands(deps, operator, code);
  requireActive(notary);
  return { notary, order, eligibility: eligibilityFor(deps.eligibility, notary, order, deps.clock()) };
}

export type Claimed = Awaited<ReturnType<typeof claimedOrder>>;

/**
 * Locks an order in the notary's hands, then the notary: what is written after is about both as they are then.
 * @throws ServiceError `conflict` when it is not in these hands any more, or why the commission does not count
 */
export async function lockClaimed(tx: Tx, deps: DeskDeps, operator: Operator, { order, notary }: Claimed) {
  const locked = await lockOrder(tx, order.code);
  const now = await lockNotary(tx, notary.id);
  const still = await waitingOrder(tx, operator.environment, order.code);
  if (!locked || !now || still?.taskId !== order.taskId || still.claimedBy !== operator.actor)
    throw new ServiceError("conflict", "The order is not in your hands any more.");
  const at = deps.clock();
  requireActive(now);
  const blocks = commissionBlocks(now, at);
  if (blocks.length > 0) throw invalid(blocks.join(" "));
  return { locked, at, notary: now, order: still, eligibility: eligibilityFor(deps.eligibility, now, still, at) };
}

function requireActive({ status }: Notary): void {
  if (status === "suspended") throw new ServiceError("role_required", "You are suspended as a notary.");
}
