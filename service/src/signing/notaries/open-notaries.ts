import { fileURLToPath } from "node:url";
import { type Sealing, tsaRootsPem } from "../../evidence/seals/seals.ts";
import type { Fetch } from "../../kernel/platform/bounds/bounded-request.ts";
import { OwnNode } from "../../kernel/platform/nodes.ts";
import type { Workers } from "../../kernel/platform/workers/task.ts";
import type { Resources } from "../../kernel/resources.ts";
import { readVersion } from "../../kernel/version.ts";
import type { TitleOf } from "../../orders/order/order.ts";
import type { Pricing } from "../../orders/pricing/pricing.ts";
import {
  createQuiz,
  createRemoteSigning,
  createStripeIdentity,
  type MediaEngine,
  type Providers,
} from "../../providers/providers.ts";
import { readOneKind } from "../envelopes/envelopes.ts";
import type { DeskDeps } from "./claims/claims.ts";
import { openNotaryPapers } from "./claims/papers.ts";
import type { RuleChangeDeps } from "./eligibility/changes/changes.ts";
import { eligibilityReader } from "./eligibility/changes/in-force.ts";
import { loadNotaryRules } from "./eligibility/rules.ts";
import { openNotarySupply, type SupplyDeps, supplyState } from "./eligibility/supply.ts";
import { type IdentityDeps, meansFor } from "./identity/checks.ts";
import type { SheetDeps } from "./presence/ipen.ts";
import type { RecordingDisk } from "./recordings/disk.ts";
import type { Recordings } from "./recordings/recordings.ts";
import { LiveRooms } from "./sessions/rooms.ts";
import type { LiveDeps } from "./sessions/session.ts";
import { loadScripts } from "./sheets/scripts.ts";
import { placeBlock } from "./signing/block.ts";
import type { RemoteSigningDeps } from "./signing/remote.ts";

type Parts = {
  workers: Workers;
  pricing: Pick<Pricing, "notarizationBlocked">;
  sealing: Pick<Sealing, "sealDocument" | "stamp">;
  titleOf: TitleOf;
  providers: Providers;
  fetch: Fetch;
  /** Null when the service has no media engine, and so offers no acts by audio and video. */
  media: { engine: MediaEngine; recordings: Recordings; disk: RecordingDisk } | null;
};

/**
 * Opens the features for notaries.
 * @throws StartupError when the file of NOTARY_RULES or NOTARY_SCRIPTS is not valid
 */
export function openNotaries(resources: Resources, parts: Parts) {
  const { config, db, clock, log, blobs, rowMac, secrets, random } = resources;
  const { workers, pricing, sealing, titleOf, providers, fetch, media } = parts;
  const shipped = loadNotaryRules(config.notaryRules);
  const readEligibility = eligibilityReader({ shipped, clock, notarizationBlocked: pricing.notarizationBlocked });
  const { sealDocument, stamp } = sealing;
  const { baseUrl } = config;
  const store = { db, clock, log, blobs, rowMac };
  const papers = openNotaryPapers(workers, { tsaRoots: tsaRootsPem(config), sealDocument, titleOf });
  const desk: DeskDeps = { ...store, papers, readEligibility, baseUrl };
  const identity: IdentityDeps = {
    desk,
    secrets,
    // Each provider has a separate circuit breaker, so that a failure of one provider doesn't block the other. People
    // wait for both providers' responses.
    proofing:
      config.identity && createStripeIdentity(providers.separateCallOf("stripe_identity"), config.identity.environment),
    quiz: config.quiz && createQuiz(providers.separateCallOf("quiz"), config.quiz.environment),
  };
  const rules: RuleChangeDeps = {
    db,
    clock,
    shipped,
    refundApproval: config.refundApproval,
    proofMeans: meansFor(identity, "live"),
  };
  const sheets: SheetDeps = {
    desk,
    workers,
    scripts: loadScripts(config.notaryScripts),
    placeFor: placeBlock({ db, workers, clock }),
  };
  const remote = config.remoteSigningUrl === null ? null : createRemoteSigning(fetch, config.remoteSigningUrl);
  const signing: RemoteSigningDeps = { desk, workers, stamp, random, remote };
  const own = new OwnNode({ secrets, clock, url: config.nodeUrl });
  const supply: SupplyDeps = { clock, readEligibility, refuses: config.notaryRequired };
  return {
    desk,
    identity,
    rules,
    sheets,
    signing,
    own,
    live: openLiveRooms({ sheets, identity, own }, media),
    supply: { ...openNotarySupply(supply), state: () => supplyState(supply, db) },
  };
}

const recordingConsent = fileURLToPath(new URL("../../../data/recording-consent", import.meta.url));

/** Opens live sessions; null without a media engine. */
function openLiveRooms(parts: Pick<LiveDeps, "sheets" | "identity" | "own">, media: Parts["media"]): LiveDeps | null {
  if (!media) return null;
  const rooms = new LiveRooms({ ...media, now: () => parts.sheets.desk.clock().getTime() });
  const consentTexts = readOneKind(recordingConsent);
  const { recordings, disk } = media;
  return { ...parts, rooms, recordings, disk, consentTexts, tool: `SignSealShip ${readVersion()}` };
}
