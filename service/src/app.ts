import type { FastifyInstance } from "fastify";
import { logMetrics } from "./evidence/transparency-log/transparency-log.ts";
import type { AppDeps, Features } from "./features.ts";
import { openWork } from "./jobs.ts";
import { boundConnections } from "./kernel/http/client-address.ts";
import { healthRoutes, refuseWhenOutdated } from "./kernel/http/health.ts";
import { openapi } from "./kernel/http/openapi/openapi.ts";
import { acceptPassedOn } from "./kernel/http/pass-on.ts";
import { openRateLimits } from "./kernel/http/rate-limits.ts";
import { createServer } from "./kernel/http/server.ts";
import { ignoreMultipart, maxReservedBytes } from "./kernel/http/uploads/multipart.ts";
import { createUploadPlaces } from "./kernel/http/uploads/upload-places.ts";
import { readVersion } from "./kernel/version.ts";
import { webhooksSection } from "./outgoing/webhooks/webhooks.ts";
import {
  type Assets,
  openAssets,
  type PageDeps,
  pages,
  readSiteTexts,
  standaloneVerifier,
  unmatchedPage,
} from "./pages/pages.ts";
import { serviceGauges, serviceReadiness } from "./upkeep/monitoring.ts";
import { type DeliveryDeps, replaceInRooms } from "./closing/deliveries/deliveries.ts";
import { clientCheckout, clientClosing, payableOfClient } from "./closing/rooms/rooms.ts";
import { closingRecord } from "./closing/closing-passports/closing-passports.ts";
import { proofRecord } from "./evidence/proof-passports/proof-passports.ts";
import type { Sealing } from "./evidence/seals/seals.ts";
import { operatorSessions } from "./firms/operators/operators.ts";
import { readShownFirm, waitingUploadsOf } from "./firms/partners/partners.ts";
import type { ReadReadiness } from "./kernel/http/readiness.ts";
import type { Outbox } from "./kernel/platform/mail/mail.ts";
import type { Workers } from "./kernel/platform/workers/task.ts";
import type { Resources } from "./kernel/resources.ts";
import type { RetentionPlan } from "./kernel/retention/retention.ts";
import type { HttpDeps } from "./kernel/wing.ts";
import { documentFile, documentsOfOrder, payerOf } from "./orders/billing/billing.ts";
import { mailDocuments } from "./orders/fulfilment/fulfilment.ts";
import { clientLinks } from "./orders/order/order.ts";
import {
  checkoutUrl,
  clientSupplement,
  payerInProcess,
  unpaidLossOf,
  wasPaidByFirm,
} from "./orders/payments/payments.ts";
import type { VersionedPricing } from "./orders/pricing/pricing.ts";
import type { Orders } from "./orders/wing.ts";
import {
  envelopeRecord,
  openOrderDocument,
  orderDocumentProof,
  provenDocuments,
  readSigning,
} from "./signing/envelopes/envelopes.ts";

// Memory for eight of the largest uploads at once: five of firms with live access, and three of other firms. Further
// uploads are queued, and back-pressure pauses their senders.
const uploadSizes = {
  live: { total: 5 * maxReservedBytes, perHolder: 2 * maxReservedBytes },
  trial: { total: 3 * maxReservedBytes, perHolder: maxReservedBytes },
};

/** Creates the HTTP server with all routes. It does not listen yet. */
export async function createApp(deps: AppDeps, features: Features): Promise<FastifyInstance> {
  const { node, rules, sealing, signerAuthorities } = deps;
  const { config, db, clock, log } = deps.resources;
  const { metrics, isDraining } = node;
  const version = readVersion();
  const limits = await openRateLimits({ enabled: config.rateLimits, redisUrl: config.redisUrl }, (error) =>
    log.warn({ err: error }, "Redis does not answer; this node counts for itself"),
  );
  const assets = await openAssets();
  const { baseUrl, trustProxy, connectionsPerAddress: perAddress, metricsToken } = config;
  const app = createServer({ log, metrics, baseUrl, trustProxy, unmatchedPage: unmatchedPage(assets) });
  acceptPassedOn(app, features.signing.notaries.own);
  const refused = metrics.counter("connections_refused_total", "Connections beyond CONNECTIONS_PER_ADDRESS.", []);
  boundConnections(app.server, { perAddress, unbounded: trustProxy, onRefused: () => refused.inc({}) });
  app.addHook("onClose", limits.close);
  refuseWhenOutdated(app, node.schemaWatch.isOutdated);
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
    uploadPlaces: createUploadPlaces({ ...uploadSizes, maxWaitingOf: waitingUploadsOf(rules.tierLimits) }),
  };
  await app.register(async (routes) => {
    healthRoutes(routes, { version, metrics, metricsToken, readiness, isDraining });
    for (const { wing } of Object.values(features)) await wing.routes?.(routes, http);
    const { outbox, workers } = node;
    const parts = { http, assets, readiness, outbox, workers, rules, sealing };
    await pages(routes, pageDepsOf(deps.resources, features, parts));
  });
  await app.ready();
  return app;
}

type Parts = {
  http: HttpDeps;
  assets: Assets;
  readiness: ReadReadiness;
  outbox: Outbox | null;
  workers: Workers;
  rules: { pricing: VersionedPricing; retention: RetentionPlan };
  sealing: Sealing;
};

/** Gives the pages of each audience the features that they use. */
function pageDepsOf(resources: Resources, wings: Features, parts: Parts): PageDeps {
  const { config } = resources;
  const { http, assets, outbox, rules, sealing } = parts;
  const { passports } = wings.evidence;
  const { envelopes, signers } = wings.signing;
  const { closings } = wings.closing;
  const deliveries = deliveriesWith(resources, wings.orders, parts);
  return {
    common: { limits: http.frame.limits, assets, retention: rules.retention },
    baseUrl: config.baseUrl,
    outbox,
    verify: {
      sealCertificates: sealing.trustList,
      proofRecord: (verifyCode) => proofRecord(passports, verifyCode),
      closingRecord: (verifyCode) => closingRecord(closings, verifyCode),
      envelopeRecord: (verifyCode) => envelopeRecord(envelopes, verifyCode),
    },
    client: clientDeps(resources, wings, deliveries, parts.workers),
    signing: signers,
    visitor: {
      requestAccess: wings.firms.requestAccess,
      recaptcha: config.recaptcha,
      site: { priceBook: rules.pricing.priceBook.content, texts: readSiteTexts(config.texts) },
    },
    people: {
      callers: http.frame,
      clock: resources.clock,
      uploadPlaces: http.uploadPlaces,
      resolveOperator: operatorSessions(resources),
      dashboard: dashboardDeps(wings, deliveries),
      operator: operatorDeps(resources, wings, parts),
    },
  };
}

const deliveriesWith = (
  { config, db, rowMac, blobs, log, clock, secrets }: Resources,
  { documentTexts: { titleOf } }: Orders,
  { assets, sealing }: Parts,
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

function clientDeps(
  resources: Resources,
  { orders: { checkout, acceptsPayment, placing, documentTexts }, signing: { envelopes } }: Features,
  deliveries: DeliveryDeps,
  workers: Workers,
): PageDeps["client"] {
  const { db, rowMac, secrets } = resources;
  const { titleOf } = documentTexts;
  return {
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
        file: (receipts, number) => documentFile({ workers, titleOf }, receipts, number),
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
  };
}

function dashboardDeps(wings: Features, deliveries: DeliveryDeps): NonNullable<PageDeps["people"]>["dashboard"] {
  const { firms, orders: ordering, signing, closing, upkeep } = wings;
  const { checkout, acceptsPayment, readAnalytics } = ordering;
  const { titleOf, noticesOf } = ordering.documentTexts;
  const { orders, templates, withTemplate, bulk, fills } = ordering.placing;
  const { moves, sandbox, corrections, billing, firmNotes } = ordering.work;
  const { envelopes, preview } = signing;
  return {
    members: firms.members,
    desk: {
      page: { orders, envelopes, corrections, firmNotes, titleOf, noticesOf, acceptsPayment },
      forms: { moves, sandbox, checkout, billing, replaceInRooms },
      templates: { orders, templates, withTemplate, titleOf, bulk, fills },
      preview,
    },
    passports: wings.evidence.passports,
    rooms: { closings: closing.closings, deliveries, drafts: closing.drafts },
    webhooks: wings.outgoing.webhooks,
    reports: { readAnalytics, readLaunchpad: firms.readLaunchpad },
    testClock: upkeep.testClock,
  };
}

function operatorDeps(
  { config, db, clock, log, rowMac, secrets, blobs }: Resources,
  { firms, providers: { providers }, orders, signing, delivery, upkeep }: Features,
  { http, readiness }: Parts,
): NonNullable<PageDeps["people"]>["operator"] {
  const { refundApproval } = config;
  const { checkout, acceptsPayment, work, placing } = orders;
  const { titleOf, readNotices } = orders.documentTexts;
  const { envelopes, finished, notaries } = signing;
  return {
    orders: { moves: work.moves, envelopes, paper: delivery.paper, readNotices, acceptsPayment, titleOf },
    documents: {
      finished,
      approval: { refundApproval },
      uploadPlaces: http.uploadPlaces,
      forms: placing.templates,
    },
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
      recordings: { db, clock, secrets, rowMac, blobs },
    },
    health: {
      readiness,
      providers,
      notaryState: notaries.supply.state,
      acceptsPayments: checkout.processor !== null,
      examine: upkeep.examine,
    },
  };
}
