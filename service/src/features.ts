import { replaceInRooms } from "./closing/deliveries/deliveries.ts";
import { closingsOf, countOpenRooms, openRoomsOf } from "./closing/rooms/rooms.ts";
import { closingPorts, openClosingWing } from "./closing/wing.ts";
import { deliveryPorts, openDeliveryWing } from "./delivery/wing.ts";
import type { Anchoring } from "./evidence/anchoring/anchoring.ts";
import type { Sealing } from "./evidence/seals/seals.ts";
import type { TransparencyLog } from "./evidence/transparency-log/transparency-log.ts";
import { openEvidenceWing } from "./evidence/wing.ts";
import type { LastUse, TierLimits } from "./firms/partners/partners.ts";
import { openFirmsWing } from "./firms/wing.ts";
import type { SchemaWatch } from "./kernel/platform/database/schema-fence.ts";
import { openDocumentNames } from "./kernel/platform/document-name.ts";
import type { Mail, Outbox } from "./kernel/platform/mail/mail.ts";
import type { Metrics } from "./kernel/platform/metrics.ts";
import type { Workers } from "./kernel/platform/workers/task.ts";
import type { Resources } from "./kernel/resources.ts";
import type { RetentionPlan } from "./kernel/retention/retention.ts";
import { noticeReader, titleReader } from "./orders/order/order.ts";
import type { Processor } from "./orders/payments/payments.ts";
import type { VersionedPricing } from "./orders/pricing/pricing.ts";
import { openOrdersWing } from "./orders/wing.ts";
import { openOutgoingWing } from "./outgoing/wing.ts";
import { openProvidersWing } from "./providers/wing.ts";
import type { SignerAuthorities } from "./signing/envelopes/envelopes.ts";
import { type LiveMedia, openSigningWing } from "./signing/wing.ts";
import { firstTimes } from "./upkeep/declarations.ts";
import { storedBlobs } from "./upkeep/protected-data.ts";
import { openUpkeepWing } from "./upkeep/wing.ts";

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

/**
 * Opens the wings, and passes to each the features and functions of other wings that it uses. Opens lower wings first,
 * except that signing is opened before orders, because orders use its opened features.
 */
export function openFeatures(deps: AppDeps) {
  const { resources, node, rules, sealing, transparencyLog, media } = deps;
  const { metrics, workers, lastUse, processor } = node;
  const { pricing, retention } = rules;
  const { sealDocument } = sealing;
  const keys = { sealing, signerAuthorities: deps.signerAuthorities };
  const names = openDocumentNames(resources);
  const titleOf = titleReader({ names, pricing });
  const texts = { titleOf, noticesOf: noticeReader(names) };

  const providersWing = openProvidersWing(resources, metrics, fetch);
  const { providers } = providersWing;
  const rooms = { openRoomsOf, countOpenRooms };
  const firms = openFirmsWing(resources, { workers, lastUse, rules, fetch, rooms, firstTimes, storedBlobs });
  const { requireStorage } = firms;
  const evidence = openEvidenceWing(resources, {
    names,
    workers,
    sealing,
    anchoring: deps.anchoring,
    transparencyLog,
    requireStorage,
  });
  const closing = { closingsOf, replaceInRooms };
  const signing = openSigningWing(resources, { workers, pricing, keys, texts, providers, fetch, media, closing });
  const orders = openOrdersWing(resources, {
    node: { metrics, workers, processor },
    pricing,
    names,
    texts,
    sealDocument,
    requireStorage,
    ports: { signing: signing.ports, closing: closingPorts, delivery: deliveryPorts(resources, providers) },
  });
  return {
    providers: providersWing,
    firms,
    evidence,
    orders,
    signing,
    closing: openClosingWing(resources, { workers, sealing, titleOf, requireStorage, transparencyLog, orders }),
    outgoing: openOutgoingWing(resources, { metrics, rules, newestCheckpoint: transparencyLog.newestSeen }),
    delivery: openDeliveryWing(resources, { workers, sealDocument, rules, providers, fetch }),
    upkeep: openUpkeepWing(resources, { metrics, retention, keys, envelopes: signing.envelopes }),
  };
}
