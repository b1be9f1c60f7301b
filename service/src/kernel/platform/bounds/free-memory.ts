/**
 * Releases the memory of a large buffer at once and leaves it empty. If the garbage collector did it, a hundred uploads
 * would make it walk the whole heap. Nothing may use the buffer afterwards, and no write or digest of it may be
 * pending.
 */
export function freeMemory(buffer: ArrayBufferLike): void {
  if (buffer instanceof ArrayBuffer && !buffer.detached) buffer.transfer(0);
}
