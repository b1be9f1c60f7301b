import { sealReasons } from "@signsealship/evidence/seal";
import { createNodeCrypto } from "@signsealship/verifier/node-crypto";
import type { Environment } from "../../kernel/identity/identity.ts";
import type { Fetch } from "../../kernel/platform/bounds/bounded-request.ts";
import type { Clock } from "../../kernel/platform/clock.ts";
import { ServiceError, StartupError } from "../../kernel/platform/errors.ts";
import type { Metrics } from "../../kernel/platform/metrics.ts";
import type { Random } from "../../kernel/platform/random.ts";
import type { Workers } from "../../kernel/platform/workers/task.ts";
import { sealChainPem } from "./certificate/certificate.ts";
import { type ChainPems, type ChainsDeps, fingerprintOf, leafOf, recordChain, sealChainOf } from "./chains.ts";
import { openSealIdentity, probeSealIdentity, type SealIdentitySettings } from "./identity.ts";
import { isChainRetired, isRetired } from "./retirement.ts";
import { createSealer, type SealDocument, type Stamp } from "./sealer.ts";
import { createTimeStamping, type TimeStampingDeps, type TimeStampRefusal } from "./time-stamping.ts";
import { type Listing, trustList } from "./trust-list.ts";
import { type AnchorsOf, openTsaTrust, type TsaTrustSettings } from "./tsa-trust.ts";

/** The keys, certificates and authorities for sealing, opened once at the start. */
export type Sealing = {
  sealDocument: SealDocument;
  /** Asks the time-stamping authorities one after the other; null when none are configured. */
  stamp: Stamp | null;
  /** One stamping function for each authority, for messages that all authorities stamp. */
  stampers: ReadonlyMap<string, Stamp>;
  /** True if the last request by `stamp` succeeded; null before the first, and without authorities. */
  isStamped: () => boolean | null;
  /** PEM of the certificate chains of the live and the test seal. Each begins with the seal's own certificate. */
  chainPem: ChainPems;
  /**
   * The trust list that verifiers read, as JSON.
   * @param listing the authorities of signers and the logs to list; none by default
   */
  trustList: (listing?: Listing) => Promise<string>;
  /**
   * Checks that sealing works.
   * @throws Error when it would fail now
   */
  probe: () => Promise<void>;
  close: () => Promise<void>;
};

export type SealingDeps = ChainsDeps & {
  fetch: Fetch;
  clock: Clock;
  random: Random;
  metrics: Metrics;
  workers: Workers;
};

/**
 * Returns the newest checkpoint of an environment's transparency log, from memory, for inclusion in a seal; null when
 * there is none.
 */
type NewestCheckpoint = (log: Environment) => string | null;

/**
 * `tsaUrls` are time-stamping authorities in the order in which they are asked; an empty list means seals without time
 * stamps.
 */
type SealingSettings = SealIdentitySettings & TsaTrustSettings;

/**
 * Opens the keys and certificates of the live seal and the test seal, and logs warnings about certificates that expire
 * soon. For each document, the seal's reason decides whether the live or the test key is used.
 * @param newestCheckpoint by default, seals contain no checkpoint
 * @throws StartupError in one line when sealing would be impossible
 */
export async function openSealing(
  deps: SealingDeps,
  settings: SealingSettings,
  newestCheckpoint: NewestCheckpoint = () => null,
): Promise<Sealing> {
  const anchorsOf = openTsaTrust(settings);
  const stamping = settings.tsaUrls.length > 0 ? timeStamping(deps, settings.tsaUrls, anchorsOf) : null;
  const stamp = stamping?.stamp ?? null;
  const parts = { stamp, newestCheckpoint };
  const live = await openSeal(deps, settings, parts, "live");
  const test = await openSeal(deps, settings, parts, "test").catch(async (error: unknown) => {
    await live.close();
    throw error;
  });
  const chainPem = { live: live.chainPem, test: test.chainPem };
  return {
    sealDocument: (input) => (testReasons.has(input.reason) ? test : live).sealDocument(input),
    stamp,
    stampers: stamping?.stampers ?? new Map(),
    isStamped: () => stamping?.isUp() ?? null,
    chainPem,
    trustList: (listing = { signers: [], logs: [] }) =>
      trustList(deps, chainPem, { ...listing, stampers: settings.tsaUrls.flatMap(anchorsOf) }),
    async probe() {
      await live.probe();
      await test.probe();
    },
    async close() {
      await Promise.all([live.close(), test.close()]);
    },
  };
}

const testReasons: ReadonlySet<string> = new Set(Object.values(sealReasons).map(({ test }) => test));

type Seal = Pick<Sealing, "sealDocument" | "probe" | "close"> & { readonly chainPem: string };

async function openSeal(
  deps: SealingDeps,
  settings: SealingSettings,
  { stamp, newestCheckpoint }: { stamp: Stamp | null; newestCheckpoint: NewestCheckpoint },
  environment: Environment,
): Promise<Seal> {
  const { clock, random, log, workers } = deps;
  const serialNumbers = () => random.bytes(16);
  const { identity, warnings, replaced } = await openSealIdentity(settings, clock(), serialNumbers, environment);
  for (const { code, detail } of warnings) log.warn({ code }, detail);
  if (replaced)
    log.info({ replaced: fingerprintOf(replaced) }, "the seal's certificate is now issued by the service's root");
  const { chainPem } = identity;
  try {
    if (replaced) await recordChain(deps, sealChainPem([replaced]));
    await enterService(deps, chainPem);
  } catch (error) {
    await identity.key.close();
    throw error;
  }
  const requireInService = inServiceGuard(deps, chainPem);
  const sealDocument = createSealer({
    identity,
    workers,
    clock,
    stamp,
    random,
    newestCheckpoint: () => newestCheckpoint(environment),
    onUnfitTimeStamp: (authority, why) => log.warn({ authority, why }, "a seal was made without its unfit time stamp"),
  });
  return {
    async sealDocument(input) {
      await requireInService();
      return sealDocument(input);
    },
    chainPem,
    async probe() {
      await requireInService();
      await probeSealIdentity(identity, clock());
    },
    close: identity.key.close,
  };
}

/**
 * Records the chain as one of this service's chains.
 * @throws StartupError for a retired chain
 */
async function enterService(deps: SealingDeps, chainPem: string): Promise<void> {
  if (await isRetired(deps, chainPem)) {
    throw new StartupError(
      leafOf(chainPem).certificate.isTestSeals
        ? "The seal of tests: its certificate is retired: move keys/test-seal* away, and start again"
        : "SEAL_CERTIFICATE: this certificate is retired: name another, with its key in SEAL_KEY",
    );
  }
  await recordChain(deps, chainPem);
}

/**
 * Returns a check to run before each seal: that the seal's certificate is not retired. The certificate may have been
 * retired after this node was started.
 */
function inServiceGuard({ db, log }: SealingDeps, chainPem: string): () => Promise<void> {
  const chain = sealChainOf(chainPem);
  return async () => {
    if (!(await isChainRetired(db, chain))) return;
    log.error("the seal's certificate is retired: restart with another");
    throw new ServiceError("unavailable", "The seal can't be made now. Try again later.");
  };
}

function timeStamping(
  { fetch, clock, random, log, metrics }: SealingDeps,
  authorities: readonly string[],
  anchorsOf: AnchorsOf,
) {
  const refusals = metrics.counter("timestamp_refusals_total", "Answers of authorities that were not used.", [
    "authority",
    "failed",
  ]);
  const missing = metrics.counter("seals_without_time_stamp_total", "Seals that no authority stamped.", []);
  const asking = {
    anchorsOf,
    fetch,
    clock,
    randomBytes: random.bytes,
    crypto: createNodeCrypto(),
    onRefusal(refusal: TimeStampRefusal) {
      log.warn(refusal, "a time-stamping authority's answer was not used");
      refusals.inc({ authority: refusal.authority, failed: refusal.failed });
    },
  } satisfies Omit<TimeStampingDeps, "authorities">;
  const ask = createTimeStamping({ ...asking, authorities });
  let isUp: boolean | null = null;
  const stamp: Stamp = async (message) => {
    const token = await ask(message);
    isUp = token !== null;
    if (!isUp) missing.inc();
    return token;
  };
  const stampers = new Map(authorities.map((url) => [url, createTimeStamping({ ...asking, authorities: [url] })]));
  return { stamp, stampers, isUp: () => isUp };
}
