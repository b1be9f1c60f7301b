import { sendToReceivers } from "./closing/deliveries/deliveries.ts";
import { sweepDrafts } from "./closing/drafts/drafts.ts";
import { closesToday, queueSeals, reportSealFailures, sendClosings } from "./closing/rooms/rooms.ts";
import { sweepFaxNumbers } from "./delivery/faxing/faxing.ts";
import { sweepLabels } from "./delivery/shipping/shipping.ts";
import type { LastUse } from "./firms/partners/partners.ts";
import { chainAuditLines } from "./kernel/audit/audit.ts";
import { sweepOrphans } from "./kernel/platform/blobs/orphans.ts";
import { dayMs, hourMs, minuteMs, secondMs } from "./kernel/platform/clock.ts";
import { withLongStatements } from "./kernel/platform/database/database.ts";
import { sweepIdempotencyKeys } from "./kernel/platform/idempotency-keys.ts";
import { sweepFailedJobs } from "./kernel/platform/jobs/jobs.ts";
import { mergeRevocations, revocationsFile } from "./kernel/platform/revocations.ts";
import { endsWithin } from "./kernel/platform/work/ends-within.ts";
import { loopOf, type PeriodicTask } from "./kernel/platform/work/periodic.ts";
import type { Resources } from "./kernel/resources.ts";
import {
  createMarkCheck,
  deleteDue,
  dueBefore,
  markedAmong,
  providerRecordsOf,
  type RetentionPlan,
} from "./kernel/retention/retention.ts";
import { verifyTasks } from "./kernel/tasks/tasks.ts";
import type { Sweep } from "./kernel/test-clock/test-clock.ts";
import type { Wing } from "./kernel/wing.ts";
import { checkMonths, closeMonths, watchIssuer } from "./orders/billing/billing.ts";
import { sweepBulks } from "./orders/bulk/bulk.ts";
import { sweepEndedFills } from "./orders/fills/fills.ts";
import { mailOrderUpdates } from "./orders/fulfilment/fulfilment.ts";
import { sweepFills } from "./orders/order/order.ts";
import { applySandboxSteps, type Processor, processorTasks, watchPayments } from "./orders/payments/payments.ts";
import { sweepExecutions } from "./orders/playbooks/playbooks.ts";
import { deleteExpiredSecrets, dropOldExchanges, sweepDeliveries } from "./outgoing/webhooks/webhooks.ts";
import { sweepProviderRecords } from "./providers/providers.ts";
import { type EnvelopeDeps, sweepEnvelopes } from "./signing/envelopes/envelopes.ts";
import { sweepAppointments, sweepRecordings, sweepRequests } from "./signing/notaries/notaries.ts";
import { type SigningParts, signingTasks } from "./signing/signing-tasks.ts";
import { makeHead } from "./upkeep/audit-heads/audit-heads.ts";
import {
  mailNewTasks,
  openServiceTasks,
  queuesToLookAt,
  type SigningCertificate,
  sendMorningMails,
} from "./upkeep/console/console.ts";
import { blobTables, retained } from "./upkeep/protected-data.ts";

// The longest wait for a periodic task when the node stops. A task that takes longer is abandoned, and its next run
// continues the work.
const stopMs = secondMs;
// Tasks with the same interval start this far apart. If all started at once, they would open every connection of the
// pool.
const apartMs = 20;
const failedJobsMs = 30 * dayMs;

type MaintainedParts = SigningParts & {
  certificates: readonly SigningCertificate[];
  lastUse: LastUse;
  wings: readonly Wing[];
  retention: RetentionPlan;
  processor: Processor | null;
};

const tasksOfRecords = (resources: Resources): PeriodicTask[] => [
  { name: "chain of the audit log", everyMs: secondMs, work: (stopping) => chainAuditLines(resources, stopping) },
  { name: "daily head of records", everyMs: 10 * minuteMs, atStart: true, work: () => makeHead(resources) },
  {
    name: "file of revocations",
    everyMs: 10 * secondMs,
    work: () => mergeRevocations(resources, revocationsFile(resources.config.dataDir)),
  },
];

const tasksOfPeople = ({ db, clock }: Resources, certificates: MaintainedParts["certificates"]): PeriodicTask[] => [
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

const tasksOfOrders = ({ db, clock }: Resources): PeriodicTask[] => {
  const sweeper = withLongStatements(db);
  return [
    { name: "expired idempotency keys", everyMs: hourMs, work: () => sweepIdempotencyKeys(sweeper, clock()) },
    { name: "expired fill tokens", everyMs: hourMs, work: () => sweepFills(sweeper, clock()) },
    { name: "drafts of closings that have expired", everyMs: hourMs, work: () => sweepDrafts(db, clock()) },
    { name: "forms that have ended", everyMs: hourMs, work: (stopping) => sweepEndedFills(db, clock(), stopping) },
    { name: "people of bulks that nobody placed", everyMs: hourMs, work: () => sweepBulks(sweeper, clock()) },
    {
      name: "expired playbook executions",
      everyMs: minuteMs,
      // Also runs when a node starts, for executions that became due while no node was running.
      atStart: true,
      work: (stopping) => sweepExecutions(db, clock(), stopping),
    },
    {
      name: "mails to members about their orders",
      everyMs: 30 * secondMs,
      work: () => mailOrderUpdates({ db, clock, closesToday }),
    },
  ];
};

const tasksOfMoney = (resources: Resources, { processor }: MaintainedParts): PeriodicTask[] => [
  { name: "payments without an answer", everyMs: 5 * minuteMs, work: (stopping) => watchPayments(resources, stopping) },
  { name: "issuer of receipts", everyMs: 5 * minuteMs, work: () => watchIssuer(resources, processor) },
  { name: "bank of the sandbox", everyMs: minuteMs, work: (stopping) => applySandboxSteps(resources, stopping) },
  ...processorTasks({ ...resources, processor }),
  { name: "months to close", everyMs: hourMs, atStart: true, work: (stopping) => closeMonths(resources, stopping) },
  {
    name: "closed months against their documents",
    everyMs: dayMs,
    work: (stopping) => checkMonths(resources, stopping),
  },
];

const tasksOfClosings = (resources: Resources): PeriodicTask[] => [
  {
    name: "documents for people who receive them",
    everyMs: 30 * secondMs,
    work: (stopping) => sendToReceivers(resources, stopping),
  },
  { name: "certificates of closings that are done", everyMs: 15 * secondMs, work: () => queueSeals(resources) },
  {
    name: "tasks about closings that could not be sealed",
    everyMs: 5 * minuteMs,
    work: () => reportSealFailures(resources),
  },
  { name: "lists of closings in the morning", everyMs: 5 * minuteMs, work: () => sendClosings(resources) },
];

const tasksOfWebhooks = ({ db, clock }: Resources, retention: RetentionPlan): PeriodicTask[] => {
  const sweeper = withLongStatements(db);
  return [
    { name: "expired webhook secrets", everyMs: hourMs, work: () => deleteExpiredSecrets(sweeper, clock()) },
    {
      name: "records of old webhook deliveries",
      everyMs: hourMs,
      async work(stopping) {
        const before = dueBefore(retention.webhookDeliveries, clock());
        if (before) await sweepDeliveries(sweeper, before, stopping);
      },
    },
    {
      name: "what was sent and answered in earlier webhook deliveries",
      everyMs: hourMs,
      work: (stopping) => dropOldExchanges(sweeper, stopping),
    },
  ];
};

const tasksOfProviders = ({ db, clock }: Resources, retention: RetentionPlan): PeriodicTask[] => [
  {
    name: "old records of providers",
    everyMs: hourMs,
    async work(stopping) {
      const before = dueBefore(providerRecordsOf(retention), clock());
      if (!before) return;
      await sweepProviderRecords(withLongStatements(db), before, stopping);
      await sweepLabels(db, before, stopping);
      await sweepFaxNumbers(db, before, stopping);
    },
  },
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
    {
      name: "documents that are due by the retention plan",
      everyMs: hourMs,
      // Also runs when a node starts, so that documents are deleted even if no node ever runs for a whole interval.
      atStart: true,
      async work(stopping) {
        await checkMarks(stopping);
        await deleteDue({ ...resources, ...retained }, retention, clock(), stopping);
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

const tasksOf = (resources: Resources, parts: MaintainedParts): PeriodicTask[] => [
  ...parts.wings.flatMap(({ tasks = [] }) => tasks),
  ...tasksOfRecords(resources),
  ...tasksOfOrders(resources),
  ...tasksOfMoney(resources, parts),
  ...tasksOfClosings(resources),
  ...signingTasks(resources, parts),
  ...tasksOfPeople(resources, parts.certificates),
  ...tasksOfWebhooks(resources, parts.retention),
  ...tasksOfProviders(resources, parts.retention),
  ...tasksOfStorage(resources, parts.retention),
];

/** Starts the periodic tasks of a node; each is safe to run on several nodes. @returns the function that stops them */
export function startMaintenance(resources: Resources, parts: MaintainedParts): () => Promise<void> {
  const loops = tasksOf(resources, parts).map((task, index) => loopOf(task, resources, index * apartMs));
  for (const loop of loops) loop.start();
  return async () => {
    await endsWithin(Promise.all(loops.map((loop) => loop.stop())), stopMs);
    await parts.lastUse.flush().catch((error) => resources.log.warn({ err: error }, "the last use of keys was lost"));
  };
}

const maxBatches = 100;

/**
 * The tasks that process a firm's due test objects after its clock was advanced. Most of them also process other firms'
 * due objects.
 */
export function testClockSweeps(deps: Resources & { retention: RetentionPlan }, envelopes: EnvelopeDeps): Sweep[] {
  const { db, clock, retention } = deps;
  return [
    async (_partnerId, stopping) => {
      // An envelope whose processing fails stays due, so the next run retries it.
      for (let batch = 0; batch < maxBatches && (await sweepEnvelopes(envelopes, stopping)); batch++);
    },
    (_partnerId, stopping) => sweepExecutions(db, clock(), stopping),
    (_partnerId, stopping) => sweepAppointments(deps, stopping),
    (_partnerId, stopping) => sweepRequests(deps, stopping),
    (_partnerId, stopping) => sweepRecordings(deps, stopping),
    // Must run before the months are closed: when a test clock passes the end of a month, the closed month must include
    // that month's payments.
    (partnerId, stopping) => applySandboxSteps(deps, stopping, partnerId),
    (_partnerId, stopping) => watchPayments(deps, stopping),
    (partnerId, stopping) => closeMonths(deps, stopping, partnerId),
    (partnerId, stopping) => deleteDue({ ...deps, ...retained }, retention, clock(), stopping, partnerId),
  ];
}
