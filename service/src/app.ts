import type { FastifyInstance } from "fastify";
import { closingRecord, closingRoutes } from "./closing/closing-passports/closing-passports.ts";
import { type DeliveryDeps, deliveryMail } from "./closing/deliveries/deliveries.ts";
import { clientCheckout, payableOfClient, roomMail, roomRoutes } from "./closing/rooms/rooms.ts";
import { openFaxing } from "./delivery/faxing/faxing.ts";
import { openShipping } from "./delivery/shipping/shipping.ts";
import { passportRoutes, proofRecord } from "./evidence/proof-passports/proof-passports.ts";
import { logMetrics, logRoutes } from "./evidence/transparency-log/transparency-log.ts";
import { type AppDeps, type Features, openFeatures } from "./features.ts";
import { accessMail, accessRoutes } from "./firms/access-requests/access-requests.ts";
import {
  confirmationMail,
  factorMail,
  invitationMail,
  keyMail,
  linkRoute,
  memberMail,
  signInMail,
} from "./firms/members/members.ts";
import { operatorMail, operatorSessions } from "./firms/operators/operators.ts";
import { launchpadRoutes, partnerRoutes, readShownFirm } from "./firms/partners/partners.ts";
import { boundConnections } from "./kernel/http/client-address.ts";
import { healthRoutes, refuseWhenOutdated } from "./kernel/http/health.ts";
import { openapi } from "./kernel/http/openapi/openapi.ts";
import { openRateLimits } from "./kernel/http/rate-limits.ts";
import { openReadiness, type Probe, type ReadReadiness } from "./kernel/http/readiness.ts";
import { createServer } from "./kernel/http/server.ts";
import { ignoreMultipart } from "./kernel/http/uploads/multipart.ts";
import { sql } from "./kernel/platform/database/sql.ts";
import { createJobs, type Jobs } from "./kernel/platform/jobs/jobs.ts";
import { type Mailer, openMailer } from "./kernel/platform/mail/mail.ts";
import { testClockJobs, testClockRoutes } from "./kernel/test-clock/test-clock.ts";
import { readVersion } from "./kernel/version.ts";
import { testClockSweeps } from "./maintenance.ts";
import { analyticsRoutes } from "./orders/analytics/analytics.ts";
import { bulkRoutes } from "./orders/bulk/bulk.ts";
import { fillMail, fillRoutes } from "./orders/fills/fills.ts";
import {
  dispatchJobs,
  mailDocuments,
  nextSegmentJobs,
  orderMail,
  sandboxRoutes,
} from "./orders/fulfilment/fulfilment.ts";
import { isDocumentsToken, orderRoutes } from "./orders/order/order.ts";
import {
  checkoutRoute,
  checkoutUrl,
  isPaymentInProcess,
  paymentJobs,
  processorWebhook,
} from "./orders/payments/payments.ts";
import { playbookRoutes } from "./orders/playbooks/playbooks.ts";
import { partRefundJobs } from "./orders/refunds/refunds.ts";
import { templateRoutes } from "./orders/templates/templates.ts";
import { failingMail, webhookRoutes, webhooksSection } from "./outgoing/webhooks/webhooks.ts";
import { type Assets, openAssets, type PageDeps, pages, standaloneVerifier, unmatchedPage } from "./pages/pages.ts";
import { providerWebhook } from "./providers/providers.ts";
import {
  envelopeJobs,
  envelopeRecord,
  envelopeVerificationRoutes,
  openOrderDocument,
  orderDocuments,
  probeSignerAuthorities,
  readSigning,
  signingMail,
  signingRoutes,
} from "./signing/envelopes/envelopes.ts";
import {
  appointmentInvitationMail,
  appointmentMail,
  expiryMail,
  identityJobs,
  identityMail,
  inPersonMail,
  inPersonRoutes,
  recordingMail,
  sessionMail,
} from "./signing/notaries/notaries.ts";
import { backupMetrics } from "./upkeep/backup/backup.ts";
import { taskMetrics } from "./upkeep/console/console.ts";
import { examiner } from "./upkeep/doctor/doctor.ts";
import { serviceGauges } from "./upkeep/gauges.ts";

/** Wires everything into one server; listens nowhere yet. */
export async function createApp(deps: AppDeps): Promise<FastifyInstance> {
  const { config, log, metrics } = deps;
  const version = readVersion();
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
  const refused = metrics.counter("connections_refused_total", "Connections beyond CONNECTIONS_PER_ADDRESS.", []);
  const { connectionsPerAddress: perAddress, trustProxy: unbounded } = config;
  boundConnections(app.server, { perAddress, unbounded, onRefused: () => refused.inc({}) });
  app.addHook("onClose", limits.close);
  refuseWhenOutdated(app, deps.schemaWatch.isOutdated);
  const readiness = readinessOf(deps);
  const mailer = workWith(app, deps, features);
  serviceGauges(metrics, { ...deps, version, readiness, limits, mailer });
  logMetrics(metrics, deps.transparencyLog);
  ignoreMultipart(app);
  await openapi(app, config.baseUrl, webhooksSection, limits.limit("page"));
  await app.register(async (routes) => {
    await addRoutes(routes, deps, features, { readiness, version });
    await pages(routes, pageDeps(deps, features, readiness, assets));
  });
  await app.ready();
  return app;
}

/** Everything that is mailed. */
const mails = [
  orderMail,
  signingMail,
  roomMail,
  deliveryMail,
  accessMail,
  signInMail,
  confirmationMail,
  factorMail,
  memberMail,
  keyMail,
  invitationMail,
  expiryMail,
  appointmentMail,
  recordingMail,
  inPersonMail,
  identityMail,
  fillMail,
  sessionMail,
  appointmentInvitationMail,
  operatorMail,
  failingMail,
];

/** Runs the background work from listening to closing: deliveries of webhooks, and jobs. */
function workWith(
  app: FastifyInstance,
  deps: AppDeps,
  { dispatcher, processor, desk, envelopes, providers, receipts, identity }: Features,
): Mailer {
  const { config, db, clock, log, metrics } = deps;
  app.addHook("onListen", async () => dispatcher.start());
  const mailer = openMailer({ ...config, clock, onKept: deps.onMailKept });
  const ended = metrics.counter("jobs_total", "Jobs that ended, by what became of them.", ["queue", "outcome"]);
  const jobs: Jobs = createJobs({ db, log, onOutcome: (queue, outcome) => ended.inc({ queue, outcome }) });
  paymentJobs(jobs, { db, clock, log, processor });
  partRefundJobs(jobs, { db, clock, log, processor });
  nextSegmentJobs(jobs, { db, clock, log }, config.nextServiceWait);
  taskMetrics(metrics, { db, clock });
  backupMetrics(metrics, db);
  envelopeJobs(jobs, envelopes);
  const { secrets, rowMac } = deps;
  const { baseUrl } = config;
  const { titleOf, takesPayment } = desk;
  for (const mail of mails) mail.work(jobs, { db, clock, secrets, rowMac, mailer, baseUrl, titleOf, takesPayment });
  const { easypost, lob, telnyx } = config;
  const outside = { ...deps, baseUrl, easypost, lob, telnyx, providers, receipts, envelopes, fetch };
  dispatchJobs(jobs, deps, [...openShipping(jobs, outside), ...openFaxing(jobs, outside)]);
  identityJobs(jobs, providers, identity);
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

async function addRoutes(
  app: FastifyInstance,
  deps: AppDeps,
  features: Features,
  { readiness, version }: { readiness: ReadReadiness; version: string },
): Promise<void> {
  const { config, metrics, isDraining } = deps;
  const { frame, uploadPlaces, desk, envelopes, passports, closings, webhooks, playbooks } = features;
  healthRoutes(app, { version, metrics, metricsToken: config.metricsToken, readiness, isDraining });
  partnerRoutes(app, { ...frame, ...features.partners });
  linkRoute(app, { ...frame, ...features.members });
  launchpadRoutes(app, { ...frame, db: deps.db });
  accessRoutes(app, { ...frame, requestAccess: features.requestAccess });
  analyticsRoutes(app, { ...frame, readAnalytics: features.readAnalytics });
  playbookRoutes(app, { frame, playbooks, enabled: config.playbooks });
  orderRoutes(app, { frame, orders: desk.orders, uploadPlaces, withTemplate: desk.withTemplate });
  bulkRoutes(app, { frame, bulk: desk.bulk, uploadPlaces });
  fillRoutes(app, { frame, fills: desk.fills });
  templateRoutes(app, { frame, templates: desk.orders, uploadPlaces });
  signingRoutes(app, { frame, envelopes });
  inPersonRoutes(app, { frame, db: deps.db, clock: deps.clock });
  envelopeVerificationRoutes(app, { frame, envelopes });
  checkoutRoute(app, { ...frame, ...features.checkout });
  await processorWebhook(app, features.processorEvents);
  await providerWebhook(app, { ...deps, providers: features.providers });
  sandboxRoutes(app, { frame, sandbox: desk.sandbox, baseUrl: config.baseUrl });
  testClockRoutes(app, { ...frame, ...features.testClock });
  roomRoutes(app, { ...frame, ...features.checkout }, deps.rowMac);
  const { trustList } = deps.sealing;
  passportRoutes(app, { frame, passports, trustList, proofCertificate: features.proofCertificate });
  closingRoutes(app, { frame, closings });
  logRoutes(app, { db: deps.db, limits: frame.limits });
  webhookRoutes(app, { frame, webhooks });
}

const deliveriesWith = (
  { secrets, sealing }: AppDeps,
  { db, rowMac, blobs, log, clock, titleOf, baseUrl }: Features["closings"],
  assets: Assets,
): DeliveryDeps => ({
  ...{ db, rowMac, blobs, log, clock, titleOf, secrets },
  verifier: { baseUrl, page: async () => Buffer.from(standaloneVerifier(assets, await sealing.trustList())) },
});

function pageDeps(deps: AppDeps, features: Features, readiness: ReadReadiness, assets: Assets): PageDeps {
  const { config, db, sealing } = deps;
  const { checkout, closings, desk, envelopes, passports } = features;
  const deliveries = deliveriesWith(deps, closings, assets);
  return {
    common: { limits: features.frame.limits, assets, retention: deps.retention },
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
      rowMac: deps.rowMac,
      payments: {
        isConfigured: checkout.processor !== null,
        checkoutUrl: (code) => checkoutUrl(checkout, code, null),
        isInProcess: (code) => isPaymentInProcess(db, code),
        payableTogether: (code) => payableOfClient(db, code),
        checkoutTogether: async (code) => (await clientCheckout(checkout, code)).checkoutUrl,
      },
      fills: desk.fills,
      titleOf: desk.titleOf,
      firmOf: (partnerId) => readShownFirm(db, partnerId),
      signersOf: async (code) => (await readSigning(envelopes, code, null)).signers,
      documents: {
        deliveries,
        mail: (code) => mailDocuments(deps, code),
        isToken: (code, token) => isDocumentsToken(deps.secrets, code, token),
        of: (code) => orderDocuments(envelopes, code, null),
        read: (orderCode, documentId) => openOrderDocument(envelopes, { orderCode, owner: null, documentId }),
      },
    },
    signing: features.signing,
    visitor: { requestAccess: features.requestAccess, recaptcha: config.recaptcha },
    people: peopleDeps(deps, features, readiness, deliveries),
  };
}

function peopleDeps(
  deps: AppDeps,
  features: Features,
  readiness: ReadReadiness,
  deliveries: DeliveryDeps,
): PageDeps["people"] {
  const { config, db, clock, log, rowMac, secrets } = deps;
  const {
    frame,
    members,
    desk,
    envelopes,
    identity,
    notaryDesk,
    notaryRules,
    notarySheets,
    notarySigning,
    passports,
    closings,
    webhooks,
    uploadPlaces,
  } = features;
  const { refundApproval } = config;
  return {
    callers: frame,
    clock,
    uploadPlaces,
    resolveOperator: operatorSessions(deps),
    dashboard: {
      members,
      desk,
      passports,
      rooms: { closings, deliveries },
      webhooks,
      readAnalytics: features.readAnalytics,
      testClock: features.testClock,
    },
    operator: {
      orders: { moves: desk.moves, envelopes, readNotices: desk.readNotices },
      documents: { finished: features.finished, approval: { refundApproval }, uploadPlaces },
      refunds: { db, clock, log, refundApproval, processor: features.checkout.processor },
      firms: { firms: { db, clock, rowMac }, storageUse: features.storageUse },
      access: { db, clock, rowMac, secrets },
      notaries: {
        ...{ notaryDesk, notaryRules, notarySheets, notarySigning, identity },
        recordings: { db, clock, secrets, blobs: deps.blobs },
      },
      health: {
        readiness,
        providers: features.providers,
        notaryState: features.notaryState,
        examine: examiner(deps),
      },
    },
  };
}
