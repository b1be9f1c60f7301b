import type { FastifyInstance } from "fastify";
import { accessMailJobs, accessRoutes } from "./access-requests/access-requests.ts";
import { analyticsRoutes } from "./analytics/analytics.ts";
import { backupMetrics } from "./backup/backup.ts";
import { closingRecord, closingRoutes } from "./closing-passports/closing-passports.ts";
import { taskMetrics } from "./console/console.ts";
import { examiner } from "./doctor/doctor.ts";
import {
  envelopeJobs,
  envelopeRecord,
  envelopeVerificationRoutes,
  openOrderDocument,
  orderDocuments,
  probeSignerAuthorities,
  readSigning,
  signingRoutes,
  sweepEnvelopes,
} from "./envelopes/envelopes.ts";
import { openFaxing } from "./faxing/faxing.ts";
import { type AppDeps, type Features, openFeatures } from "./features.ts";
import { dispatchJobs, nextSegmentJobs, orderMailJobs, sandboxRoutes } from "./fulfilment/fulfilment.ts";
import { serviceGauges } from "./gauges.ts";
import { healthRoutes, refuseWhenOutdated } from "./http/health.ts";
import { openapi } from "./http/openapi/openapi.ts";
import { openRateLimits } from "./http/rate-limits.ts";
import { openReadiness, type Probe, type ReadReadiness } from "./http/readiness.ts";
import { createServer } from "./http/server.ts";
import { ignoreMultipart } from "./http/uploads/multipart.ts";
import {
  confirmationMailJobs,
  factorMailJobs,
  invitationMailJobs,
  keyMailJobs,
  linkRoute,
  memberMailJobs,
  signInMailJobs,
} from "./members/members.ts";
import { appointmentMailJobs, expiryMailJobs } from "./notaries/notaries.ts";
import { operatorMailJobs, operatorSessions } from "./operators/operators.ts";
import { isDocumentsToken, orderRoutes } from "./orders/orders.ts";
import { launchpadRoutes, partnerRoutes, readShownFirm } from "./partners/partners.ts";
import { checkoutRoute, checkoutUrl, paymentJobs, processorWebhook } from "./payments/payments.ts";
import { sql } from "./platform/database/sql.ts";
import { createJobs, type Jobs } from "./platform/jobs/jobs.ts";
import { type Mailer, openMailer } from "./platform/mail/mail.ts";
import { playbookRoutes, sweepExecutions } from "./playbooks/playbooks.ts";
import { passportRoutes, proofRecord } from "./proof-passports/proof-passports.ts";
import { providerWebhook } from "./providers/providers.ts";
import { deleteDue } from "./retention/retention.ts";
import { roomMailJobs, roomRoutes } from "./rooms/rooms.ts";
import { openShipping, requireNoLetter } from "./shipping/shipping.ts";
import { type Sweep, testClockJobs, testClockRoutes } from "./test-clock/test-clock.ts";
import { openAssets, type PageDeps, pages, unmatchedPage } from "./web/pages.ts";
import { failingMailJobs, webhookRoutes, webhooksSection } from "./webhooks/webhooks.ts";

/** Wires everything into one server; listens nowhere yet. */
export async function createApp(deps: AppDeps): Promise<FastifyInstance> {
  const { config, log, metrics } = deps;
  const limits = await openRateLimits({ enabled: config.rateLimits, redisUrl: config.redisUrl }, (error) =>
    log.warn({ err: error }, "Redis does not answer; this node counts for itself"),
  );
  const features = openFeatures(deps, limits);
  const assets = await openAssets();
  const app = createServer({
    log,
    metrics,
    baseUrl: config.baseUrl,
    trustProxy: config.trustProxy,
    unmatchedPage: unmatchedPage(assets),
  });
  app.addHook("onClose", limits.close);
  refuseWhenOutdated(app, deps.schemaWatch.isOutdated);
  const readiness = readinessOf(deps);
  const mailer = workWith(app, deps, features);
  serviceGauges(metrics, { ...deps, readiness, limits, mailer });
  ignoreMultipart(app);
  await openapi(app, config.baseUrl, webhooksSection, limits.limit("page"));
  await app.register(async (routes) => {
    await addRoutes(routes, { ...deps, readiness }, features);
    await pages(routes, pageDeps({ ...deps, readiness }, features, assets));
  });
  await app.ready();
  return app;
}

/** What goes on beside the requests, from listening to closing: deliveries of webhooks, and jobs. */
function workWith(
  app: FastifyInstance,
  deps: AppDeps,
  { dispatcher, processor, orders, envelopes, providers, receipts }: Features,
): Mailer {
  const { config, db, clock, log, metrics } = deps;
  app.addHook("onListen", async () => dispatcher.start());
  const mailer = openMailer({ ...config, clock, onKept: deps.onMailKept });
  const ended = metrics.counter("jobs_total", "Jobs that ended, by what became of them.", ["queue", "outcome"]);
  const jobs: Jobs = createJobs({ db, log, onOutcome: (queue, outcome) => ended.inc({ queue, outcome }) });
  const mails = { db, clock, secrets: deps.secrets, rowMac: deps.rowMac, mailer, baseUrl: config.baseUrl };
  paymentJobs(jobs, { db, clock, log, processor });
  nextSegmentJobs(jobs, { db, clock, log });
  taskMetrics(metrics, { db, clock });
  backupMetrics(metrics, db);
  const { titleOf, takesPayment } = orders;
  orderMailJobs(jobs, { ...mails, titleOf, takesPayment });
  envelopeJobs(jobs, { ...envelopes, mailer, titleOf });
  roomMailJobs(jobs, mails);
  accessMailJobs(jobs, mails);
  signInMailJobs(jobs, mails);
  confirmationMailJobs(jobs, mails);
  factorMailJobs(jobs, mails);
  memberMailJobs(jobs, mails);
  keyMailJobs(jobs, mails);
  invitationMailJobs(jobs, mails);
  expiryMailJobs(jobs, mails);
  appointmentMailJobs(jobs, mails);
  operatorMailJobs(jobs, mails);
  failingMailJobs(jobs, mails);
  const outside = { ...deps, ...config, providers, receipts, envelopes, fetch };
  dispatchJobs(jobs, deps, [...openShipping(jobs, outside), ...openFaxing(jobs, outside)]);
  providers.work(jobs);
  receipts.work(jobs);
  testClockJobs(jobs, { db, clock, sweeps: testClockSweeps(deps, envelopes) });
  app.addHook("onListen", jobs.start);
  let stopped: Promise<void> | undefined;
  const stop = () => {
    stopped ??= Promise.all([dispatcher.stop(), jobs.stop()]).then(() => mailer.close());
    return stopped;
  };
  app.addHook("onClose", stop);
  // The requests go on for a while: load balancers have to see that this node is not ready.
  deps.schemaWatch.outdated
    .then(stop)
    .catch((error: unknown) => log.error({ err: error }, "the work of an outdated node did not stop"));
  return mailer;
}

const mostBatches = 100;

/** What has come due of a firm's test objects; envelopes and executions of others that are due are done with them. */
function testClockSweeps(deps: AppDeps, envelopes: Features["envelopes"]): Sweep[] {
  const { db, clock, retention } = deps;
  return [
    async (_partnerId, stopping) => {
      // An envelope that can't be expired stays due.
      for (let batch = 0; batch < mostBatches && (await sweepEnvelopes(envelopes, stopping)); batch++);
    },
    (_partnerId, stopping) => sweepExecutions(db, clock(), stopping),
    (partnerId, stopping) => deleteDue(deps, retention, clock(), stopping, partnerId),
  ];
}

/** Asks what the service can't do without. */
function readinessOf({ config, db, blobs, clock, log, sealing, signerAuthorities }: AppDeps): ReadReadiness {
  // A key in a file is the node's own, and another node may have a good one; a key service is the same for all.
  const isShared = (key: string) => !key.startsWith("file:");
  const isOutside = config.databaseUrl !== null;
  const query = async () => void (await db.query(sql`SELECT 1`));
  const signers = () => probeSignerAuthorities(signerAuthorities, clock());
  const probes: Probe[] = [
    { name: "database", check: isOutside ? db.checkStatements : query },
    { name: "blobs", check: blobs.probe, isShared: true },
    { name: "seal key", check: sealing.probe, isShared: isShared(config.sealKey) },
    { name: "signer authority", check: signers, isShared: isShared(config.signerCaKey) },
  ];
  // Without notifications jobs start up to five seconds late.
  if (isOutside) probes.push({ name: "notifications", check: db.checkNotifications, isShared: true });
  return openReadiness(probes, (probe, error) => log.error({ err: error, probe }, "not ready"));
}

type ReadyDeps = AppDeps & { readiness: ReadReadiness };

async function addRoutes(app: FastifyInstance, deps: ReadyDeps, features: Features): Promise<void> {
  const { config, version, metrics, readiness, isDraining } = deps;
  healthRoutes(app, { version, metrics, metricsToken: config.metricsToken, readiness, isDraining });
  partnerRoutes(app, features.partners);
  linkRoute(app, features.members);
  launchpadRoutes(app, features.partners);
  accessRoutes(app, features.access);
  analyticsRoutes(app, features.analytics);
  playbookRoutes(app, features.playbooks);
  orderRoutes(app, features.orders);
  signingRoutes(app, { ...features.frame, ...features.envelopes });
  envelopeVerificationRoutes(app, { ...features.frame, ...features.envelopes });
  checkoutRoute(app, features.checkout);
  await processorWebhook(app, features.processorEvents);
  await providerWebhook(app, { ...deps, providers: features.providers });
  sandboxRoutes(app, features.sandbox);
  testClockRoutes(app, features.testClock);
  roomRoutes(app, features.rooms);
  passportRoutes(app, features.passports);
  closingRoutes(app, features.closings);
  webhookRoutes(app, features.webhooks);
}

function pageDeps(deps: ReadyDeps, features: Features, assets: PageDeps["assets"]): PageDeps {
  const { config, db, sealing } = deps;
  const {
    frame,
    access,
    analytics,
    checkout,
    closings,
    envelopes,
    members,
    orders,
    passports,
    sandbox,
    testClock,
    webhooks,
  } = features;
  return {
    limits: frame.limits,
    assets,
    retention: deps.retention,
    baseUrl: config.baseUrl,
    outbox: deps.outbox,
    verify: {
      sealCertificates: sealing.trustList,
      proofRecord: (verifyCode) => proofRecord(passports, verifyCode),
      closingRecord: (verifyCode) => closingRecord(closings, verifyCode),
      envelopeRecord: (verifyCode) => envelopeRecord(envelopes, verifyCode),
    },
    client: {
      db,
      checkoutUrl: (code) => checkoutUrl(checkout, code, null),
      paymentsConfigured: checkout.processor !== null,
      titleOf: orders.titleOf,
      firmOf: (partnerId) => readShownFirm(db, partnerId),
      signersOf: async (code) => (await readSigning(envelopes, code, null)).signers,
      documents: {
        isToken: (code, token) => isDocumentsToken(deps.secrets, code, token),
        of: (code) => orderDocuments(db, code, null),
        read: (orderCode, documentId) => openOrderDocument(envelopes, { orderCode, owner: null, documentId }),
      },
    },
    signing: features.signing,
    visitor: { requestAccess: access.requestAccess, recaptcha: config.recaptcha },
    members: {
      envelopes,
      readiness: deps.readiness,
      examine: examiner(deps),
      resolveOperator: operatorSessions(deps),
      openSealer: async () => ({ sealDocument: sealing.sealDocument, close: async () => {} }),
      requireByHand: requireNoLetter,
      refundApproval: config.refundApproval,
      ...members,
      ...orders,
      ...sandbox,
      ...passports,
      ...closings,
      ...webhooks,
      ...analytics,
      ...testClock,
      notaryDesk: features.notaryDesk,
      providers: features.providers,
      finished: features.finished,
      storageUse: features.storageUse,
    },
  };
}
