import { setFlagsFromString } from "node:v8";

/**
 * Releases the memory of a large buffer at once and leaves the buffer empty. Otherwise a hundred uploads would trigger
 * collections of the whole heap. The caller must not use the buffer afterwards, and must have finished all writes and
 * digests of it.
 */
export function freeMemory(buffer: ArrayBufferLike): void {
  if (buffer instanceof ArrayBuffer && !buffer.detached) buffer.transfer(0);
}

/**
 * Stops V8 from allocating database rows in the old generation, where their texts stay until the next full collection.
 * V8 starts that after many rows have survived a collection once, and never reverts it (allocation-site pretenuring).
 * It cost a third of the CPU time of a public verification (`npm run bench closing`). Applies to the whole process.
 */
export const keepRowsYoung = (): void => setFlagsFromString("--no-allocation-site-pretenuring");
