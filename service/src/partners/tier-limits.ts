import { readFileSync } from "node:fs";
import { type Static, Type } from "typebox";
import { Value } from "typebox/value";
import { parse } from "yaml";
import { StartupError } from "../platform/errors.ts";

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
export function readTierLimits(path: string): TierLimits {
  const content = contentOf(path);
  if (Value.Check(File, content)) return content.tiers;
  const [first] = Value.Errors(File, content);
  const entry = first?.instancePath.slice(1).replaceAll("/", ".") || "the file";
  throw new StartupError(`LIMITS ${path}: ${entry} ${first?.message}`);
}

function contentOf(path: string): unknown {
  try {
    return parse(readFileSync(path, "utf8"));
  } catch (error) {
    throw new StartupError(`LIMITS ${path}: ${(error as Error).message.split("\n")[0]}`);
  }
}

/** A limit as a number. */
export const numberOf = (value: number | "none"): number => (value === "none" ? Number.POSITIVE_INFINITY : value);
