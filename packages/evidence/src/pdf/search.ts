/** Whether `text` (ASCII) stands at `at`. */
export function isTextAt(bytes: Uint8Array, text: string, at: number): boolean {
  if (at < 0) return false;
  for (let index = 0; index < text.length; index++) {
    if (bytes[at + index] !== text.charCodeAt(index)) return false;
  }
  return true;
}

/**
 * Where `text` (ASCII) first begins in `bytes[from, to)`, or -1. Its last character must stand in it once: then no
 * byte is looked at more than twice, whatever the file is made of, and most are skipped.
 */
export function indexOfText(bytes: Uint8Array, text: string, from: number, to: number): number {
  const size = text.length;
  const last = text.charCodeAt(size - 1);
  const steps = new Uint8Array(256).fill(size);
  for (let index = 0; index < size - 1; index++) steps[text.charCodeAt(index)] = size - 1 - index;
  for (let at = from + size - 1; at < to; ) {
    const code = bytes[at] ?? 0;
    if (code === last && isTextAt(bytes, text, at - size + 1)) return at - size + 1;
    at += steps[code] ?? size;
  }
  return -1;
}

/** Where `text` (ASCII) last begins in `bytes[from, to)`, or -1. Its first character must stand in it once. */
export function lastIndexOfText(bytes: Uint8Array, text: string, to: number, from: number): number {
  const size = text.length;
  const first = text.charCodeAt(0);
  const steps = new Uint8Array(256).fill(size);
  for (let index = size - 1; index > 0; index--) steps[text.charCodeAt(index)] = index;
  for (let at = to - size; at >= from; ) {
    const code = bytes[at] ?? 0;
    if (code === first && isTextAt(bytes, text, at)) return at;
    at -= steps[code] ?? size;
  }
  return -1;
}
