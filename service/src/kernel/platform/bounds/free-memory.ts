/**
 * Gives the memory of a large buffer back at once, and leaves it empty. Left to the garbage collector, the bytes of a hundred
 * uploads make it walk the whole heap. Nothing may read the buffer any more, no write or digest on its way either.
 */
export function freeMemory(buffer: ArrayBufferLike): void {
  if (buffer instanceof ArrayBuffer && !buffer.detached) buffer.transfer(0);
}
