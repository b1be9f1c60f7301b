import { join } from "node:path";
import type { FastifyInstance } from "fastify";
import { accessMailJobs, accessRoutes, openAccess } from "./access-requests/access-requests.ts";
import { analyticsReader, analyticsRoutes } from "./analytics/analytics.ts";
import type { Anchoring } from "./anchoring/anchoring.ts";
import { closingRoutes, closingView, openCertificates } from "./closing-passports/closing-passports.ts";
import { orderMailJobs, sandboxRoutes } from "./fulfilment/fulfilment.ts";
import { acceptEmptyJson } from "./http/bodies.ts";
import { healthRoutes } from "./http/health.ts";
import { openapi } from "./http/openapi.ts";
import { openRateLimits } from "./http/rate-limits.ts";
import { createServer } from "./http/server.ts";
import { acceptMultipart, maxReservedBytes } from "./http/uploads/multipart.ts";
import { createUploadMemory } from "./http/uploads/upload-memory.ts";
import { linkRoute, sessionResolver, signInMailJobs } from "./members/members.ts";
import { orderRoutes } from "./orders/orders.ts";
import type { LastUse } from "./partners/partners.ts";
import { keyResolver, keyWithRoomsResolver, launchpadRoutes, partnerRoutes } from "./partners/partners.ts";
import {
  checkoutRoute,
  checkoutUrl,
  openProcessor,
  paymentJobs,
  processorWebhook,
  sandboxPayment,
} from "./payments/payments.ts";
import { createJobs } from "./platform/jobs/jobs.ts";
import { createKeyedSemaphore } from "./platform/keyed-semaphore.ts";
import type { Log } from "./platform/logs.ts";
import { openMailer } from "./platform/mail/mail.ts";
import type { Metrics } from "./platform/metrics.ts";
import { createCallbacks, playbookRoutes } from "./playbooks/playbooks.ts";
import type { VersionedPricing } from "./pricing/pricing.ts";
import { createRowMac, passportRoutes, proofRecord, sealCertificates } from "./proof-passports/proof-passports.ts";
import { type Resources, root } from "./resources.ts";
import { roomRoutes } from "./rooms/rooms.ts";
import type { Sealing } from "./seals/seals.ts";
import { acceptsPage, buildAssets, notFoundPage, pages } from "./web/pages.ts";
import { openWebhooks, webhookRoutes, webhooksSection } from "./webhooks/webhooks.ts";

// Eight of the largest uploads at once, two of one firm; more wait their turn with the sender held back.
const uploadMemoryBytes = { total: 8 * maxReservedBytes, perHolder: 2 * maxReservedBytes };
// Each holds a database connection while a time stamp is waited for; the pool has 20.
const sealsAtOnce = 4;
const screeningFile = join(root, "service/data/screening.yaml");

export type AppDeps = Resources & {
  version: string;
  metrics: Metrics;
  lastUse: LastUse;
  pricing: VersionedPricing;
  sealing: Sealing;
  /** Null when no calendars are set. */
  anchoring: Anchoring | null;
};

/** Wires everything into one server; listens nowhere yet. */
export async function createApp(deps: AppDeps): Promise<FastifyInstance> {
  const { config, log, db, blobs, metrics, sealing } = deps;
  const limits = openRateLimits({ enabled: config.rateLimits, redisUrl: config.redisUrl }, (error) =>
    log.warn({ err: error }, "Redis does not answer; this node counts for itself"),
  );
  const assets = buildAssets();
  const lost = notFoundPage(assets);
  const app = createServer({
    log,
    metrics,
    baseUrl: config.baseUrl,
    trustProxy: config.trustProxy,
    unmatchedPage: (request) => (acceptsPage(request) ? lost : null),
  });
  app.addHook("onClose", limits.close);
  await acceptMultipart(app);
  await openapi(app, config.baseUrl, webhooksSection);
  const resolveKey = keyResolver(db, deps.lastUse);
  const callers = { resolveKey, resolveSession: sessionResolver(deps), ownOrigin: new URL(config.baseUrl).origin };
  const portal = { ...callers, limits };
  const uploadMemory = createUploadMemory(uploadMemoryBytes);
  const deliveries = metrics.counter("webhook_deliveries_total", "Webhook deliveries that ended.", ["outcome"]);
  const { dispatcher, secretCipher } = openWebhooks({
    ...deps,
    baseUrl: config.baseUrl,
    allow: config.webhookAllow,
    caFile: config.webhookCa,
    count: (outcome) => deliveries.inc({ outcome }),
  });
  app.addHook("onListen", async () => dispatcher.start());
  app.addHook("onClose", async () => dispatcher.stop());
  const processor = config.stripe && openProcessor(config.stripe, config.baseUrl);
  const checkout = { db, clock: deps.clock, processor };
  const mailer = openMailer({ ...config, clock: deps.clock });
  const jobsEnded = metrics.counter("jobs_total", "Jobs that ended, by what became of them.", ["queue", "outcome"]);
  const jobs = createJobs({ db, log, onOutcome: (queue, outcome) => jobsEnded.inc({ queue, outcome }) });
  paymentJobs(jobs, { ...deps, processor });
  orderMailJobs(jobs, { db, mailer, baseUrl: config.baseUrl });
  accessMailJobs(jobs, { ...deps, mailer, baseUrl: config.baseUrl });
  signInMailJobs(jobs, { ...deps, mailer, baseUrl: config.baseUrl });
  const access = openAccess({
    ...deps,
    fetch,
    rulesPath: screeningFile,
    recaptcha: config.recaptcha,
    hostname: new URL(config.baseUrl).hostname,
  });
  app.addHook("onListen", jobs.start);
  app.addHook("onClose", async () => {
    await jobs.stop();
    mailer.close();
  });
  const probes = [
    { name: "database", check: async () => void (await db.rows("SELECT 1")) },
    { name: "blobs", check: blobs.probe },
    { name: "seal key", check: sealing.probe },
  ];
  await app.register(async (routes) => {
    healthRoutes(routes, { version: deps.version, metrics, probes });
    partnerRoutes(routes, { ...portal, db, resolveKeyWithRooms: keyWithRoomsResolver(db, deps.lastUse) });
    linkRoute(routes, { ...deps, ...portal });
    launchpadRoutes(routes, { ...portal, db });
    accessRoutes(routes, { ...portal, requestAccess: access });
    const readAnalytics = analyticsReader(deps);
    analyticsRoutes(routes, { ...portal, readAnalytics });
    const callbacks = createCallbacks(deps.secrets);
    playbookRoutes(routes, { ...deps, ...portal, enabled: config.playbooks, callbacks });
    const orderDeps = {
      ...deps,
      ...portal,
      checkoutUrlOf: processor && ((code: string) => checkoutUrl(checkout, code, null).catch(withoutCheckout(log))),
      uploadMemory,
    };
    orderRoutes(routes, orderDeps);
    checkoutRoute(routes, { ...checkout, ...portal });
    await processorWebhook(routes, { ...deps, processor });
    const sandboxDeps = { ...deps, ...sealing, baseUrl: config.baseUrl, sandboxPayment, resolveKey, limits };
    await routes.register(async (scope) => {
      acceptEmptyJson(scope);
      sandboxRoutes(scope, sandboxDeps);
    });
    roomRoutes(routes, { ...deps, resolveKey, limits });
    const rowMac = createRowMac(deps.secrets);
    const proofDeps = {
      ...deps,
      ...sealing,
      rowMac,
      keepSealed: config.keepSealed,
      baseUrl: config.baseUrl,
      resolveKey,
      limits,
      uploadMemory,
    };
    passportRoutes(routes, proofDeps);
    const closingDeps = {
      ...deps,
      ...sealing,
      drawCertificate: openCertificates(),
      turns: createKeyedSemaphore(sealsAtOnce),
      baseUrl: config.baseUrl,
      resolveKey,
      limits,
    };
    closingRoutes(routes, closingDeps);
    const webhookDeps = { ...deps, ...portal, secretCipher, wake: dispatcher.wake };
    webhookRoutes(routes, webhookDeps);
    const evidence = {
      sealCertificates: () => sealCertificates(db, sealing.chainPem),
      proofRecord: (verifyCode: string) => proofRecord({ ...deps, rowMac }, verifyCode),
      closingRecord: (verifyCode: string) => closingView(db, verifyCode),
    };
    await pages(routes, {
      baseUrl: config.baseUrl,
      client: {
        db,
        checkoutUrl: (code) => checkoutUrl(checkout, code, null),
        paymentsConfigured: processor !== null,
      },
      verify: evidence,
      visitor: { requestAccess: access, recaptcha: config.recaptcha },
      members: { ...orderDeps, ...sandboxDeps, ...proofDeps, ...closingDeps, ...webhookDeps, readAnalytics },
      limits,
      assets,
    });
  });
  await app.ready();
  return app;
}

/** A placed order stands without its checkout, which may be asked for again. */
const withoutCheckout = (log: Log) => (error: Error) => {
  log.warn({ err: error }, "an order was placed without its checkout");
  return null;
};
