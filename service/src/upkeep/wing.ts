import type { Sealing } from "../evidence/seals/seals.ts";
import type { Metrics } from "../kernel/platform/metrics.ts";
import type { Resources } from "../kernel/resources.ts";
import type { RetentionPlan } from "../kernel/retention/retention.ts";
import { type Sweep, testClockJobs, testClockRoutes } from "../kernel/test-clock/test-clock.ts";
import type { Wing } from "../kernel/wing.ts";
import { closeMonths } from "../orders/billing/billing.ts";
import { applySandboxSteps, watchPayments } from "../orders/payments/payments.ts";
import { sweepExecutions } from "../orders/playbooks/playbooks.ts";
import { type EnvelopeDeps, type SignerAuthorities, sweepEnvelopes } from "../signing/envelopes/envelopes.ts";
import { sweepAppointments, sweepRecordings, sweepRequests } from "../signing/notaries/notaries.ts";
import { backupMetrics } from "./backup/backup.ts";
import { taskMetrics } from "./console/console.ts";
import { broughtNearer } from "./declarations.ts";
import { examiner } from "./doctor/doctor.ts";
import { signingCertificates } from "./monitoring.ts";
import { deleteDueDocuments, upkeepTasks } from "./upkeep-tasks.ts";

type Parts = {
  metrics: Metrics;
  retention: RetentionPlan;
  keys: { sealing: Pick<Sealing, "chainPem">; signerAuthorities: SignerAuthorities };
  envelopes: EnvelopeDeps;
};

/** Opens the doctor and the test clock. Also lists the work on the records of all wings. */
export function openUpkeepWing(resources: Resources, { metrics, retention, keys, envelopes }: Parts) {
  const { db, clock } = resources;
  taskMetrics(metrics, { db, clock });
  backupMetrics(metrics, db);
  const testClock = { db, clock, nearer: broughtNearer };
  const certificates = signingCertificates(keys.sealing, keys.signerAuthorities);
  const wing: Wing = {
    routes: (app, { frame }) => testClockRoutes(app, { ...frame, ...testClock }),
    jobs: (jobs) => testClockJobs(jobs, { db, clock, sweeps: testClockSweeps(resources, retention, envelopes) }),
    tasks: upkeepTasks(resources, { certificates, retention }),
  };
  return { examine: examiner(resources), testClock, wing };
}

export type Upkeep = ReturnType<typeof openUpkeepWing>;

const maxBatches = 100;

/**
 * The tasks that process a firm's due test objects after its clock was advanced. Most of them also process other firms'
 * due objects.
 */
function testClockSweeps(resources: Resources, retention: RetentionPlan, envelopes: EnvelopeDeps): Sweep[] {
  const { db, clock } = resources;
  return [
    async (_partnerId, stopping) => {
      // An envelope whose processing fails stays due, so the next run retries it.
      for (let batch = 0; batch < maxBatches && (await sweepEnvelopes(envelopes, stopping)); batch++);
    },
    (_partnerId, stopping) => sweepExecutions(db, clock(), stopping),
    (_partnerId, stopping) => sweepAppointments(resources, stopping),
    (_partnerId, stopping) => sweepRequests(resources, stopping),
    (_partnerId, stopping) => sweepRecordings(resources, stopping),
    // Must run before the months are closed: when a test clock passes the end of a month, the closed month must include
    // that month's payments.
    (partnerId, stopping) => applySandboxSteps(resources, stopping, partnerId),
    (_partnerId, stopping) => watchPayments(resources, stopping),
    (partnerId, stopping) => closeMonths(resources, stopping, partnerId),
    (partnerId, stopping) => deleteDueDocuments(resources, retention, stopping, partnerId),
  ];
}
