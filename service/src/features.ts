import { join } from "node:path";
import { createCertificateCheck, drawIn } from "./closing/closing-passports/closing-passports.ts";
import { openReceipts } from "./delivery/receipts/receipts.ts";
import { labelRates, requireNoLetter } from "./delivery/shipping/shipping.ts";
import type { Anchoring } from "./evidence/anchoring/anchoring.ts";
import {
  findOwnPassport,
  findOwnPassports,
  openProofCertificates,
} from "./evidence/proof-passports/proof-passports.ts";
import { type Sealing, tsaRootsPem } from "./evidence/seals/seals.ts";
import type { TransparencyLog } from "./evidence/transparency-log/transparency-log.ts";
import { openAccess } from "./firms/access-requests/access-requests.ts";
import { sessionResolver } from "./firms/members/members.ts";
import {
  createStorageQuota,
  hostLimitsOf,
  keyForMeResolver,
  keyLimitsOf,
  keyResolver,
  type LastUse,
  numberOf,
  readBranding,
  shownBranding,
  storageUse,
  type TierLimits,
  tierOf,
} from "./firms/partners/partners.ts";
import type { RateLimits } from "./kernel/http/rate-limits.ts";
import type { RouteDeps } from "./kernel/http/route.ts";
import { maxReservedBytes } from "./kernel/http/uploads/multipart.ts";
import { createUploadPlaces } from "./kernel/http/uploads/upload-places.ts";
import type { Environment, Owner } from "./kernel/identity/identity.ts";
import { createKeyedSemaphore } from "./kernel/platform/bounds/keyed-semaphore.ts";
import type { SchemaWatch } from "./kernel/platform/database/schema-fence.ts";
import { openDocumentNames } from "./kernel/platform/document-name.ts";
import { ageTestIdempotencyKeys } from "./kernel/platform/idempotency-keys.ts";
import type { Log } from "./kernel/platform/logs.ts";
import type { Mail, Outbox } from "./kernel/platform/mail/mail.ts";
import type { Metrics } from "./kernel/platform/metrics.ts";
import type { Workers } from "./kernel/platform/workers/task.ts";
import type { RetentionPlan } from "./kernel/retention/retention.ts";
import type { BringNearer } from "./kernel/test-clock/test-clock.ts";
import { analyticsReader } from "./orders/analytics/analytics.ts";
import { rowCipher } from "./orders/bulk/bulk.ts";
import { fillCiphers } from "./orders/fills/fills.ts";
import { noticeReader, openFirmNotes, storedNotices, titleReader, type WithTemplate } from "./orders/order/order.ts";
import {
  type CheckoutDeps,
  checkoutUrl,
  openProcessor,
  sandboxPayment,
  takesPayment,
} from "./orders/payments/payments.ts";
import { bringExecutionsNearer, createCallbacks } from "./orders/playbooks/playbooks.ts";
import type { VersionedPricing } from "./orders/pricing/pricing.ts";
import { expandForm } from "./orders/templates/templates.ts";
import { bringSecretEndsNearer, openWebhooks } from "./outgoing/webhooks/webhooks.ts";
import {
  accountsOf,
  createQuiz,
  createStripeIdentity,
  type MediaEngine,
  openProviders,
  type Providers,
  providerMetrics,
} from "./providers/providers.ts";
import {
  bringEnvelopesNearer,
  createPreflight,
  envelopesWith,
  openCeremony,
  type SignerAuthorities,
  textsOf,
} from "./signing/envelopes/envelopes.ts";
import {
  bringSessionsNearer,
  type DeskDeps,
  eligibilityReader,
  type IdentityDeps,
  loadNotaryRules,
  loadScripts,
  meansFor,
  type NotaryRules,
  openNotarySupply,
  placeBlock,
  type Recordings,
  type SupplyDeps,
  supplyState,
} from "./signing/notaries/notaries.ts";
import { type Resources, root } from "./upkeep/resources.ts";

// Eight of the largest uploads at once; more wait their turn with the sender held back. Five are kept for firms that have live.
const uploadSizes = {
  live: { total: 5 * maxReservedBytes, perHolder: 2 * maxReservedBytes },
  trial: { total: 3 * maxReservedBytes, perHolder: maxReservedBytes },
};
// Each holds a database connection while a time stamp is waited for; the pool has 20.
const sealsAtOnce = 4;
const screeningFile = join(root, "service/data/screening.yaml");

export type LiveMedia = { engine: MediaEngine; recordings: Recordings };

export type AppDeps = Resources & {
  metrics: Metrics;
  lastUse: LastUse;
  pricing: VersionedPricing;
  tierLimits: TierLimits;
  trialsPerDomain: number;
  retention: RetentionPlan;
  sealing: Sealing;
  signerAuthorities: SignerAuthorities;
  workers: Workers;
  /** Null when no calendars are set. */
  anchoring: Anchoring | null;
  transparencyLog: TransparencyLog;
  /** Live audio and video; null where it is off. */
  media: LiveMedia | null;
  /** Where mails stay that no server sends; null when they are sent, or the service is not for this machine alone. */
  outbox: Outbox | null;
  onMailKept: (mail: Mail) => void;
  schemaWatch: SchemaWatch;
  /** Whether the node is about to stop. */
  isDraining: () => boolean;
};

export type Features = ReturnType<typeof openFeatures>;

/** Opens the features, by their names. */
export function openFeatures(deps: AppDeps, limits: RateLimits) {
  const { config, db, clock, log, metrics, secrets, rowMac, sealing, workers } = deps;
  const frame: RouteDeps = {
    resolveKey: keyResolver(deps),
    resolveSession: sessionResolver(deps),
    ownOrigin: new URL(config.baseUrl).origin,
    limits,
  };
  const shared = openShared(deps);
  const { names, titleOf, noticesOf, providers, processor, envelopes, uploadPlaces, mostStored } = shared;
  const { sealDocument, chainPem } = sealing;
  const shipped = loadNotaryRules(config.notaryRules);
  const notaries = notaryDesk(deps, shipped);
  const identity: IdentityDeps = { desk: notaries, secrets, ...proofsBy(deps, providers) };
  const supply: SupplyDeps = { clock, readEligibility: notaries.readEligibility, refuses: config.notaryRequired };
  const checkout = { db, clock, processor, notarySupply: openNotarySupply(supply) };
  const desk = openDesk(deps, shared, checkout);
  const { passports, closings } = openSealed(deps, shared);
  const { dispatcher, webhooks } = outgoingWebhooks(deps);
  return {
    processor,
    dispatcher,
    webhooks,
    frame,
    uploadPlaces,
    storageUse: storageUse(db, mostStored),
    partners: { db, resolveKeyForMe: keyForMeResolver(deps) },
    members: {
      db,
      clock,
      random: deps.random,
      rowMac,
      secrets,
      workers,
      ownOrigin: frame.ownOrigin,
      keyLimitsOf: keyLimitsOf(deps.tierLimits),
    },
    requestAccess: accessRequests(deps),
    readAnalytics: analyticsReader(deps),
    playbooks: { db, clock, log, callbacks: createCallbacks(secrets) },
    desk,
    checkout,
    processorEvents: { db, clock, log, metrics, processor },
    providers,
    receipts: openReceipts({ ...deps, sealDocument, providers }),
    notaryDesk: notaries,
    notarySheets: { desk: notaries, scripts: loadScripts(config.notaryScripts), placeFor: placeBlock(notaries) },
    notarySigning: { desk: notaries, stamp: sealing.stamp, random: deps.random },
    identity,
    notaryRules: {
      ...{ db, clock, shipped, refundApproval: config.refundApproval },
      proofMeans: meansFor(identity, "live"),
    },
    notaryState: () => supplyState(supply, db),
    finished: { envelopes, tsaRoots: tsaRootsPem(config) },
    envelopes,
    signing: {
      ceremony: openCeremony({ ...envelopes, titleOf, noticesOf }),
      consentTexts: envelopes.consentTexts,
      brandingOf: async (partnerId: string) => shownBranding(await readBranding(deps, { partnerId })),
    },
    proofCertificate: openProofCertificates({ ...deps, sealDocument, chainPem, baseUrl: config.baseUrl, names }),
    passports,
    closings,
    testClock: { db, clock, nearer: broughtNearer },
  };
}

/** Who checks credentials, and who asks questions; people wait for both, so that they have circuit breakers of their own. */
const proofsBy = ({ config: { identity, quiz } }: AppDeps, providers: Providers) => ({
  proofing: identity && createStripeIdentity(providers.separateCallOf("stripe_identity"), identity.environment),
  quiz: quiz && createQuiz(providers.separateCallOf("quiz"), quiz.environment),
});

type Shared = ReturnType<typeof openShared>;

/** Opens what several features share. */
function openShared(deps: AppDeps) {
  const { config, db, clock, pricing } = deps;
  const names = openDocumentNames(deps);
  const providers = providersOf(deps);
  const mostStored = (tier: string) => numberOf(deps.tierLimits[tierOf(tier)].storedBytes);
  return {
    names,
    titleOf: titleReader({ names, pricing }),
    noticesOf: noticeReader(names),
    providers,
    processor: config.stripe && openProcessor(config.stripe, config.baseUrl),
    envelopes: envelopesWith({ ...deps, texts: textsOf(providers, config.telnyx) }),
    uploadPlaces: createUploadPlaces({
      ...uploadSizes,
      mostWaitingOf: (tier) => deps.tierLimits[tierOf(tier)].waitingUploads,
    }),
    mostStored,
    requireStorage: createStorageQuota({ db, clock }, mostStored),
  };
}

const storeOf = ({ db, clock, log, rowMac, blobs }: AppDeps) => ({ db, clock, log, rowMac, blobs });

/** Opens the features that place orders and work on them. */
function openDesk(deps: AppDeps, shared: Shared, checkout: CheckoutDeps) {
  const { db, clock, log, secrets, random, pricing, workers, sealing } = deps;
  const { names, titleOf, noticesOf, providers, processor, envelopes, requireStorage } = shared;
  const { sealDocument } = sealing;
  const openSealer = async () => ({ sealDocument, close: async () => {} });
  const orders = {
    ...storeOf(deps),
    names,
    pricing,
    workers,
    requireStorage,
    trySigning: createPreflight(workers),
    textCodes: envelopes.texts !== null,
    textsReach: (phone: string) => envelopes.texts?.reaches(phone) ?? false,
    supply: { askCarriers: labelRates({ providers, log, random }), notaries: checkout.notarySupply },
    checkoutUrlOf: processor && checkoutOfNewOrder(checkout, log),
  };
  const withTemplate: WithTemplate = (principal, sent) => expandForm(orders, principal, sent);
  return {
    orders,
    withTemplate,
    bulk: { orders, withTemplate, cipher: rowCipher(deps.secrets) },
    fills: { templates: orders, log, secrets, ciphers: fillCiphers(secrets), baseUrl: deps.config.baseUrl },
    checkout,
    sandbox: { ...storeOf(deps), sealDocument, sandboxPayment },
    moves: { ...storeOf(deps), openSealer, requireByHand: requireNoLetter },
    envelopes,
    firmNotes: openFirmNotes({ db, clock, secrets, log }),
    titleOf,
    noticesOf,
    readNotices: storedNotices(db, noticesOf),
    takesPayment: (environment: Environment) => takesPayment(processor, environment),
  };
}

/** Opens the features that seal documents. */
function openSealed(deps: AppDeps, { names, titleOf, uploadPlaces, requireStorage }: Shared) {
  const { config, sealing, anchoring, workers, transparencyLog } = deps;
  const { baseUrl, keepSealed } = config;
  const { sealDocument, chainPem, stamp } = sealing;
  return {
    passports: {
      ...storeOf(deps),
      names,
      sealDocument,
      chainPem,
      anchoring,
      uploadPlaces,
      requireStorage: keepSealed ? requireStorage : null,
      logOrigins: transparencyLog.origins,
      baseUrl,
    },
    closings: {
      ...storeOf(deps),
      sealDocument,
      stamp,
      chainPem,
      titleOf,
      requireStorage,
      baseUrl,
      drawCertificate: drawIn(workers),
      certificates: createCertificateCheck(deps),
      semaphore: createKeyedSemaphore(sealsAtOnce),
    },
  };
}

/** The due times that a firm's test clock moves. The retention plan adds up the clock's advances itself. */
const broughtNearer: readonly BringNearer[] = [
  bringEnvelopesNearer,
  bringExecutionsNearer,
  bringSecretEndsNearer,
  bringSessionsNearer,
  ageTestIdempotencyKeys,
];

/** The accounts at providers that are configured. */
const providersOf = ({ config, db, clock, log, secrets, metrics }: AppDeps): Providers =>
  openProviders({ db, clock, log, secrets, fetch, ...providerMetrics(metrics, db) }, accountsOf(config));

/** The dependencies of the notary's desk. */
function notaryDesk(deps: AppDeps, shipped: NotaryRules): DeskDeps {
  const { config, clock, pricing, sealing } = deps;
  return {
    ...deps,
    sealDocument: sealing.sealDocument,
    baseUrl: config.baseUrl,
    tsaRoots: tsaRootsPem(config),
    readEligibility: eligibilityReader({ shipped, clock, notarizationBlocked: pricing.notarizationBlocked }),
  };
}

const passportReaders = (deps: AppDeps) => ({
  passportOf: (id: string, owner: Owner) => findOwnPassport(deps, id, owner),
  passportsOf: (ids: readonly string[], owner: Owner) => findOwnPassports(deps, ids, owner),
});

/** For load tests. */
const unlimitedHosts = { perHost: Number.POSITIVE_INFINITY, perAddress: Number.POSITIVE_INFINITY };

/** The dispatcher of webhooks, and what their routes and pages work with. */
function outgoingWebhooks(deps: AppDeps) {
  const { config, db, clock, rowMac, metrics } = deps;
  const { baseUrl } = config;
  const { passportOf, passportsOf } = passportReaders(deps);
  const ended = metrics.counter("webhook_deliveries_total", "Webhook deliveries that ended.", ["outcome"]);
  const { dispatcher, secretCipher, keyCipher, exchangeCipher } = openWebhooks({
    ...deps,
    baseUrl,
    allow: config.webhookAllow,
    caFile: config.webhookCa,
    passportOf,
    hostLimitsOf: config.rateLimits ? hostLimitsOf(deps.tierLimits) : () => unlimitedHosts,
    count: (outcome) => ended.inc({ outcome }),
  });
  const webhooks = {
    subscriptions: { db, clock, rowMac, secretCipher },
    deliveries: { db, clock, wake: dispatcher.wake },
    exchanges: { db, rowMac, baseUrl, exchangeCipher, passportOf },
    feed: { db, rowMac, baseUrl, passportsOf },
    publicKeys: { db, keyCipher },
  };
  return { dispatcher, webhooks };
}

/** Access requests with the shipped rules, and with a bot score where reCAPTCHA is set up. */
function accessRequests(deps: AppDeps) {
  const { baseUrl, recaptcha } = deps.config;
  return openAccess({ ...deps, fetch, rulesPath: screeningFile, recaptcha, hostname: new URL(baseUrl).hostname });
}

/** A placed order stands without its checkout, which may be asked for again. */
const checkoutOfNewOrder = (checkout: CheckoutDeps, log: Log) => (code: string) =>
  checkoutUrl(checkout, code, null).catch((error: Error) => {
    log.warn({ err: error }, "an order was placed without its checkout");
    return null;
  });
