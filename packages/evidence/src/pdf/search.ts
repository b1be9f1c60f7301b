/** Where `text` (ASCII) first begins in `bytes[from, to)`, or -1. */
export function indexOfText(bytes: Uint8Array, text: string, from: number, to: number): number {
  const first = text.charCodeAt(0);
  const last = to - text.length;
  for (let at = bytes.indexOf(first, from); at >= 0 && at <= last; at = bytes.indexOf(first, at + 1)) {
    if (matches(bytes, text, at)) return at;
  }
  return -1;
}

/** Where `text` (ASCII) last begins in `bytes[from, to)`, or -1. */
export function lastIndexOfText(bytes: Uint8Array, text: string, to: number, from: number): number {
  const first = text.charCodeAt(0);
  if (to - text.length < from) return -1;
  for (let at = bytes.lastIndexOf(first, to - text.length); at >= from; at = bytes.lastIndexOf(first, at - 1)) {
    if (matches(bytes, text, at)) return at;
    if (at === 0) break;
  }
  return -1;
}

function matches(bytes: Uint8Array, text: string, at: number): boolean {
  for (let index = 1; index < text.length; index++) {
    if (bytes[at + index] !== text.charCodeAt(index)) return false;
  }
  return true;
}
