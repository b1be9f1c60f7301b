import { openClosings } from "./closing/closing-passports/closing-passports.ts";
import { moveInRooms } from "./closing/deliveries/deliveries.ts";
import { closingsOf, countOpenRooms, openRoomsOf } from "./closing/rooms/rooms.ts";
import { openReceipts } from "./delivery/receipts/receipts.ts";
import { labelRates, openParcels, requireNoLetter } from "./delivery/shipping/shipping.ts";
import type { Anchoring } from "./evidence/anchoring/anchoring.ts";
import { type Sealing, tsaRootsPem } from "./evidence/seals/seals.ts";
import type { TransparencyLog } from "./evidence/transparency-log/transparency-log.ts";
import { openEvidenceWing } from "./evidence/wing.ts";
import {
  hostLimitsOf,
  type LastUse,
  type RequireStorage,
  readBranding,
  shownBranding,
  type TierLimits,
  unlimitedHosts,
} from "./firms/partners/partners.ts";
import { openFirmsWing } from "./firms/wing.ts";
import type { Environment, Principal } from "./kernel/identity/identity.ts";
import type { SchemaWatch } from "./kernel/platform/database/schema-fence.ts";
import { openDocumentNames } from "./kernel/platform/document-name.ts";
import type { Mail, Outbox } from "./kernel/platform/mail/mail.ts";
import type { Metrics } from "./kernel/platform/metrics.ts";
import type { Workers } from "./kernel/platform/workers/task.ts";
import type { Resources } from "./kernel/resources.ts";
import type { RetentionPlan } from "./kernel/retention/retention.ts";
import { analyticsReader } from "./orders/analytics/analytics.ts";
import { rowCipher } from "./orders/bulk/bulk.ts";
import type { ReplaceDeps } from "./orders/corrections/corrections.ts";
import { fillCiphers } from "./orders/fills/fills.ts";
import {
  noticeReader,
  type OrderDeps,
  openFirmNotes,
  openOriginals,
  storedNotices,
  titleReader,
  type WithTemplate,
} from "./orders/order/order.ts";
import {
  acceptsPayment,
  type CheckoutDeps,
  checkoutOfNewOrder,
  type Processor,
  sandboxPayment,
} from "./orders/payments/payments.ts";
import { createCallbacks } from "./orders/playbooks/playbooks.ts";
import type { VersionedPricing } from "./orders/pricing/pricing.ts";
import { expandForm, templateOfFill } from "./orders/templates/templates.ts";
import { openWebhooks } from "./outgoing/webhooks/webhooks.ts";
import type { MediaEngine, Providers } from "./providers/providers.ts";
import { openProvidersWing } from "./providers/wing.ts";
import {
  ceremonyWith,
  createPreflight,
  createPreview,
  endRound,
  envelopesWith,
  moveSigners,
  openConsentTexts,
  type SignerAuthorities,
  textsOf,
} from "./signing/envelopes/envelopes.ts";
import {
  openMeetings,
  openNotaries,
  type RecordingDisk,
  type Recordings,
  renewNotaryLinks,
  wasSignedAgain,
} from "./signing/notaries/notaries.ts";
import { broughtNearer, firstTimes } from "./upkeep/declarations.ts";
import { storedBlobs } from "./upkeep/protected-data.ts";

export type LiveMedia = { engine: MediaEngine; recordings: Recordings; disk: RecordingDisk };

/** The services of this process that features use. */
type Node = {
  metrics: Metrics;
  workers: Workers;
  schemaWatch: SchemaWatch;
  lastUse: LastUse;
  /**
   * The payment processor; null when payments are not configured. A process opens only one, so that the name of the
   * processor's account is read only once.
   */
  processor: Processor | null;
  /** Stores mails instead of sending them; null with a mail server, or when other machines can reach the service. */
  outbox: Outbox | null;
  onMailStored: (mail: Mail) => void;
  /** True if this node is about to stop. */
  isDraining: () => boolean;
};

/** Prices, limits and terms, read from files. */
export type Rules = {
  pricing: VersionedPricing;
  tierLimits: TierLimits;
  trialsPerDomain: number;
  retention: RetentionPlan;
};

/** The parts that `main.ts` opens before the features, because it must close them after the features. */
export type AppDeps = {
  resources: Resources;
  node: Node;
  rules: Rules;
  sealing: Sealing;
  signerAuthorities: SignerAuthorities;
  /** Submits hashes to the OpenTimestamps calendars; null when none are configured. */
  anchoring: Anchoring | null;
  transparencyLog: TransparencyLog;
  /** Live audio and video; null when it is off. */
  media: LiveMedia | null;
};

export type Features = ReturnType<typeof openFeatures>;

export function openFeatures(deps: AppDeps) {
  const { resources, node, rules, sealing } = deps;
  const { config, db, clock, log, secrets, rowMac, blobs } = resources;
  const { metrics, workers, lastUse } = node;
  const providersWing = openProvidersWing(resources, metrics, fetch);
  const { providers } = providersWing;
  const rooms = { openRoomsOf, countOpenRooms };
  const firms = openFirmsWing(resources, { workers, lastUse, rules, fetch, rooms, firstTimes, storedBlobs });
  const { requireStorage } = firms;
  const shared = openShared(deps, providers);
  const { names, titleOf, noticesOf, processor, envelopes } = shared;
  const notaries = openNotaries(resources, {
    workers,
    pricing: rules.pricing,
    sealing,
    titleOf,
    providers,
    fetch,
    media: deps.media,
  });
  const checkout = { db, clock, processor, notarySupply: notaries.supply };
  const placing = openPlacing(deps, shared, requireStorage, checkout);
  const hostLimits = config.rateLimits ? hostLimitsOf(rules.tierLimits) : unlimitedHosts;
  const newestCheckpoint = deps.transparencyLog.newestSeen;
  const { dispatcher, webhooks } = openWebhooks(resources, metrics, { hostLimitsOf: hostLimits, newestCheckpoint });
  const evidence = openEvidenceWing(resources, {
    names,
    workers,
    sealing,
    requireStorage,
    anchoring: deps.anchoring,
    transparencyLog: deps.transparencyLog,
  });
  return {
    /** The wings that list their own routes, jobs, mails and periodic tasks. */
    wings: [providersWing.wing, firms.wing, evidence.wing],
    firms,
    evidence,
    processor,
    dispatcher,
    webhooks,
    reports: { readAnalytics: analyticsReader(resources), readLaunchpad: firms.readLaunchpad },
    playbooks: { db, clock, log, callbacks: createCallbacks(secrets) },
    placing,
    orderWork: openOrderWork(deps, shared, placing.orders),
    documentTexts: { titleOf, noticesOf, readNotices: storedNotices(db, noticesOf) },
    acceptsPayment: (environment: Environment) => acceptsPayment(processor, environment),
    checkout,
    processorEvents: { db, clock, log, metrics, processor },
    providers,
    receipts: openReceipts({ ...resources, workers, sealDocument: sealing.sealDocument, providers }),
    notaries,
    finished: { envelopes, tsaRoots: tsaRootsPem(config) },
    paper: { db, clock, log, blobs, rowMac, workers, baseUrl: config.baseUrl },
    envelopes,
    signing: openSigning(deps, shared, notaries),
    closings: openClosings(resources, { workers, sealing, titleOf, requireStorage, newestCheckpoint }),
    testClock: { db, clock, nearer: broughtNearer },
  };
}

type Shared = ReturnType<typeof openShared>;

/** Opens the parts that several features share. */
function openShared({ resources, node, rules, sealing }: AppDeps, providers: Providers) {
  const names = openDocumentNames(resources);
  const { workers } = node;
  const texts = textsOf(providers, resources.config.telnyx);
  const consentTexts = openConsentTexts();
  const envelopes = envelopesWith(resources, { workers, sealing, pricing: rules.pricing, consentTexts, texts });
  return {
    names,
    titleOf: titleReader({ names, pricing: rules.pricing }),
    noticesOf: noticeReader(names),
    providers,
    processor: node.processor,
    consentTexts,
    envelopes,
  };
}

/** Opens the signers' pages: their ceremony, and their meetings with a notary. */
function openSigning(
  { resources, sealing, signerAuthorities }: AppDeps,
  { envelopes, consentTexts, titleOf, noticesOf }: Shared,
  { identity }: ReturnType<typeof openNotaries>,
) {
  return {
    ceremony: ceremonyWith(resources, envelopes, {
      sealing,
      signerAuthorities,
      consentTexts,
      titleOf,
      closingsOf,
      noticesOf,
      wasSignedAgain: (orderCode) => wasSignedAgain(resources, orderCode),
    }),
    consentTexts,
    brandingOf: async (partnerId: string) => shownBranding(await readBranding(resources, { partnerId })),
    meetings: openMeetings({ ...identity, titleOf, closingsOf }),
  };
}

/** Opens the features that place orders. */
function openPlacing(
  { resources, node: { workers }, rules: { pricing } }: AppDeps,
  { names, providers, processor, envelopes }: Shared,
  requireStorage: RequireStorage,
  checkout: CheckoutDeps,
) {
  const { config, db, clock, log, secrets, random, rowMac, blobs } = resources;
  const trySigning = createPreflight(workers);
  const offer = {
    pricing,
    askCarriers: labelRates({ providers, log, random }),
    notaries: checkout.notarySupply,
    texts: envelopes.reach.texts,
    checkoutUrlOf: processor && checkoutOfNewOrder(checkout, log),
    acceptsPayment: (environment: Environment) => acceptsPayment(processor, environment),
  };
  const originals = openOriginals(workers, requireStorage, trySigning);
  const orders = { db, clock, log, rowMac, blobs, names, originals, offer };
  const templates = { db, clock, rowMac, blobs, workers, pricing, requireStorage, trySigning };
  const withTemplate: WithTemplate = (principal, sent) => expandForm({ ...templates, log }, principal, sent);
  return {
    orders,
    templates,
    withTemplate,
    templateOfFill: (owner: Principal, token: string) => templateOfFill({ ...templates, log }, owner, token),
    bulk: { orders, withTemplate, cipher: rowCipher(secrets) },
    fills: { templates, log, secrets, ciphers: fillCiphers(secrets), baseUrl: config.baseUrl },
    preview: createPreview({ db, clock, workers }),
  };
}

/** Opens the features that process placed orders. */
function openOrderWork(
  { resources, node: { workers }, sealing: { sealDocument } }: AppDeps,
  { titleOf, providers, envelopes }: Shared,
  orders: OrderDeps,
) {
  const { db, clock, log, secrets, rowMac, blobs } = resources;
  const store = { db, clock, log, rowMac, blobs };
  const openSealer = async () => ({ sealDocument, close: async () => {} });
  return {
    sandbox: { ...store, sealDocument, sandboxPayment },
    moves: { ...store, openSealer, requireByHand: requireNoLetter },
    corrections: {
      orders,
      endRound: (...of) => endRound(envelopes, ...of),
      moveSigners: (...of) => moveSigners(envelopes, ...of),
      renewNotaryLinks: (tx, ...of) => renewNotaryLinks(tx, { desk: { rowMac }, secrets }, ...of),
      closingsOf,
      moveInRooms,
      parcels: openParcels({ providers, clock }),
    } satisfies ReplaceDeps,
    billing: { db, clock, workers, titleOf },
    firmNotes: openFirmNotes({ db, clock, secrets, log }),
  };
}
