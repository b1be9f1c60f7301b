import { type Static, Type } from "typebox";
import { readCheckedYaml } from "../platform/checked-yaml.ts";
import { type Tier, tierOf } from "./tiers.ts";

const limit = Type.Union([Type.Integer({ minimum: 1 }), Type.Literal("none")]);
const OfTier = Type.Object(
  {
    deliveriesPerHostPerMinute: limit,
    // Left out of files of before it was there.
    deliveriesPerAddressPerMinute: Type.Optional(limit),
    waitingUploads: Type.Integer({ minimum: 1 }),
    storedBytes: limit,
    // Left out of files of before they were there.
    activeKeys: Type.Optional(limit),
    keysPerDay: Type.Optional(limit),
  },
  { additionalProperties: false },
);
const File = Type.Object(
  {
    // Left out of files of before it was there.
    trialsPerDomain: Type.Optional(limit),
    tiers: Type.Object(
      { trial: OfTier, PartnerLink: OfTier, ProOffice: OfTier, ClosingDesk: OfTier },
      { additionalProperties: false },
    ),
  },
  { additionalProperties: false },
);

/** What firms of each tier may take up, from `service/data/limits.yaml`. */
export type TierLimits = Static<typeof File>["tiers"];

/** @throws StartupError naming the first entry that breaks a rule */
export const readTierLimits = (path: string): TierLimits => readCheckedYaml("LIMITS", path, File).tiers;

/** How many addresses of one mail domain are issued a trial key without review. @throws StartupError like `readTierLimits` */
export const readTrialsPerDomain = (path: string): number =>
  numberOf(readCheckedYaml("LIMITS", path, File).trialsPerDomain ?? 1);

/** How many keys of one environment a firm may have active at once, and how many its owners may make in 24 hours. */
export type KeyLimits = { active: number; aDay: number };

export const keyLimitsOf =
  (limits: TierLimits) =>
  (tier: string): KeyLimits => {
    const { activeKeys = 50, keysPerDay = 50 } = limits[tierOf(tier)];
    return { active: numberOf(activeKeys), aDay: numberOf(keysPerDay) };
  };

// Far above what a firm's own endpoints get, and a small part of what 100 subscriptions could send to a stranger.
const paidPerAddress = 6_000;

/** Webhook deliveries of a firm of a tier in a minute: to one host name, and to one address or domain. */
export const hostLimitsOf =
  (limits: TierLimits) =>
  (tier: Tier): { perHost: number; perAddress: number } => {
    const { deliveriesPerHostPerMinute: ofHost, deliveriesPerAddressPerMinute: ofAddress } = limits[tier];
    return {
      perHost: numberOf(ofHost),
      perAddress: numberOf(ofAddress ?? (ofHost === "none" ? paidPerAddress : ofHost)),
    };
  };

/** A limit as a number. */
export const numberOf = (value: number | "none"): number => (value === "none" ? Number.POSITIVE_INFINITY : value);
