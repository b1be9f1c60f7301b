/**
 * Releases the memory of a large buffer at once and leaves the buffer empty. Otherwise a hundred uploads would make the
 * garbage collector walk the whole heap. The caller must not use the buffer afterwards. All writes and digests of the
 * buffer must have ended.
 */
export function freeMemory(buffer: ArrayBufferLike): void {
  if (buffer instanceof ArrayBuffer && !buffer.detached) buffer.transfer(0);
}
