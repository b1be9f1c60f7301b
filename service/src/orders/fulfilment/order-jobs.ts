import { servicePauseOf } from "../../firms/partners/partners.ts";
import type { Clock } from "../../kernel/platform/clock.ts";
import type { Database, Tx } from "../../kernel/platform/database/database.ts";
import { sql } from "../../kernel/platform/database/sql.ts";
import { enqueueAfter, type Jobs } from "../../kernel/platform/jobs/jobs.ts";
import type { Log } from "../../kernel/platform/logs.ts";
import { closeTasks, openTasksOf } from "../../kernel/tasks/tasks.ts";
import { dispatchQueue, faxesAhead, type LockedOrder, lockOrder, nextSegmentQueue, targetOf } from "../order/order.ts";
import { perform } from "./perform.ts";

type NextSegmentDeps = { db: Database; clock: Clock; log: Log };

/**
 * Moves live orders whose service has ended to their next service, or to their end. It happens at once, unless the firm
 * or the service's setting requires a pause.
 * @param waitSeconds for firms that have not chosen a pause
 */
export function nextSegmentJobs(jobs: Jobs, deps: NextSegmentDeps, waitSeconds: number): void {
  jobs.work<{ orderId: number; hasWaited?: boolean }>(nextSegmentQueue, async ({ orderId, hasWaited = false }) => {
    const waitMs = hasWaited ? 0 : await pauseMs(deps, orderId, waitSeconds);
    if (waitMs > 0) await enqueueAfter(deps.db, nextSegmentQueue, { orderId, hasWaited: true }, waitMs);
    else await beginNextSegment(deps, orderId);
  });
}

async function pauseMs({ db }: NextSegmentDeps, orderId: number, waitSeconds: number): Promise<number> {
  const [order] = await db.query<{ partnerId: string }>(
    sql`SELECT partner_id AS "partnerId" FROM orders WHERE id = ${orderId}`,
  );
  const minutes = order ? await servicePauseOf(db, order.partnerId) : null;
  return (minutes === null ? waitSeconds : minutes * 60) * 1_000;
}

/** Begins the next service of an order, unless the order has moved since the job was queued. */
export async function beginNextSegment({ db, clock, log }: NextSegmentDeps, orderId: number): Promise<void> {
  await db.transaction(async (tx) => {
    const [found] = await tx.query<{ code: string }>(
      sql`SELECT code AS "code@order" FROM orders WHERE id = ${orderId}`,
    );
    const order = found && (await lockOrder(tx, found.code));
    if (!order || targetOf(order, "next_segment") === null) return;
    await perform(tx, order, "next_segment", {}, { actor: "system", at: clock(), log });
  });
}

/** A provider that does a task of an order in place of people. */
export type Taker = {
  kind: "label_print" | "packet_print" | "fax_send";
  /** The actor that closes the task: `provider:lob`. */
  actor: string;
  /**
   * Claims a locked live order in the transaction that holds its task, and writes the intent. It is called again after
   * a hold, and must then return the same result for work in progress or done.
   * @returns the outcome that closes the task (`sent by Lob`); `beside` when the task stays open; null when people do
   * the work
   */
  take: (tx: Tx, order: LockedOrder, at: Date) => Promise<{ outcome: string } | "beside" | null>;
};

type DispatchDeps = { db: Database; clock: Clock };

/** Offers live orders that wait for a label, a letter or a fax to the providers. People do the rest. */
export function dispatchJobs(jobs: Jobs, deps: DispatchDeps, takers: readonly Taker[]): void {
  jobs.work<{ orderId: number }>(dispatchQueue, ({ orderId }) => dispatch(deps, takers, orderId));
}

const mayTake = (order: LockedOrder, kind: Taker["kind"]): boolean =>
  kind === "fax_send" ? order.status === "FaxPending" || faxesAhead(order) : order.status === "ShippingPending";

/** Only an unclaimed task goes to a provider, so that work is never done twice. */
export async function dispatch({ db, clock }: DispatchDeps, takers: readonly Taker[], orderId: number): Promise<void> {
  if (takers.length === 0) return;
  await db.transaction(async (tx) => {
    const [found] = await tx.query<{ code: string }>(
      sql`SELECT code AS "code@order" FROM orders WHERE id = ${orderId}`,
    );
    const order = found && (await lockOrder(tx, found.code));
    if (order?.environment !== "live") return;
    const due = takers.filter(({ kind }) => mayTake(order, kind));
    // Claiming a task also locks the order, so the state can't change in the meantime.
    const tasks = await openTasksOf(tx, { orderId, kinds: due.map(({ kind }) => kind) });
    for (const taker of due) {
      const task = tasks.find(({ kind, state }) => kind === taker.kind && state !== "paused");
      if (task?.state !== "open") continue;
      const at = clock();
      const taken = await taker.take(tx, order, at);
      if (taken === null || taken === "beside") continue;
      const end = { state: "done", at, by: taker.actor, outcome: taken.outcome } as const;
      await closeTasks(tx, { orderId, kinds: [taker.kind] }, end);
    }
  });
}
