import type { AppDeps, Features } from "./features.ts";
import { secondMs } from "./kernel/platform/clock.ts";
import { createJobs, type Jobs } from "./kernel/platform/jobs/jobs.ts";
import { type Mailer, openMailer } from "./kernel/platform/mail/mail.ts";
import { endsWithin } from "./kernel/platform/work/ends-within.ts";
import { loopOf } from "./kernel/platform/work/periodic.ts";
import { watchSessions } from "./signing/notaries/notaries.ts";

/**
 * The background work of a node: webhook deliveries and jobs. It ends when `stop` is called, or when a newer release
 * has migrated the database.
 */
type Work = { mailer: Mailer; start: () => Promise<void>; stop: () => Promise<void> };

export function openWork({ resources, node, transparencyLog }: AppDeps, features: Features): Work {
  const { config, db, clock, log, secrets, rowMac } = resources;
  const { metrics, schemaWatch } = node;
  const { dispatcher } = features.outgoing;
  const { live } = features.signing.notaries;
  const mailer = openMailer({
    ...config,
    clock,
    onStored: node.onMailStored,
    newestCheckpoint: transparencyLog.newestSeen,
  });
  const ended = metrics.counter("jobs_total", "Jobs that ended, by what became of them.", ["queue", "outcome"]);
  const jobs: Jobs = createJobs({ db, log, onOutcome: (queue, outcome) => ended.inc({ queue, outcome }) });
  const mailDeps = { db, clock, secrets, rowMac, mailer, baseUrl: config.baseUrl };
  for (const { wing } of Object.values(features)) wing.jobs?.(jobs, mailDeps);
  let stopped: Promise<void> | undefined;
  let endWatch = async (): Promise<void> => {};
  const endLive = async () => {
    await endWatch();
    live?.recordings.stop();
  };
  const stop = () => {
    stopped ??= Promise.all([dispatcher.stop(), jobs.stop(), endLive()]).then(() => mailer.close());
    return stopped;
  };
  // Only the background work of an outdated node stops here. The node answers requests for a while longer, because load
  // balancers need time to notice that it is not ready.
  schemaWatch.outdated
    .then(stop)
    .catch((error: unknown) => log.error({ err: error }, "the work of an outdated node did not stop"));
  const start = () => {
    dispatcher.start();
    if (live) endWatch = watchSessions(live);
    return jobs.start();
  };
  return { mailer, start, stop };
}

// The longest wait for a periodic task when the node stops. A task that takes longer is abandoned, and its next run
// continues the work.
const stopMs = secondMs;
// Tasks with the same interval start this far apart. If all started at once, they would open every connection of the
// pool.
const apartMs = 20;

/** Starts the periodic tasks of a node; each is safe to run on several nodes. @returns the function that stops them */
export function startTasks({ resources, node: { lastUse } }: AppDeps, features: Features): () => Promise<void> {
  const { log } = resources;
  const tasks = Object.values(features).flatMap(({ wing }) => wing.tasks ?? []);
  const loops = tasks.map((task, index) => loopOf(task, resources, index * apartMs));
  for (const loop of loops) loop.start();
  return async () => {
    await endsWithin(Promise.all(loops.map((loop) => loop.stop())), stopMs);
    await lastUse.flush().catch((error) => log.warn({ err: error }, "the last use of keys was lost"));
  };
}
