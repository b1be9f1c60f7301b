import { closingRecord } from "../closing/closing-passports/closing-passports.ts";
import { type DeliveryDeps, replaceInRooms } from "../closing/deliveries/deliveries.ts";
import { clientCheckout, clientClosing, payableOfClient } from "../closing/rooms/rooms.ts";
import type { Closing } from "../closing/wing.ts";
import type { Delivery } from "../delivery/wing.ts";
import { proofRecord } from "../evidence/proof-passports/proof-passports.ts";
import type { Sealing } from "../evidence/seals/seals.ts";
import type { Evidence } from "../evidence/wing.ts";
import { operatorSessions } from "../firms/operators/operators.ts";
import { readShownFirm } from "../firms/partners/partners.ts";
import type { Firms } from "../firms/wing.ts";
import type { ReadReadiness } from "../kernel/http/readiness.ts";
import type { Outbox } from "../kernel/platform/mail/mail.ts";
import type { Workers } from "../kernel/platform/workers/task.ts";
import type { Resources } from "../kernel/resources.ts";
import type { RetentionPlan } from "../kernel/retention/retention.ts";
import type { HttpDeps } from "../kernel/wing.ts";
import { documentFile, documentsOfOrder, payerOf } from "../orders/billing/billing.ts";
import { mailDocuments } from "../orders/fulfilment/fulfilment.ts";
import { clientLinks } from "../orders/order/order.ts";
import {
  checkoutUrl,
  clientSupplement,
  payerInProcess,
  unpaidLossOf,
  wasPaidByFirm,
} from "../orders/payments/payments.ts";
import type { VersionedPricing } from "../orders/pricing/pricing.ts";
import type { Orders } from "../orders/wing.ts";
import type { Outgoing } from "../outgoing/wing.ts";
import type { ProvidersWing } from "../providers/wing.ts";
import {
  envelopeRecord,
  openOrderDocument,
  orderDocumentProof,
  provenDocuments,
  readSigning,
} from "../signing/envelopes/envelopes.ts";
import type { Signing } from "../signing/wing.ts";
import type { Upkeep } from "../upkeep/wing.ts";
import type { PageDeps } from "./pages.ts";
import type { Assets } from "./ui/assets/assets.ts";
import { standaloneVerifier } from "./verify/standalone.ts";
import { readSiteTexts } from "./visitor/site-pages.ts";

/** The opened wings. */
type Wings = {
  providers: ProvidersWing;
  firms: Firms;
  evidence: Evidence;
  orders: Orders;
  signing: Signing;
  closing: Closing;
  outgoing: Outgoing;
  delivery: Delivery;
  upkeep: Upkeep;
};

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
export function pageDepsOf(resources: Resources, wings: Wings, parts: Parts): PageDeps {
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
  { orders: { checkout, acceptsPayment, placing, documentTexts }, signing: { envelopes } }: Wings,
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

function dashboardDeps(wings: Wings, deliveries: DeliveryDeps): NonNullable<PageDeps["people"]>["dashboard"] {
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
  { firms, providers: { providers }, orders, signing, delivery, upkeep }: Wings,
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
