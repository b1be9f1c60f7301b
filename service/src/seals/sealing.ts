import { randomBytes, randomInt } from "node:crypto";
import { createNodeCrypto } from "@signsealship/verifier/node-crypto";
import type { Fetch } from "../platform/bounded-request.ts";
import type { Clock } from "../platform/clock.ts";
import type { Log } from "../platform/logs.ts";
import type { Metrics } from "../platform/metrics.ts";
import type { Workers } from "../platform/workers/task.ts";
import { openSealIdentity, probeSealIdentity, type SealIdentitySettings } from "./identity.ts";
import { createSealer, type SealDocument } from "./sealer.ts";
import { createTimeStamping } from "./time-stamping.ts";
import { openTsaTrust, type TsaTrustSettings } from "./tsa-trust.ts";

/** All that is needed to seal, opened once at the start. */
export type Sealing = {
  sealDocument: SealDocument;
  /** PEM of the seal's certificates, its own first. */
  chainPem: string;
  /** @throws Error when a seal could not be made now. */
  probe: () => Promise<void>;
  close: () => Promise<void>;
};

export type SealingDeps = {
  /** `tsaUrls` time-stamping authorities, asked in this order; none for seals without a time stamp. */
  settings: SealIdentitySettings & TsaTrustSettings;
  fetch: Fetch;
  clock: Clock;
  log: Log;
  metrics: Metrics;
  workers: Workers;
};

/**
 * Opens the seal key with its certificates; what will soon be wrong with them is logged.
 * @throws StartupError in one line when nothing could be sealed
 */
export async function openSealing(deps: SealingDeps): Promise<Sealing> {
  const { settings, clock, log, workers } = deps;
  const stamp = settings.tsaUrls.length > 0 ? timeStamping(deps) : null;
  const { identity, warnings } = await openSealIdentity(settings, clock(), randomBytes(16));
  for (const { code, detail } of warnings) log.warn({ code }, detail);
  return {
    sealDocument: createSealer({
      identity,
      workers,
      clock,
      stamp,
      randomBelow: (limit) => randomInt(limit),
      onUnfitTimeStamp: (authority, why) =>
        log.warn({ authority, why }, "a seal was made without its unfit time stamp"),
    }),
    chainPem: identity.chainPem,
    probe: () => probeSealIdentity(identity, clock()),
    close: identity.key.close,
  };
}

function timeStamping({ settings, fetch, clock, log, metrics }: SealingDeps) {
  const refusals = metrics.counter("timestamp_refusals_total", "Answers of authorities that were not used.", [
    "authority",
    "failed",
  ]);
  return createTimeStamping({
    authorities: settings.tsaUrls,
    anchorsOf: openTsaTrust(settings),
    fetch,
    clock,
    randomBytes,
    crypto: createNodeCrypto(),
    onRefusal(refusal) {
      log.warn(refusal, "a time-stamping authority's answer was not used");
      refusals.inc({ authority: refusal.authority, failed: refusal.failed });
    },
  });
}
