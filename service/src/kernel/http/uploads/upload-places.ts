import type { Principal } from "../../identity/identity.ts";
import { memoryHolder } from "../../platform/bounds/memory-budget.ts";
import { createUploadMemory } from "./upload-memory.ts";

/** Identifies the firm and environment that own the upload. */
export type UploadHolder = Pick<Principal, "partnerId" | "environment" | "liveEnabled" | "tier">;

/** Memory for the uploads of firms. */
export type UploadPlaces = {
  /**
   * Waits until the memory is free, and resolves with a function that releases it.
   * @throws ServiceError `unavailable` when the firm already has too many uploads of this environment in the queue
   */
  reserve: (holder: UploadHolder, bytes: number) => Promise<() => void>;
};

type Sizes = { total: number; perHolder: number };

export type UploadPlaceSizes = {
  /**
   * The sizes of the two separate memories, in bytes: one for firms with live access, one for firms without. Neither
   * group can use up the other's memory.
   */
  live: Sizes;
  trial: Sizes;
  /** The most uploads that a firm of the tier may have in the queue, in each environment. */
  maxWaitingOf: (tier: string) => number;
};

export function createUploadPlaces({ live, trial, maxWaitingOf }: UploadPlaceSizes): UploadPlaces {
  const ofLive = createUploadMemory(live);
  const ofTrial = createUploadMemory(trial);
  return {
    reserve(holder, bytes) {
      const { liveEnabled, tier } = holder;
      const memory = liveEnabled ? ofLive : ofTrial;
      return memory.reserve(memoryHolder(holder), bytes, maxWaitingOf(tier));
    },
  };
}
