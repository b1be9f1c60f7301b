import { join } from "node:path";
import { openAccess } from "./access-requests/access-requests.ts";
import { analyticsReader } from "./analytics/analytics.ts";
import type { Anchoring } from "./anchoring/anchoring.ts";
import { createCertificateCheck, drawIn } from "./closing-passports/closing-passports.ts";
import { envelopesWith, textsOf } from "./envelope-deps.ts";
import { bringEnvelopesNearer, createPreflight, openCeremony, type SignerAuthorities } from "./envelopes/envelopes.ts";
import type { RateLimits } from "./http/rate-limits.ts";
import type { RouteDeps } from "./http/route.ts";
import { maxReservedBytes } from "./http/uploads/multipart.ts";
import { createUploadPlaces } from "./http/uploads/upload-places.ts";
import type { Environment, Owner } from "./identity/identity.ts";
import { sessionResolver } from "./members/members.ts";
import { type DeskDeps, loadNotaryRules } from "./notaries/notaries.ts";
import { noticeReader, openFirmNotes, titleReader } from "./orders/orders.ts";
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
} from "./partners/partners.ts";
import { type CheckoutDeps, checkoutUrl, openProcessor, sandboxPayment, takesPayment } from "./payments/payments.ts";
import { createKeyedSemaphore } from "./platform/bounds/keyed-semaphore.ts";
import type { SchemaWatch } from "./platform/database/schema-fence.ts";
import { openDocumentNames } from "./platform/document-name.ts";
import { ageTestIdempotencyKeys } from "./platform/idempotency.ts";
import type { Log } from "./platform/logs.ts";
import type { Mail, Outbox } from "./platform/mail/mail.ts";
import type { Metrics } from "./platform/metrics.ts";
import type { Workers } from "./platform/workers/task.ts";
import { bringExecutionsNearer, createCallbacks } from "./playbooks/playbooks.ts";
import type { VersionedPricing } from "./pricing/pricing.ts";
import { findOwnPassport, findOwnPassports, openProofCertificates } from "./proof-passports/proof-passports.ts";
import { accountsOf, openProviders, type Providers, providerMetrics } from "./providers/providers.ts";
import { openReceipts } from "./receipts/receipts.ts";
import { type Resources, root } from "./resources.ts";
import type { RetentionPlan } from "./retention/retention.ts";
import { type Sealing, tsaRootsPem } from "./seals/seals.ts";
import { labelRates } from "./shipping/shipping.ts";
import type { BringNearer } from "./test-clock/test-clock.ts";
import { bringSecretEndsNearer, openWebhooks } from "./webhooks/webhooks.ts";

// Eight of the largest uploads at once; more wait their turn with the sender held back. Five are kept for firms that have live.
const uploadSizes = {
  live: { total: 5 * maxReservedBytes, perHolder: 2 * maxReservedBytes },
  trial: { total: 3 * maxReservedBytes, perHolder: maxReservedBytes },
};
// Each holds a database connection while a time stamp is waited for; the pool has 20.
const sealsAtOnce = 4;
const screeningFile = join(root, "service/data/screening.yaml");

export type AppDeps = Resources & {
  version: string;
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
  /** Where mails stay that no server sends; null when they are sent, or the service is not for this machine alone. */
  outbox: Outbox | null;
  onMailKept: (mail: Mail) => void;
  schemaWatch: SchemaWatch;
  /** Whether the node is about to stop. */
  isDraining: () => boolean;
};

export type Features = ReturnType<typeof openFeatures>;

/** Opens the features: what each is handed, by its name. */
export function openFeatures(deps: AppDeps, limits: RateLimits) {
  const { config, db, clock, log, metrics, blobs, secrets, rowMac, sealing, anchoring, pricing, workers } = deps;
  const { baseUrl } = config;
  const frame: RouteDeps = {
    resolveKey: keyResolver(deps),
    resolveSession: sessionResolver(deps),
    ownOrigin: new URL(baseUrl).origin,
    limits,
  };
  const records = { ...frame, db, clock, log };
  const names = openDocumentNames(deps);
  const titleOf = titleReader({ names, pricing });
  const noticesOf = noticeReader(names);
  const kept = { rowMac, blobs };
  const processor = config.stripe && openProcessor(config.stripe, baseUrl);
  const checkout = { ...records, processor };
  const uploadPlaces = createUploadPlaces({
    ...uploadSizes,
    mostWaitingOf: (tier) => deps.tierLimits[tierOf(tier)].waitingUploads,
  });
  const mostStored = (tier: string) => numberOf(deps.tierLimits[tierOf(tier)].storedBytes);
  const requireStorage = createStorageQuota(records, mostStored);
  const sealed = { ...records, ...sealing, ...kept, anchoring, baseUrl, requireStorage };
  const { dispatcher, ...ciphers } = outgoingWebhooks(deps);
  const providers = providersOf(deps);
  const envelopes = envelopesWith({ ...deps, texts: textsOf(providers, config.telnyx) });
  return {
    processor,
    dispatcher,
    frame,
    storageUse: storageUse(db, mostStored),
    partners: { ...records, resolveKeyForMe: keyForMeResolver(deps) },
    members: { ...records, rowMac, secrets, workers, keyLimitsOf: keyLimitsOf(deps.tierLimits) },
    access: { ...frame, requestAccess: accessRequests(deps) },
    analytics: { ...frame, readAnalytics: analyticsReader(deps) },
    playbooks: { ...records, enabled: config.playbooks, callbacks: createCallbacks(secrets) },
    orders: {
      ...records,
      ...kept,
      names,
      titleOf,
      noticesOf,
      firmNotes: openFirmNotes({ db, clock, secrets, log }),
      takesPayment: (environment: Environment) => takesPayment(processor, environment),
      pricing,
      workers,
      uploadPlaces,
      requireStorage,
      trySigning: createPreflight(workers),
      textCodes: envelopes.texts !== null,
      textsReach: (phone: string) => envelopes.texts?.reaches(phone) ?? false,
      askCarriers: labelRates({ providers, log }),
      checkoutUrlOf: processor && checkoutOfNewOrder(checkout, log),
    },
    checkout,
    processorEvents: { db, clock, log, metrics, processor },
    sandbox: { ...records, ...sealing, rowMac, blobs, baseUrl, sandboxPayment },
    rooms: records,
    providers,
    receipts: openReceipts({ ...deps, sealDocument: sealing.sealDocument, providers }),
    notaryDesk: notaryDesk(deps),
    finished: { ...envelopes, tsaRoots: tsaRootsPem(config) },
    envelopes,
    signing: {
      ceremony: openCeremony({ ...envelopes, titleOf, noticesOf }),
      consentTexts: envelopes.consentTexts,
      brandingOf: async (partnerId: string) => shownBranding(await readBranding(deps, { partnerId })),
    },
    passports: {
      ...sealed,
      names,
      keepSealed: config.keepSealed,
      uploadPlaces,
      proofCertificate: openProofCertificates({ ...deps, ...sealed, names }),
    },
    closings: { ...sealed, ...certificatesOf(deps), titleOf },
    webhooks: { ...records, rowMac, ...ciphers, ...passportReaders(deps), baseUrl, wake: dispatcher.wake },
    testClock: { ...records, nearer: broughtNearer },
  };
}

/** What draws and checks closing certificates. */
const certificatesOf = (deps: AppDeps) => ({
  drawCertificate: drawIn(deps.workers),
  certificates: createCertificateCheck(deps),
  semaphore: createKeyedSemaphore(sealsAtOnce),
});

/** What a firm's test clock brings nearer; what documents are kept for adds up its leaps. */
const broughtNearer: readonly BringNearer[] = [
  bringEnvelopesNearer,
  bringExecutionsNearer,
  bringSecretEndsNearer,
  ageTestIdempotencyKeys,
];

/** The accounts at providers that are configured. */
const providersOf = ({ config, db, clock, log, secrets, metrics }: AppDeps): Providers =>
  openProviders({ db, clock, log, secrets, fetch, ...providerMetrics(metrics, db) }, accountsOf(config));

/** What notaries work with. */
function notaryDesk(deps: AppDeps): DeskDeps {
  const { config, pricing, sealing } = deps;
  return {
    ...deps,
    sealDocument: sealing.sealDocument,
    baseUrl: config.baseUrl,
    tsaRoots: tsaRootsPem(config),
    eligibility: { rules: loadNotaryRules(config.notaryRules), notarizationBlocked: pricing.notarizationBlocked },
  };
}

const passportReaders = (deps: AppDeps) => ({
  passportOf: (id: string, owner: Owner) => findOwnPassport(deps, id, owner),
  passportsOf: (ids: readonly string[], owner: Owner) => findOwnPassports(deps, ids, owner),
});

/** For load tests. */
const unlimitedHosts = { perHost: Number.POSITIVE_INFINITY, perAddress: Number.POSITIVE_INFINITY };

function outgoingWebhooks(deps: AppDeps) {
  const { config, metrics } = deps;
  const deliveries = metrics.counter("webhook_deliveries_total", "Webhook deliveries that ended.", ["outcome"]);
  return openWebhooks({
    ...deps,
    baseUrl: config.baseUrl,
    allow: config.webhookAllow,
    caFile: config.webhookCa,
    ...passportReaders(deps),
    hostLimitsOf: config.rateLimits ? hostLimitsOf(deps.tierLimits) : () => unlimitedHosts,
    count: (outcome) => deliveries.inc({ outcome }),
  });
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
