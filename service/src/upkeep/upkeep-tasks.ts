import { chainAuditLines } from "../kernel/audit/audit.ts";
import { sweepOrphans } from "../kernel/platform/blobs/orphans.ts";
import { dayMs, hourMs, minuteMs, secondMs } from "../kernel/platform/clock.ts";
import { withLongStatements } from "../kernel/platform/database/database.ts";
import { sweepIdempotencyKeys } from "../kernel/platform/idempotency-keys.ts";
import { sweepFailedJobs } from "../kernel/platform/jobs/jobs.ts";
import { mergeRevocations, revocationsFile } from "../kernel/platform/revocations.ts";
import type { PeriodicTask } from "../kernel/platform/work/periodic.ts";
import type { Resources } from "../kernel/resources.ts";
import { createMarkCheck, deleteDue, markedAmong, type RetentionPlan } from "../kernel/retention/retention.ts";
import { verifyTasks } from "../kernel/tasks/tasks.ts";
import { makeHead } from "./audit-heads/audit-heads.ts";
import {
  mailNewTasks,
  openServiceTasks,
  queuesToLookAt,
  type SigningCertificate,
  sendMorningMails,
} from "./console/console.ts";
import { blobTables, retained } from "./protected-data.ts";

const failedJobsMs = 30 * dayMs;

type Parts = { certificates: readonly SigningCertificate[]; retention: RetentionPlan };

/** The periodic tasks of upkeep and of the kernel: those of records, then those of people, then those of storage. */
export const upkeepTasks = (resources: Resources, { certificates, retention }: Parts): PeriodicTask[] => [
  ...tasksOfRecords(resources),
  ...tasksOfPeople(resources, certificates),
  ...tasksOfStorage(resources, retention),
];

/** Deletes documents that are due by the retention plan: of all firms, or of one firm's test orders. */
export const deleteDueDocuments = (
  resources: Resources,
  retention: RetentionPlan,
  stopping: AbortSignal,
  partnerId?: string,
) => deleteDue({ ...resources, ...retained }, retention, resources.clock(), stopping, partnerId);

const tasksOfRecords = (resources: Resources): PeriodicTask[] => [
  { name: "chain of the audit log", everyMs: secondMs, work: (stopping) => chainAuditLines(resources, stopping) },
  { name: "daily head of records", everyMs: 10 * minuteMs, atStart: true, work: () => makeHead(resources) },
  {
    name: "file of revocations",
    everyMs: 10 * secondMs,
    work: () => mergeRevocations(resources, revocationsFile(resources.config.dataDir)),
  },
];

const tasksOfPeople = ({ db, clock }: Resources, certificates: Parts["certificates"]): PeriodicTask[] => [
  {
    name: "what the service needs of a person",
    everyMs: 5 * minuteMs,
    atStart: true,
    work: () => openServiceTasks({ db, clock, certificates }),
  },
  {
    name: "tasks that were altered",
    everyMs: hourMs,
    atStart: true,
    work: (stopping) => verifyTasks(withLongStatements(db), stopping),
  },
  { name: "mails about new tasks", everyMs: minuteMs, work: () => mailNewTasks({ db, clock }) },
  { name: "mails in the morning", everyMs: 5 * minuteMs, work: () => sendMorningMails({ db, clock }) },
];

const tasksOfStorage = (resources: Resources, retention: RetentionPlan): PeriodicTask[] => {
  const { db, blobs, clock, rowMac } = resources;
  const sweeper = withLongStatements(db);
  const marks = { db: sweeper, rowMac };
  const checkMarks = createMarkCheck({ ...marks, clock });
  const orphans = {
    db: sweeper,
    blobs,
    blobTables,
    markedAmong: (keys: readonly string[]) => markedAmong(marks, keys),
  };
  const failedBefore = () => new Date(clock().getTime() - failedJobsMs);
  return [
    { name: "expired idempotency keys", everyMs: hourMs, work: () => sweepIdempotencyKeys(sweeper, clock()) },
    {
      name: "documents that are due by the retention plan",
      everyMs: hourMs,
      // Also runs when a node starts, so that documents are deleted even if no node ever runs for a whole interval.
      atStart: true,
      async work(stopping) {
        await checkMarks(stopping);
        await deleteDueDocuments(resources, retention, stopping);
      },
    },
    { name: "marks of deletion", everyMs: minuteMs, work: checkMarks },
    { name: "orphaned blobs", everyMs: hourMs, work: (stopping) => sweepOrphans(orphans, clock(), stopping) },
    {
      name: "jobs that failed for good",
      everyMs: hourMs,
      work: async () => sweepFailedJobs(sweeper, failedBefore(), await queuesToLookAt(db)),
    },
  ];
};
