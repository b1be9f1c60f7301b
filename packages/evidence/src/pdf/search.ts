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
  return searchFor(text)(bytes, from, to);
}

/** The same for a text that is looked for often. */
export function searchFor(text: string): (bytes: Uint8Array, from: number, to: number) => number {
  const size = text.length;
  const last = text.charCodeAt(size - 1);
  const steps = new Uint8Array(256).fill(size);
  for (let index = 0; index < size - 1; index++) steps[text.charCodeAt(index)] = size - 1 - index;
  return (bytes, from, to) => {
    for (let at = from + size - 1; at < to; ) {
      const code = bytes[at] ?? 0;
      if (code === last && isTextAt(bytes, text, at - size + 1)) return at - size + 1;
      at += steps[code] ?? size;
    }
    return -1;
  };
}

/** Where `text` (ASCII) last begins in `bytes[from, to)`, or -1: `indexOfText` from the other end. */
export function lastIndexOfText(bytes: Uint8Array, text: string, to: number, from: number): number {
  const pivot = pivotOf(text, (index) => index);
  const tail = text.length - pivot;
  const steps = new Uint8Array(256).fill(tail);
  for (let index = text.length - 1; index > pivot; index--) steps[text.charCodeAt(index)] = index - pivot;
  const sought = text.charCodeAt(pivot);
  for (let at = to - tail; at >= from + pivot; ) {
    const code = bytes[at] ?? 0;
    if (code === sought && isTextAt(bytes, text, at - pivot)) return at - pivot;
    at -= steps[code] ?? 1;
  }
  return -1;
}

/** The first index, in the order given, whose character stands in the text once. */
function pivotOf(text: string, nth: (index: number) => number): number {
  for (let index = 0; index < text.length; index++) {
    const code = text.charAt(nth(index));
    if (text.indexOf(code) === text.lastIndexOf(code)) return nth(index);
  }
  throw new RangeError(`every character of "${text}" stands in it twice`);
}
