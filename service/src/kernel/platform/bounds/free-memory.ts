import { setFlagsFromString } from "node:v8";

/**
 * Releases the memory of a large buffer at once and leaves the buffer empty. Otherwise a hundred uploads would make the
 * garbage collector walk the whole heap. The caller must not use the buffer afterwards. All writes and digests of the
 * buffer must have ended.
 */
export function freeMemory(buffer: ArrayBufferLike): void {
  if (buffer instanceof ArrayBuffer && !buffer.detached) buffer.transfer(0);
}

/**
 * Keeps V8 from allocating database rows in the old generation, where their texts stay until the next full collection.
 * V8 begins to do so when many rows outlive a collection once, and never ends it (allocation-site pretenuring). It took
 * a third of the CPU time of a public verification (`npm run bench closing`). Applies to the whole process.
 */
export const keepRowsYoung = (): void => setFlagsFromString("--no-allocation-site-pretenuring");
