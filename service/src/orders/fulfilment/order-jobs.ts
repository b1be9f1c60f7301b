import { servicePauseOf } from "../../firms/partners/partners.ts";
import type { Clock } from "../../kernel/platform/clock.ts";
import type { Database, Tx } from "../../kernel/platform/database/database.ts";
import { enqueueAfter, type Jobs } from "../../kernel/platform/jobs/jobs.ts";
import type { Log } from "../../kernel/platform/logs.ts";
import { closeTasks, openTasksOf } from "../../kernel/tasks/tasks.ts";
import {
  dispatchQueue,
  faxesAhead,
  type LockedOrder,
  lockOrderById,
  nextSegmentQueue,
  readOrderHead,
  targetOf,
} from "../order/order.ts";
import { perform } from "./perform.ts";

type NextSegmentDeps = { db: Database; clock: Clock; log: Log };

/**
 * Handles live orders when one of their services has ended: moves each order to its next service, or to its end. There
 * is no pause, unless the firm or the installation requires one.
 * @param waitSeconds the pause for firms that have not chosen one
 */
export function nextSegmentJobs(jobs: Jobs, deps: NextSegmentDeps, waitSeconds: number): void {
  jobs.work<{ orderId: number; hasWaited?: boolean }>(nextSegmentQueue, async ({ orderId, hasWaited = false }) => {
    const waitMs = hasWaited ? 0 : await pauseMs(deps, orderId, waitSeconds);
    if (waitMs > 0) await enqueueAfter(deps.db, nextSegmentQueue, { orderId, hasWaited: true }, waitMs);
    else await beginNextSegment(deps, orderId);
  });
}

async function pauseMs({ db }: NextSegmentDeps, orderId: number, waitSeconds: number): Promise<number> {
  const order = await readOrderHead(db, orderId);
  const minutes = order ? await servicePauseOf(db, order.partnerId) : null;
  return (minutes === null ? waitSeconds : minutes * 60) * 1_000;
}

/**
 * Moves an order to its next service, or to Completed after the last. Does nothing if the order's status no longer
 * allows this.
 */
export async function beginNextSegment({ db, clock, log }: NextSegmentDeps, orderId: number): Promise<void> {
  await db.transaction(async (tx) => {
    const order = await lockOrderById(tx, orderId);
    if (!order || targetOf(order, "next_segment") === null) return;
    await perform(tx, order, "next_segment", {}, { actor: "system", at: clock(), log });
  });
}

/** A provider that can do an order's task instead of people. */
export type Taker = {
  kind: "label_print" | "packet_print" | "fax_send";
  /** The actor that closes the task, such as `provider:lob`. */
  actor: string;
  /**
   * Claims a locked live order for the provider, and records the provider's work. Runs in the transaction that locks
   * the order. After a hold it is called again, and must then recognize work that is in progress or done.
   * @returns the outcome with which the task is closed, such as `sent by Lob`; `taskStaysOpen` when the provider works,
   * but people may still claim the task; null when people do the work
   */
  accept: (tx: Tx, order: LockedOrder, at: Date) => Promise<{ outcome: string } | "taskStaysOpen" | null>;
};

type DispatchDeps = { db: Database; clock: Clock };

/**
 * Offers the providers each live order that waits for a label, a letter or a fax. When no provider claims an order,
 * people do the work.
 */
export function dispatchJobs(jobs: Jobs, deps: DispatchDeps, takers: readonly Taker[]): void {
  jobs.work<{ orderId: number }>(dispatchQueue, ({ orderId }) => dispatch(deps, takers, orderId));
}

const canBeOffered = (order: LockedOrder, kind: Taker["kind"]): boolean =>
  kind === "fax_send" ? order.status === "FaxPending" || faxesAhead(order) : order.status === "ShippingPending";

/** Offers only an unclaimed task to a provider, so that no work is done twice. */
export async function dispatch({ db, clock }: DispatchDeps, takers: readonly Taker[], orderId: number): Promise<void> {
  if (takers.length === 0) return;
  await db.transaction(async (tx) => {
    const order = await lockOrderById(tx, orderId);
    if (order?.environment !== "live") return;
    const due = takers.filter(({ kind }) => canBeOffered(order, kind));
    // The order is locked, and a person who claims a task must lock the order too. So no task changes its state until
    // this transaction ends.
    const tasks = await openTasksOf(tx, { orderId, kinds: due.map(({ kind }) => kind) });
    for (const taker of due) {
      const task = tasks.find(({ kind, state }) => kind === taker.kind && state !== "paused");
      if (task?.state !== "open") continue;
      const at = clock();
      const offer = await taker.accept(tx, order, at);
      if (offer === null || offer === "taskStaysOpen") continue;
      const end = { state: "done", at, by: taker.actor, outcome: offer.outcome } as const;
      await closeTasks(tx, { orderId, kinds: [taker.kind] }, end);
    }
  });
}
