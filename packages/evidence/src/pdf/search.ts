/** Whether `text` (ASCII) stands at `at`. */
export function isTextAt(bytes: Uint8Array, text: string, at: number): boolean {
  if (at < 0) return false;
  for (let index = 0; index < text.length; index++) {
    if (bytes[at + index] !== text.charCodeAt(index)) return false;
  }
  return true;
}

/**
 * Where `text` (ASCII) first begins in `bytes[from, to)`, or -1.
 *
 * Most bytes are skipped: only one character of the text is looked for, the last of those that stand in it once. After
 * a place where it stands the search moves past it, so no byte is looked at more than `text.length` times, whatever the
 * file is made of.
 *
 * @throws RangeError when no character of the text stands in it once
 */
export function indexOfText(bytes: Uint8Array, text: string, from: number, to: number): number {
  return searchFor(text)(bytes, from, to);
}

type Search = (bytes: Uint8Array, from: number, to: number) => number;

type NodeBuffer = { prototype: { indexOf: (this: Uint8Array, text: string, from: number, as: "latin1") => number } };
const native = (globalThis as { Buffer?: NodeBuffer }).Buffer?.prototype.indexOf;
// A call of Node's search costs as much as so many bytes here.
const NEAR = 256;

/**
 * `indexOfText` for a text that is looked for in all of a file: Node's own search, where there is one, looks at many
 * bytes at once. @throws RangeError as that
 */
export function searchWholeFile(text: string): Search {
  const search = searchFor(text);
  if (!native) return search;
  // For more than six characters Node steps as we do. A first character that is rare in PDF is the fastest.
  const offset = text.length > 6 ? 1 : 0;
  const piece = text.slice(offset, offset + 6);
  return (bytes, from, to) => {
    for (let at = from; ; ) {
      const near = Math.min(to, at + NEAR);
      const found = search(bytes, at, near);
      if (found >= 0 || near === to) return found;
      const inside = to === bytes.length ? bytes : bytes.subarray(0, to);
      const next = native.call(inside, piece, near - text.length + 1 + offset, "latin1");
      if (next < 0) return -1;
      at = next - offset;
    }
  };
}

/** `indexOfText` for a text that is looked for often. @throws RangeError as that */
export function searchFor(text: string): Search {
  const pivot = pivotOf(text, (index) => text.length - 1 - index);
  const steps = new Uint8Array(256).fill(pivot + 1);
  for (let index = 0; index < pivot; index++) steps[text.charCodeAt(index)] = pivot - index;
  const sought = text.charCodeAt(pivot);
  return (bytes, from, to) => {
    const end = to - text.length + pivot;
    for (let at = from + pivot; at <= end; ) {
      const code = bytes[at] ?? 0;
      if (code === sought && isTextAt(bytes, text, at - pivot)) return at - pivot;
      at += steps[code] ?? 1;
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
