import type { Anchoring } from "./anchoring/anchoring.ts";
import { chainAuditLines } from "./audit/audit.ts";
import { openServiceTasks, queuesToLookAt, type SigningCertificate, sendMorningMails } from "./console/console.ts";
import { type EnvelopeDeps, followOverdue, issueCrls, sweepEnvelopes } from "./envelopes/envelopes.ts";
import { sweepFaxNumbers } from "./faxing/faxing.ts";
import { sweepInvitations, sweepSessions } from "./members/members.ts";
import { sweepDrafts, watchExpiries } from "./notaries/notaries.ts";
import { sweepFills } from "./orders/orders.ts";
import type { LastUse } from "./partners/partners.ts";
import { sweepOrphans } from "./platform/blobs/orphans.ts";
import { withLongStatements } from "./platform/database/database.ts";
import { sweepIdempotencyKeys } from "./platform/idempotency.ts";
import { sweepFailedJobs } from "./platform/jobs/jobs.ts";
import { mergeRevocations, revocationsFile } from "./platform/revocations.ts";
import { endsWithin } from "./platform/work/ends-within.ts";
import { createLoop, type Loop } from "./platform/work/loop.ts";
import { sweepExecutions } from "./playbooks/playbooks.ts";
import { sweepProviderRecords, takeUpStranded } from "./providers/providers.ts";
import type { Resources } from "./resources.ts";
import { deleteDue, dueBefore, markedAmong, providerRecordsOf, type RetentionPlan } from "./retention/retention.ts";
import { sweepLabels } from "./shipping/shipping.ts";
import { deleteExpiredSecrets, dropOldExchanges, sweepDeliveries } from "./webhooks/webhooks.ts";

const seconds = 1000;
const hours = 3600 * seconds;
// A sweep that takes longer to stop is let go: the next one takes it up again.
const stopMs = 1 * seconds;
const failedJobsKeptMs = 30 * 24 * hours;

type Task = { name: string; everyMs: number; atStart?: boolean; work: (stopping: AbortSignal) => Promise<unknown> };

type Kept = {
  envelopes: EnvelopeDeps;
  certificates: readonly SigningCertificate[];
  lastUse: LastUse;
  anchoring: Anchoring | null;
  retention: RetentionPlan;
};

function tasksOf(resources: Resources, { envelopes, certificates, lastUse, anchoring, retention }: Kept): Task[] {
  const { db, blobs, clock, rowMac } = resources;
  const sweeper = withLongStatements(db);
  const marks = { db: sweeper, rowMac };
  const orphans = { db: sweeper, blobs, markedAmong: (keys: readonly string[]) => markedAmong(marks, keys) };
  const failedBefore = () => new Date(clock().getTime() - failedJobsKeptMs);
  const tasks: Task[] = [
    { name: "last use of keys", everyMs: 30 * seconds, work: lastUse.flush },
    { name: "chain of the audit log", everyMs: seconds, work: (stopping) => chainAuditLines(resources, stopping) },
    {
      name: "file of revocations",
      everyMs: 10 * seconds,
      work: () => mergeRevocations(resources, revocationsFile(resources.config.dataDir)),
    },
    { name: "expired idempotency keys", everyMs: hours, work: () => sweepIdempotencyKeys(sweeper, clock()) },
    { name: "expired sessions and sign-in links", everyMs: hours, work: () => sweepSessions(sweeper, clock()) },
    {
      name: "invitations of long ago",
      everyMs: hours,
      work: async () => void (await sweepInvitations(sweeper, clock())),
    },
    { name: "expired fill tokens", everyMs: hours, work: () => sweepFills(sweeper, clock()) },
    { name: "expired webhook secrets", everyMs: hours, work: () => deleteExpiredSecrets(sweeper, clock()) },
    {
      name: "jobs that failed for good",
      everyMs: hours,
      work: async () => sweepFailedJobs(sweeper, failedBefore(), await queuesToLookAt(db)),
    },
    {
      name: "expired playbook executions",
      everyMs: 60 * seconds,
      // What became due while no node was there ends now.
      atStart: true,
      work: (stopping) => sweepExecutions(db, clock(), stopping),
    },
    {
      name: "envelopes that expire or remind",
      everyMs: 60 * seconds,
      atStart: true,
      work: (stopping) => sweepEnvelopes(envelopes, stopping),
    },
    {
      name: "revocation lists of signers' certificates",
      everyMs: 60 * seconds,
      atStart: true,
      work: (stopping) => issueCrls(envelopes, stopping),
    },
    {
      name: "what the service needs of a person",
      everyMs: 5 * 60 * seconds,
      atStart: true,
      work: () => openServiceTasks({ db, clock, certificates }),
    },
    { name: "mails in the morning", everyMs: 5 * 60 * seconds, work: () => sendMorningMails({ db, clock }) },
    {
      name: "orders whose envelope does not follow",
      everyMs: hours,
      atStart: true,
      work: (stopping) => followOverdue(envelopes, stopping),
    },
    {
      name: "documents that are due by the retention plan",
      everyMs: hours,
      // A short-lived node deletes, too.
      atStart: true,
      work: (stopping) => deleteDue(resources, retention, clock(), stopping),
    },
    { name: "notes of notarizations that ended", everyMs: hours, work: () => sweepDrafts(sweeper) },
    {
      name: "commissions of notaries that expire",
      everyMs: 24 * hours,
      atStart: true,
      work: (stopping) => watchExpiries(resources, stopping),
    },
    {
      name: "records of old webhook deliveries",
      everyMs: hours,
      async work(stopping) {
        const before = dueBefore(retention.webhookDeliveries, clock());
        if (before) await sweepDeliveries(sweeper, before, stopping);
      },
    },
    {
      name: "what was sent and answered in earlier webhook deliveries",
      everyMs: hours,
      work: (stopping) => dropOldExchanges(sweeper, stopping),
    },
    {
      name: "old records of providers",
      everyMs: hours,
      async work(stopping) {
        const before = dueBefore(providerRecordsOf(retention), clock());
        if (!before) return;
        await sweepProviderRecords(sweeper, before, stopping);
        await sweepLabels(sweeper, before, stopping);
        await sweepFaxNumbers(sweeper, before, stopping);
      },
    },
    {
      name: "acts of providers without a job",
      everyMs: 10 * 60 * seconds,
      atStart: true,
      work: () => takeUpStranded({ db, clock }),
    },
    { name: "orphaned blobs", everyMs: hours, work: (stopping) => sweepOrphans(orphans, clock(), stopping) },
  ];
  if (anchoring) {
    const work = (stopping: AbortSignal) => anchoring.upgradePending(clock(), stopping);
    tasks.push({ name: "unconfirmed anchors", everyMs: 60 * seconds, work });
  }
  return tasks;
}

/** What runs by the clock on every node; each task is safe beside itself on another. @returns the function that stops it. */
export function startMaintenance(resources: Resources, kept: Kept): () => Promise<void> {
  const loops = tasksOf(resources, kept).map((task) => loopOf(task, resources));
  for (const loop of loops) loop.start();
  return async () => {
    await endsWithin(Promise.all(loops.map((loop) => loop.stop())), stopMs);
    await kept.lastUse.flush().catch((error) => resources.log.warn({ err: error }, "the last use of keys was lost"));
  };
}

function loopOf({ name, everyMs, atStart, work }: Task, { log }: Resources): Loop {
  async function turn(stopping: AbortSignal): Promise<number> {
    await work(stopping);
    return everyMs;
  }
  return createLoop({ name, log, turn, firstAfterMs: atStart ? 0 : everyMs, longestPauseMs: everyMs });
}
