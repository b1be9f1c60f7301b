import { type Static, Type } from "typebox";
import { readCheckedYaml } from "../platform/checked-yaml.ts";

const limit = Type.Union([Type.Integer({ minimum: 1 }), Type.Literal("none")]);
const OfTier = Type.Object(
  { deliveriesPerHostPerMinute: limit, waitingUploads: Type.Integer({ minimum: 1 }), storedBytes: limit },
  { additionalProperties: false },
);
const File = Type.Object(
  {
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

/** A limit as a number. */
export const numberOf = (value: number | "none"): number => (value === "none" ? Number.POSITIVE_INFINITY : value);
