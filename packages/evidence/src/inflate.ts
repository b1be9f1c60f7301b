import { EvidenceError, type EvidenceErrorCode } from "./errors.ts";

const LENGTH_BASE = [
  3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258,
];
const LENGTH_EXTRA = [0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0];
const DISTANCE_BASE = [
  1, 2, 3, 4, 5, 7, 9, 13, 17, 25, 33, 49, 65, 97, 129, 193, 257, 385, 513, 769, 1025, 1537, 2049, 3073, 4097, 6145,
  8193, 12289, 16385, 24577,
];
const CODE_LENGTH_ORDER = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];

/** Canonical Huffman code: how many codes of each length, and the symbols in code order (RFC 1951 section 3.2.2). */
type Huffman = { readonly counts: Uint16Array; readonly symbols: Uint16Array };

type State = {
  readonly input: Uint8Array;
  position: number;
  bits: number;
  bitCount: number;
  output: Uint8Array;
  length: number;
  readonly limit: number;
  /** The error code for malformed data. It tells which format contains the compressed data. */
  readonly code: EvidenceErrorCode;
};

function broken({ code }: State, what: string): EvidenceError {
  return new EvidenceError(code, `compressed stream: ${what}`);
}

function readBits(state: State, count: number): number {
  while (state.bitCount < count) {
    const byte = state.input[state.position++];
    if (byte === undefined) throw broken(state, "ends too early");
    state.bits |= byte << state.bitCount;
    state.bitCount += 8;
  }
  const value = state.bits & ((1 << count) - 1);
  state.bits >>>= count;
  state.bitCount -= count;
  return value;
}

function buildHuffman(state: State, lengths: Uint8Array): Huffman {
  const counts = new Uint16Array(16);
  for (const length of lengths) counts[length] = (counts[length] ?? 0) + 1;
  counts[0] = 0;
  const offsets = new Uint16Array(17);
  let left = 1;
  for (let length = 1; length < 16; length++) {
    left = left * 2 - (counts[length] ?? 0);
    if (left < 0) throw broken(state, "over-subscribed code");
    offsets[length + 1] = (offsets[length] ?? 0) + (counts[length] ?? 0);
  }
  const symbols = new Uint16Array(lengths.length);
  lengths.forEach((length, symbol) => {
    if (length === 0) return;
    const at = offsets[length] ?? 0;
    symbols[at] = symbol;
    offsets[length] = at + 1;
  });
  return { counts, symbols };
}

function readSymbol(state: State, { counts, symbols }: Huffman): number {
  let code = 0;
  let first = 0;
  let index = 0;
  for (let length = 1; length < 16; length++) {
    code |= readBits(state, 1);
    const count = counts[length] ?? 0;
    if (code - count < first) return symbols[index + (code - first)] ?? 0;
    index += count;
    first = (first + count) << 1;
    code <<= 1;
  }
  throw broken(state, "unknown code");
}

function reserve(state: State, more: number): void {
  const needed = state.length + more;
  if (needed > state.limit) throw new EvidenceError("limit", "a compressed stream grows past its bound");
  if (needed <= state.output.length) return;
  const grown = new Uint8Array(Math.min(state.limit, Math.max(needed, state.output.length * 2)));
  grown.set(state.output.subarray(0, state.length));
  state.output = grown;
}

function copyStored(state: State): void {
  state.bits = 0;
  state.bitCount = 0;
  const length = readBits(state, 16);
  if ((readBits(state, 16) ^ 0xffff) !== length) throw broken(state, "stored block with a wrong length");
  if (state.position + length > state.input.length) throw broken(state, "ends too early");
  reserve(state, length);
  state.output.set(state.input.subarray(state.position, state.position + length), state.length);
  state.position += length;
  state.length += length;
}

function readCodes(state: State): [Huffman, Huffman] {
  const literalCount = readBits(state, 5) + 257;
  const distanceCount = readBits(state, 5) + 1;
  const orderCount = readBits(state, 4) + 4;
  const orderLengths = new Uint8Array(19);
  for (const symbol of CODE_LENGTH_ORDER.slice(0, orderCount)) orderLengths[symbol] = readBits(state, 3);
  const order = buildHuffman(state, orderLengths);
  const lengths = new Uint8Array(literalCount + distanceCount);
  for (let index = 0; index < lengths.length; ) {
    const symbol = readSymbol(state, order);
    if (symbol < 16) {
      lengths[index++] = symbol;
      continue;
    }
    if (symbol === 16 && index === 0) throw broken(state, "repeats nothing");
    const value = symbol === 16 ? (lengths[index - 1] ?? 0) : 0;
    const repeat =
      symbol === 16 ? 3 + readBits(state, 2) : symbol === 17 ? 3 + readBits(state, 3) : 11 + readBits(state, 7);
    if (index + repeat > lengths.length) throw broken(state, "too many code lengths");
    lengths.fill(value, index, index + repeat);
    index += repeat;
  }
  return [buildHuffman(state, lengths.subarray(0, literalCount)), buildHuffman(state, lengths.subarray(literalCount))];
}

function fixedCodes(state: State): [Huffman, Huffman] {
  const lengths = new Uint8Array(288).fill(8, 0, 144).fill(9, 144, 256).fill(7, 256, 280).fill(8, 280);
  return [buildHuffman(state, lengths), buildHuffman(state, new Uint8Array(30).fill(5))];
}

function copyCompressed(state: State, [literals, distances]: [Huffman, Huffman]): void {
  for (;;) {
    const symbol = readSymbol(state, literals);
    if (symbol === 256) return;
    if (symbol < 256) {
      reserve(state, 1);
      state.output[state.length++] = symbol;
      continue;
    }
    const base = LENGTH_BASE[symbol - 257];
    if (base === undefined) throw broken(state, "unknown length");
    const length = base + readBits(state, LENGTH_EXTRA[symbol - 257] ?? 0);
    const distanceSymbol = readSymbol(state, distances);
    const distanceBase = DISTANCE_BASE[distanceSymbol];
    if (distanceBase === undefined) throw broken(state, "unknown distance");
    const distance = distanceBase + readBits(state, distanceSymbol < 2 ? 0 : (distanceSymbol >> 1) - 1);
    if (distance > state.length) throw broken(state, "points before its start");
    reserve(state, length);
    for (let step = 0; step < length; step++) {
      state.output[state.length] = state.output[state.length - distance] ?? 0;
      state.length++;
    }
  }
}

/**
 * Decompresses zlib data (RFC 1950, RFC 1951); bytes after its end are ignored.
 *
 * @param input compressed bytes
 * @param limit limit of the output in bytes
 * @throws EvidenceError `pdf` when the data is malformed, `limit` when it grows past `limit`
 */
export function inflate(input: Uint8Array, limit: number): Uint8Array {
  const [first = 0, second = 0] = input;
  const state = stateOf(input, limit, "pdf");
  if ((first & 0x0f) !== 8 || (first * 256 + second) % 31 !== 0 || (second & 0x20) !== 0)
    throw broken(state, "no zlib header");
  state.position = 2;
  return decompressed(state);
}

/**
 * Decompresses deflated data (RFC 1951) that fills the input to its end.
 *
 * @param limit limit of the output in bytes
 * @throws EvidenceError `code` when the data is malformed or ends early, `limit` when it grows past `limit`
 */
export function inflateRaw(input: Uint8Array, limit: number, code: EvidenceErrorCode): Uint8Array {
  const state = stateOf(input, limit, code);
  const output = decompressed(state);
  if (state.position !== input.length) throw broken(state, "bytes after its end");
  return output;
}

function stateOf(input: Uint8Array, limit: number, code: EvidenceErrorCode): State {
  const output = new Uint8Array(Math.min(limit, Math.max(1024, input.length * 4)));
  return { input, position: 0, bits: 0, bitCount: 0, output, length: 0, limit, code };
}

function decompressed(state: State): Uint8Array {
  for (let last = false; !last; ) {
    last = readBits(state, 1) === 1;
    const type = readBits(state, 2);
    if (type === 0) copyStored(state);
    else if (type === 1) copyCompressed(state, fixedCodes(state));
    else if (type === 2) copyCompressed(state, readCodes(state));
    else throw broken(state, "unknown block type");
  }
  return state.output.subarray(0, state.length);
}
