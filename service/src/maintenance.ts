import type { Anchoring } from "./anchoring/anchoring.ts";
import { sweepIdempotencyKeys } from "./http/idempotency.ts";
import { sweepSessions } from "./members/members.ts";
import { sweepFills } from "./orders/orders.ts";
import type { LastUse } from "./partners/partners.ts";
import { sweepOrphans } from "./platform/blobs/orphans.ts";
import { sweepFailedJobs } from "./platform/jobs/jobs.ts";
import { sweepExecutions } from "./playbooks/playbooks.ts";
import type { Resources } from "./resources.ts";
import { deleteLapsedSecrets } from "./webhooks/webhooks.ts";

const seconds = 1000;
const hours = 3600 * seconds;
const failedJobsKeptMs = 30 * 24 * hours;

/** What runs by the clock on every node; each task is safe beside itself on another. @returns the function that stops it. */
export function startMaintenance(
  { db, blobs, clock, log }: Resources,
  lastUse: LastUse,
  anchoring: Anchoring | null,
): () => Promise<void> {
  const stopping = new AbortController();
  const endDueExecutions = () => sweepExecutions(db, clock(), stopping.signal);
  const tasks: [name: string, everyMs: number, work: () => Promise<unknown>][] = [
    ["last use of keys", 30 * seconds, lastUse.flush],
    ["lapsed idempotency keys", hours, () => sweepIdempotencyKeys(db, clock())],
    ["expired sessions and sign-in links", hours, () => sweepSessions(db, clock())],
    ["expired fill tokens", hours, () => sweepFills(db, clock())],
    ["lapsed webhook secrets", hours, () => deleteLapsedSecrets(db, clock())],
    ["jobs that failed for good", hours, () => sweepFailedJobs(db, new Date(clock().getTime() - failedJobsKeptMs))],
    ["expired playbook executions", 60 * seconds, endDueExecutions],
    ["orphaned blobs", hours, () => sweepOrphans(db, blobs, clock())],
  ];
  if (anchoring) tasks.push(["unconfirmed anchors", 60 * seconds, () => anchoring.upgradePending(clock())]);
  const run = (name: string, work: () => Promise<unknown>) =>
    work().catch((error) => log.error({ err: error, task: name }, "maintenance failed"));
  const timers = tasks.map(([name, everyMs, work]) => setInterval(() => run(name, work), everyMs).unref());
  // What became due while no node was there ends now.
  const caughtUp = run("expired playbook executions", endDueExecutions);
  return async () => {
    for (const timer of timers) clearInterval(timer);
    stopping.abort();
    await caughtUp;
    await lastUse.flush();
  };
}
