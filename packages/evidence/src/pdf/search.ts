/** True if the ASCII text begins at position `at`. */
export function isTextAt(bytes: Uint8Array, text: string, at: number): boolean {
  if (at < 0) return false;
  for (let index = 0; index < text.length; index++) {
    if (bytes[at + index] !== text.charCodeAt(index)) return false;
  }
  return true;
}

/**
 * Offset of the first `text` (ASCII) in `bytes[from, to)`, or -1.
 *
 * Looks for one character of the text: the last that occurs in it exactly once. This lets the search skip most bytes.
 * After each occurrence of that character, the search continues behind it. So no byte is examined more than
 * `text.length` times, whatever the file contains.
 *
 * @throws RangeError when no character occurs in the text exactly once
 */
export function indexOfText(bytes: Uint8Array, text: string, from: number, to: number): number {
  return searchFor(text)(bytes, from, to);
}

type Search = (bytes: Uint8Array, from: number, to: number) => number;

type NodeBuffer = { prototype: { indexOf: (this: Uint8Array, text: string, from: number, as: "latin1") => number } };
const native = (globalThis as { Buffer?: NodeBuffer }).Buffer?.prototype.indexOf;
// The number of bytes that the loop below scans in the time of one call of Node's search.
const NEAR = 256;

/**
 * Like `indexOfText`, for searches through a whole file. Uses Node's own search where available, which compares many
 * bytes at once.
 * @throws RangeError as `indexOfText`
 */
export function searchWholeFile(text: string): Search {
  const search = searchFor(text);
  if (!native) return search;
  // Node compares many bytes at once with the first character of a short text. With more than six characters, it skips
  // bytes instead, as `indexOfText` does, and is slower. So Node gets only six characters of a longer text. The text's
  // first character is left out, because it may be frequent in PDF (such as `/`).
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

/**
 * Prepares `indexOfText` for repeated searches for the same text.
 * @throws RangeError as `indexOfText`
 */
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

/** Offset of the last `text` (ASCII) in `bytes[from, to)`, or -1: `indexOfText` from the other end. */
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

/**
 * Chooses the character to search for. Tries the indexes in the given order, and returns the first whose character
 * occurs exactly once in the text.
 * @throws RangeError if there is none
 */
function pivotOf(text: string, nth: (index: number) => number): number {
  for (let index = 0; index < text.length; index++) {
    const code = text.charAt(nth(index));
    if (text.indexOf(code) === text.lastIndexOf(code)) return nth(index);
  }
  throw new RangeError(`no character occurs in "${text}" exactly once`);
}
