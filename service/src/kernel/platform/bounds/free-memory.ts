import { setFlagsFromString } from "node:v8";

/**
 * Releases the memory of a large buffer at once and leaves the buffer empty. Otherwise a hundred uploads would trigger
 * garbage collections of the whole heap. The caller must have finished all writes and digests of the buffer.
 */
export function freeMemory(buffer: ArrayBufferLike): void {
  if (buffer instanceof ArrayBuffer && !buffer.detached) buffer.transfer(0);
}

/**
 * Turns off an optimization of V8 (allocation-site pretenuring) for the whole process. Once many database rows survive
 * a garbage collection, V8 allocates all rows in the old generation and never reverts that. Their texts then stay until
 * the next full collection. That took a third of the CPU time of a public verification (`npm run bench closing`).
 */
export const keepRowsYoung = (): void => setFlagsFromString("--no-allocation-site-pretenuring");
