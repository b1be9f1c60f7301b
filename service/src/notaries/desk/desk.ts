import type { Operator } from "../../operators/operators.ts";
import type { Blobs } from "../../platform/blobs/blobs.ts";
import type { Clock } from "../../platform/clock.ts";
import type { Database, Sql } from "../../platform/database/database.ts";
import { ServiceError } from "../../platform/errors.ts";
import type { Log } from "../../platform/logs.ts";
import type { RowMac } from "../../platform/row-mac.ts";
import type { Workers } from "../../platform/workers/task.ts";
import type { SealDocument } from "../../seals/seals.ts";
import { claimTask, releaseTask } from "../../tasks/tasks.ts";
import { type Notary, notaryOfOperator } from "../commissions/store.ts";
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
  const { order } = await claimedOrder(deps, operator, code);
  await releaseTask(deps, order.taskId, operator.actor);
}

/** An order in the notary's hands. @throws ServiceError `not_found` for every other */
export async function claimedOrder({ db, clock, eligibility }: DeskDeps, operator: Operator, code: string) {
  const notary = await notaryOf(db, operator);
  const order = await waitingOrder(db, operator.environment, code);
  if (order?.claimedBy !== operator.actor) throw noOrder();
  return { notary, order, eligibility: eligibilityFor(eligibility, notary, order, clock()) };
}

export type Claimed = Awaited<ReturnType<typeof claimedOrder>>;
