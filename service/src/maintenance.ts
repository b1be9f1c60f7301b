import { sweepIdempotencyKeys } from "./http/idempotency.ts";
import { sweepFills } from "./orders/orders.ts";
import type { LastUse } from "./partners/last-use.ts";
import { sweepOrphans } from "./platform/orphans.ts";
import type { Resources } from "./resources.ts";

const seconds = 1000;
const hours = 3600 * seconds;

/** What runs by the clock on every node; each task is safe beside itself on another. @returns the function that stops it. */
export function startMaintenance({ db, blobs, clock, log }: Resources, lastUse: LastUse): () => Promise<void> {
  const tasks: [name: string, everyMs: number, work: () => Promise<unknown>][] = [
    ["last use of keys", 30 * seconds, lastUse.flush],
    ["lapsed idempotency keys", hours, () => sweepIdempotencyKeys(db, clock())],
    ["expired fill tokens", hours, () => sweepFills(db, clock())],
    ["orphaned blobs", hours, () => sweepOrphans(db, blobs, clock())],
  ];
  const timers = tasks.map(([name, everyMs, work]) =>
    setInterval(() => {
      work().catch((error) => log.error({ err: error, task: name }, "maintenance failed"));
    }, everyMs).unref(),
  );
  return async () => {
    for (const timer of timers) clearInterval(timer);
    await lastUse.flush();
  };
}
