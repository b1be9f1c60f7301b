import { lockOrder, nextSegmentQueue, targetOf, transition } from "../orders/orders.ts";
import type { Clock } from "../platform/clock.ts";
import type { Database } from "../platform/database/database.ts";
import { sql } from "../platform/database/sql.ts";
import type { Jobs } from "../platform/jobs/jobs.ts";
import type { Log } from "../platform/logs.ts";

type NextSegmentDeps = { db: Database; clock: Clock; log: Log };

/** Live orders whose service has ended go on to the next one, or to their end. */
export function nextSegmentJobs(jobs: Jobs, deps: NextSegmentDeps): void {
  jobs.work<{ orderId: number }>(nextSegmentQueue, ({ orderId }) => beginNextSegment(deps, orderId));
}

/** Begins the next service of an order, unless it went on, or elsewhere, meanwhile. */
export async function beginNextSegment({ db, clock, log }: NextSegmentDeps, orderId: number): Promise<void> {
  await db.transaction(async (tx) => {
    const [found] = await tx.query<{ code: string }>(sql`SELECT code FROM orders WHERE id = ${orderId}`);
    const order = found && (await lockOrder(tx, found.code));
    if (!order || targetOf(order, "next_segment") === null) return;
    await transition(tx, order, "next_segment", { actor: "system", at: clock(), log });
  });
}
