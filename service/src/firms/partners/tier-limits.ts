import { type Static, Type } from "typebox";
import { readCheckedYaml } from "../../kernel/platform/checked-yaml.ts";
import { type Tier, tierOf } from "./tiers.ts";

const limit = Type.Union([Type.Integer({ minimum: 1 }), Type.Literal("none")]);
const OfTier = Type.Object(
  {
    deliveriesPerHostPerMinute: limit,
    // Optional, because earlier files lack this limit.
    deliveriesPerAddressPerMinute: Type.Optional(limit),
    waitingUploads: Type.Integer({ minimum: 1 }),
    storedBytes: limit,
    // Optional, because earlier files lack these limits.
    activeKeys: Type.Optional(limit),
    keysPerDay: Type.Optional(limit),
  },
  { additionalProperties: false },
);
const File = Type.Object(
  {
    // Optional, because earlier files lack this limit.
    trialsPerDomain: Type.Optional(limit),
    tiers: Type.Object(
      { trial: OfTier, PartnerLink: OfTier, ProOffice: OfTier, ClosingDesk: OfTier },
      { additionalProperties: false },
    ),
  },
  { additionalProperties: false },
);

/** The limits of each tier, from `service/data/limits.yaml`. */
export type TierLimits = Static<typeof File>["tiers"];

/**
 * Reads the limits of each tier from a YAML file.
 * @throws StartupError naming the first entry that breaks a rule
 */
export const readTierLimits = (path: string): TierLimits => readCheckedYaml("LIMITS", path, File).tiers;

/**
 * The number of email addresses of one domain that get a trial key without a review.
 * @throws StartupError like `readTierLimits`
 */
export const readTrialsPerDomain = (path: string): number =>
  numberOf(readCheckedYaml("LIMITS", path, File).trialsPerDomain ?? 1);

/**
 * The largest numbers of active keys of a firm in one environment, and of keys that its owners may create in 24 hours.
 */
export type KeyLimits = { active: number; aDay: number };

export const keyLimitsOf =
  (limits: TierLimits) =>
  (tier: string): KeyLimits => {
    const { activeKeys = 50, keysPerDay = 50 } = limits[tierOf(tier)];
    return { active: numberOf(activeKeys), aDay: numberOf(keysPerDay) };
  };

// The most deliveries to one IP address in a minute. Applies to a tier that sets no limit for each address or host.
// This is far more than a firm's own endpoints need, but a small part of what 100 subscriptions could send to a
// stranger's server.
const paidPerAddress = 6_000;

/**
 * The limits of a firm's webhook deliveries from each node in a minute. `perHost`: to one host name. `perAddress`: to
 * one IP address, and also to all host names of one domain together.
 */
export const hostLimitsOf =
  (limits: TierLimits) =>
  (tier: Tier): { perHost: number; perAddress: number } => {
    const { deliveriesPerHostPerMinute: ofHost, deliveriesPerAddressPerMinute: ofAddress } = limits[tier];
    return {
      perHost: numberOf(ofHost),
      perAddress: numberOf(ofAddress ?? (ofHost === "none" ? paidPerAddress : ofHost)),
    };
  };

/** No limits for webhook deliveries. These apply when rate limits are switched off, as in load tests. */
export const unlimitedHosts = () => ({ perHost: Number.POSITIVE_INFINITY, perAddress: Number.POSITIVE_INFINITY });

const numberOf = (value: number | "none"): number => (value === "none" ? Number.POSITIVE_INFINITY : value);

/** The bytes that a firm of the tier may store; Infinity for a tier without a limit. */
export const storedBytesOf =
  (limits: TierLimits) =>
  (tier: string): number =>
    numberOf(limits[tierOf(tier)].storedBytes);

export const waitingUploadsOf =
  (limits: TierLimits) =>
  (tier: string): number =>
    limits[tierOf(tier)].waitingUploads;
