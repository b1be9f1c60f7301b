import type { Principal } from "../../identity/identity.ts";
import { memoryHolder } from "../../platform/bounds/memory-budget.ts";
import { createUploadMemory } from "./upload-memory.ts";

/** Whose upload it is. */
export type UploadHolder = Pick<Principal, "partnerId" | "environment" | "liveEnabled" | "tier">;

/** Places in memory for the uploads of firms. */
export type UploadPlaces = {
  /**
   * Resolves with the function that gives the bytes back.
   * @throws ServiceError `unavailable` when too many of the firm's uploads wait already
   */
  reserve: (holder: UploadHolder, bytes: number) => Promise<() => void>;
};

type Sizes = { total: number; perHolder: number };

export type UploadPlaceSizes = {
  /** In bytes: for firms that have live, and for those that do not. Neither can take up the other's. */
  live: Sizes;
  trial: Sizes;
  /** How many uploads of a firm of the tier may wait. */
  mostWaitingOf: (tier: string) => number;
};

export function createUploadPlaces({ live, trial, mostWaitingOf }: UploadPlaceSizes): UploadPlaces {
  const ofLive = createUploadMemory(live);
  const ofTrial = createUploadMemory(trial);
  return {
    reserve(holder, bytes) {
      const { liveEnabled, tier } = holder;
      const memory = liveEnabled ? ofLive : ofTrial;
      return memory.reserve(memoryHolder(holder), bytes, mostWaitingOf(tier));
    },
  };
}
