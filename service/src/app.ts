import type { FastifyInstance } from "fastify";
import { closingRecord, closingRoutes } from "./closing/closing-passports/closing-passports.ts";
import { type DeliveryDeps, replaceInRooms } from "./closing/deliveries/deliveries.ts";
import { openDrafts } from "./closing/drafts/drafts.ts";
import { clientCheckout, clientClosing, payableOfClient, roomRoutes } from "./closing/rooms/rooms.ts";
import { proofRecord } from "./evidence/proof-passports/proof-passports.ts";
import { logMetrics } from "./evidence/transparency-log/transparency-log.ts";
import type { AppDeps, Features } from "./features.ts";
import { operatorSessions } from "./firms/operators/operators.ts";
import { readShownFirm, waitingUploadsOf } from "./firms/partners/partners.ts";
import { openWork } from "./jobs.ts";
import { boundConnections } from "./kernel/http/client-address.ts";
import { healthRoutes, refuseWhenOutdated } from "./kernel/http/health.ts";
import { openapi } from "./kernel/http/openapi/openapi.ts";
import { acceptPassedOn } from "./kernel/http/pass-on.ts";
import { openRateLimits } from "./kernel/http/rate-limits.ts";
import type { ReadReadiness } from "./kernel/http/readiness.ts";
import { createServer } from "./kernel/http/server.ts";
import { ignoreMultipart, maxReservedBytes } from "./kernel/http/uploads/multipart.ts";
import { createUploadPlaces } from "./kernel/http/uploads/upload-places.ts";
import { testClockRoutes } from "./kernel/test-clock/test-clock.ts";
import { readVersion } from "./kernel/version.ts";
import type { HttpDeps } from "./kernel/wing.ts";
import { analyticsRoutes } from "./orders/analytics/analytics.ts";
import { billingRoutes, documentFile, documentsOfOrder, payerOf } from "./orders/billing/billing.ts";
import { bulkRoutes } from "./orders/bulk/bulk.ts";
import { correctionRoutes } from "./orders/corrections/corrections.ts";
import { fillRoutes } from "./orders/fills/fills.ts";
import { mailDocuments, sandboxRoutes } from "./orders/fulfilment/fulfilment.ts";
import { clientLinks, orderRoutes, type TitleOf } from "./orders/order/order.ts";
import {
  chargeOfOrder,
  checkoutRoute,
  checkoutUrl,
  clientSupplement,
  payerInProcess,
  processorWebhook,
  unpaidLossOf,
  wasPaidByFirm,
} from "./orders/payments/payments.ts";
import { playbookRoutes } from "./orders/playbooks/playbooks.ts";
import { proposalRoutes } from "./orders/proposals/proposals.ts";
import { templateRoutes } from "./orders/templates/templates.ts";
import { webhookRoutes, webhooksSection } from "./outgoing/webhooks/webhooks.ts";
import {
  type Assets,
  openAssets,
  type PageDeps,
  pages,
  readSiteTexts,
  standaloneVerifier,
  unmatchedPage,
} from "./pages/pages.ts";
import {
  envelopeRecord,
  envelopeVerificationRoutes,
  openOrderDocument,
  orderDocumentProof,
  provenDocuments,
  readSigning,
  signingRoutes,
} from "./signing/envelopes/envelopes.ts";
import { inPersonRoutes, notarizationOf } from "./signing/notaries/notaries.ts";
import { examiner } from "./upkeep/doctor/doctor.ts";
import { serviceGauges, serviceReadiness } from "./upkeep/monitoring.ts";

// Memory for eight of the largest uploads at once: five of firms with live access, and three of other firms. Further
// uploads are queued, and back-pressure pauses their senders.
const uploadSizes = {
  live: { total: 5 * maxReservedBytes, perHolder: 2 * maxReservedBytes },
  trial: { total: 3 * maxReservedBytes, perHolder: maxReservedBytes },
};

/** Creates the HTTP server with all routes. It does not listen yet. */
export async function createApp(deps: AppDeps, features: Features): Promise<FastifyInstance> {
  const { sealing, signerAuthorities } = deps;
  const { config, db, clock, log } = deps.resources;
  const { metrics } = deps.node;
  const version = readVersion();
  const limits = await openRateLimits({ enabled: config.rateLimits, redisUrl: config.redisUrl }, (error) =>
    log.warn({ err: error }, "Redis does not answer; this node counts for itself"),
  );
  const assets = await openAssets();
  const { baseUrl, trustProxy, connectionsPerAddress: perAddress } = config;
  const app = createServer({ log, metrics, baseUrl, trustProxy, unmatchedPage: unmatchedPage(assets) });
  acceptPassedOn(app, features.notaries.own);
  const refused = metrics.counter("connections_refused_total", "Connections beyond CONNECTIONS_PER_ADDRESS.", []);
  boundConnections(app.server, { perAddress, unbounded: trustProxy, onRefused: () => refused.inc({}) });
  app.addHook("onClose", limits.close);
  refuseWhenOutdated(app, deps.node.schemaWatch.isOutdated);
  const readiness = serviceReadiness(deps);
  const { mailer, ...work } = openWork(deps, features);
  app.addHook("onListen", work.start);
  app.addHook("onClose", work.stop);
  const dependencies = { readiness, limits, mailer, sealing };
  serviceGauges(metrics, { config, db, clock, version, dependencies, signerAuthorities });
  logMetrics(metrics, deps.transparencyLog);
  ignoreMultipart(app);
  await openapi(app, baseUrl, webhooksSection, limits.limit("page"));
  const http = {
    frame: { ...features.firms.callers, limits },
    uploadPlaces: createUploadPlaces({ ...uploadSizes, maxWaitingOf: waitingUploadsOf(deps.rules.tierLimits) }),
  };
  await app.register(async (routes) => {
    const { isDraining } = deps.node;
    healthRoutes(routes, { version, metrics, metricsToken: config.metricsToken, readiness, isDraining });
    for (const wing of features.wings) await wing.routes?.(routes, http);
    await addRoutes(routes, deps, features, http);
    await pages(routes, pageDeps(deps, features, http, { readiness, assets }));
  });
  await app.ready();
  return app;
}

async function addRoutes(
  app: FastifyInstance,
  deps: AppDeps,
  features: Features,
  { frame, uploadPlaces }: HttpDeps,
): Promise<void> {
  const { config, db, clock, rowMac } = deps.resources;
  const { placing, orderWork, envelopes, closings, webhooks, playbooks, reports } = features;
  analyticsRoutes(app, { ...frame, ...reports });
  playbookRoutes(app, { frame, playbooks, enabled: config.playbooks });
  orderRoutes(app, {
    frame,
    orders: placing.orders,
    uploadPlaces,
    withTemplate: placing.withTemplate,
    templateOfFill: placing.templateOfFill,
    notarizationOf: (code) => notarizationOf({ db, rowMac }, code),
    chargeOf: (code) => chargeOfOrder(db, code),
  });
  correctionRoutes(app, { frame, corrections: orderWork.corrections, uploadPlaces });
  bulkRoutes(app, { frame, bulk: placing.bulk, uploadPlaces });
  fillRoutes(app, { frame, fills: placing.fills });
  templateRoutes(app, { frame, templates: placing.templates, uploadPlaces });
  proposalRoutes(app, { frame, workers: placing.templates.workers, uploadPlaces });
  signingRoutes(app, { frame, envelopes, replaceInRooms, baseUrl: config.baseUrl });
  inPersonRoutes(app, { frame, db, clock });
  envelopeVerificationRoutes(app, { frame, envelopes });
  checkoutRoute(app, { ...frame, ...features.checkout });
  billingRoutes(app, { frame, ...orderWork.billing });
  await processorWebhook(app, features.processorEvents);
  sandboxRoutes(app, { frame, sandbox: orderWork.sandbox, baseUrl: config.baseUrl });
  testClockRoutes(app, { ...frame, ...features.testClock });
  roomRoutes(
    app,
    { ...frame, ...features.checkout, sandbox: orderWork.sandbox, baseUrl: config.baseUrl },
    rowMac,
    orderWork.corrections,
  );
  closingRoutes(app, { frame, closings, logWaits: deps.transparencyLog.waits });
  webhookRoutes(app, { frame, webhooks });
}

const deliveriesWith = (
  { resources: { config, db, rowMac, blobs, log, clock, secrets }, sealing }: AppDeps,
  titleOf: TitleOf,
  assets: Assets,
): DeliveryDeps => ({
  db,
  rowMac,
  blobs,
  log,
  clock,
  titleOf,
  secrets,
  verifier: {
    baseUrl: config.baseUrl,
    hasCalendars: config.otsCalendars.length > 0,
    page: async () => Buffer.from(standaloneVerifier(assets, await sealing.trustList())),
  },
});

type ForPages = { readiness: ReadReadiness; assets: Assets };

function pageDeps(
  deps: AppDeps,
  features: Features,
  http: HttpDeps,
  { readiness, assets }: ForPages,
): PageDeps {
  const { resources, node, rules, sealing } = deps;
  const { config, db, rowMac, secrets } = resources;
  const { checkout, acceptsPayment, closings, placing, envelopes, firms } = features;
  const { passports } = features.evidence;
  const { titleOf } = features.documentTexts;
  const deliveries = deliveriesWith(deps, titleOf, assets);
  return {
    common: { limits: http.frame.limits, assets, retention: rules.retention },
    baseUrl: config.baseUrl,
    outbox: node.outbox,
    verify: {
      sealCertificates: sealing.trustList,
      proofRecord: (verifyCode) => proofRecord(passports, verifyCode),
      closingRecord: (verifyCode) => closingRecord(closings, verifyCode),
      envelopeRecord: (verifyCode) => envelopeRecord(envelopes, verifyCode),
    },
    client: {
      db,
      rowMac,
      payments: {
        acceptsPayment,
        checkoutUrl: (code) => checkoutUrl(checkout, code, null, "client"),
        supplementOf: (order) => clientSupplement(db, order),
        isPriceOwed: async (code) => (await unpaidLossOf(db, code)) > 0 && !(await wasPaidByFirm(db, code)),
        payerInProcess: (code) => payerInProcess(db, code),
        payableTogether: (code) => payableOfClient(checkout, code),
        checkoutTogether: async (code) => (await clientCheckout(checkout, code)).checkoutUrl,
        receipts: {
          of: async (code) => (await documentsOfOrder(db, code, null)).filter((each) => payerOf(each) === "client"),
          file: (receipts, number) => documentFile({ ...node, titleOf }, receipts, number),
        },
      },
      fills: placing.fills,
      firmOf: (partnerId) => readShownFirm(db, partnerId),
      documents: {
        titleOf,
        signersOf: async (code) => (await readSigning(envelopes, code, null)).signers,
        deliveries,
        links: { ...clientLinks({ db, secrets }), mail: (code, asked) => mailDocuments(resources, code, asked) },
        closingOf: (code) => clientClosing(checkout, code),
        of: (code) => provenDocuments(envelopes, code, null),
        proof: (document, form) => orderDocumentProof(envelopes, { ...document, owner: null }, form),
        read: (orderCode, documentId) => openOrderDocument(envelopes, { orderCode, owner: null, documentId }),
      },
    },
    signing: features.signing,
    visitor: {
      requestAccess: firms.requestAccess,
      recaptcha: config.recaptcha,
      site: { priceBook: rules.pricing.priceBook.content, texts: readSiteTexts(config.texts) },
    },
    people: peopleDeps(deps, features, http, { readiness, deliveries }),
  };
}

function peopleDeps(
  deps: AppDeps,
  features: Features,
  { frame, uploadPlaces }: HttpDeps,
  { readiness, deliveries }: { readiness: ReadReadiness; deliveries: DeliveryDeps },
): PageDeps["people"] {
  const { resources } = deps;
  const { config, db, clock, log, rowMac, secrets } = resources;
  const { firms, placing, orderWork, envelopes, notaries, closings, webhooks } = features;
  const { checkout, acceptsPayment } = features;
  const { titleOf, noticesOf, readNotices } = features.documentTexts;
  const { orders, templates, withTemplate, bulk, fills, preview } = placing;
  const { moves, sandbox, corrections, billing, firmNotes } = orderWork;
  const { refundApproval } = config;
  return {
    callers: frame,
    clock,
    uploadPlaces,
    resolveOperator: operatorSessions(resources),
    dashboard: {
      members: firms.members,
      desk: {
        page: { orders, envelopes, corrections, firmNotes, titleOf, noticesOf, acceptsPayment },
        forms: { moves, sandbox, checkout, billing, replaceInRooms },
        templates: { orders, templates, withTemplate, titleOf, bulk, fills },
        preview,
      },
      passports: features.evidence.passports,
      rooms: { closings, deliveries, drafts: openDrafts(resources) },
      webhooks,
      reports: features.reports,
      testClock: features.testClock,
    },
    operator: {
      orders: {
        moves,
        envelopes,
        paper: features.paper,
        readNotices,
        acceptsPayment,
        titleOf,
      },
      documents: { finished: features.finished, approval: { refundApproval }, uploadPlaces, forms: templates },
      refunds: { db, clock, log, refundApproval, processor: checkout.processor },
      firms: { firms: { db, clock, rowMac }, storageUse: firms.storageUse },
      access: { db, clock, rowMac, secrets },
      notaries: {
        notaryDesk: notaries.desk,
        notaryRules: notaries.rules,
        notarySheets: notaries.sheets,
        notarySigning: notaries.signing,
        identity: notaries.identity,
        live: notaries.live,
        recordings: { db, clock, secrets, rowMac, blobs: resources.blobs },
      },
      health: {
        readiness,
        providers: features.providers,
        notaryState: notaries.supply.state,
        acceptsPayments: features.processor !== null,
        examine: examiner(resources),
      },
    },
  };
}
