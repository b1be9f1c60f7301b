import { ServiceError } from "../platform/errors.ts";
import { wasTooCostly } from "../platform/workers/task.ts";
import type { SealDocument, Sealed, SealInput } from "./sealer.ts";

/**
 * Seals a document that this service made itself: no caller could do anything about it. Work on it that was killed for what it cost,
 * on a machine that was busy with something else, is tried once more.
 * @throws ServiceError `unavailable` when that is killed, too
 * @throws Error for a document that can't be sealed
 */
export const sealOwnDocument = (seal: SealDocument, input: SealInput): Promise<Sealed> => {
  const own = { ...input, isOwn: true, locks: "document" } as const;
  return seal(own)
    .catch((error: unknown) => {
      if (wasTooCostly(error)) return seal(own);
      throw error;
    })
    .catch((error: unknown) => {
      if (wasTooCostly(error)) {
        throw new ServiceError("unavailable", "The seal can't be made now. Try again later.", { cause: error });
      }
      if (error instanceof ServiceError && error.code === "validation") {
        throw new Error("a document of our own cannot be sealed", { cause: error });
      }
      throw error;
    });
};
