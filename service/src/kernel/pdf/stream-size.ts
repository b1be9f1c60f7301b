import { constants, inflateRawSync, inflateSync } from "node:zlib";

/**
 * The decoded data of a stream. `data` is null when only an upper bound on the length is known.
 *
 * The length is Infinity for data above the limit, for more than eight filters, and for image filters, which content
 * streams never use.
 */
export type Decoded = { readonly data: Buffer | null; readonly length: number };

/** The highest compression ratio of RFC 1951: 258 bytes from two bits. */
const maxDeflateRatio = 1032;
/** The highest compression ratio of RunLengthDecode (ISO 32000-2, section 7.4.5): 128 bytes from two bytes. */
const maxRunRatio = 64;
/**
 * The longest data in ASCII85 that are decoded. For longer data, only an upper bound on the length is computed. Real
 * content streams of this length are compressed instead.
 */
const maxAscii = 4 * 1024 * 1024;
const tooLong: Decoded = { data: null, length: Number.POSITIVE_INFINITY };

const flate = new Set(["Fl", "FlateDecode"]);
const lzw = new Set(["LZW", "LZWDecode"]);
const runs = new Set(["RL", "RunLengthDecode"]);
const ascii85 = new Set(["A85", "ASCII85Decode"]);
const asciiHex = new Set(["AHx", "ASCIIHexDecode"]);
const ofPictures = /^(?:DCT|JPX|CCF|CCITTFax|JBIG2|Brotli)/;

/** Decodes a stream: undoes its filters one after the other. @param max the longest result in bytes */
export function decodedBy(filters: readonly string[], raw: Buffer, max: number): Decoded {
  if (filters.length > 8) return tooLong;
  let decoded: Decoded = { data: raw, length: raw.length };
  for (const name of filters) {
    decoded = ofPictures.test(name) ? tooLong : undone(name, decoded, max);
    if (decoded.length > max) return tooLong;
  }
  return decoded;
}

function undone(name: string, { data, length }: Decoded, max: number): Decoded {
  if (flate.has(name)) return data ? inflated(data, max) : { data: null, length: length * maxDeflateRatio };
  if (runs.has(name)) return { data: null, length: length * maxRunRatio };
  if (lzw.has(name)) return { data: null, length: data ? longestOfLzw(data) : length * 4096 };
  if (ascii85.has(name))
    return data && length < maxAscii ? plain(fromAscii85(data)) : { data: null, length: length * 4 };
  if (asciiHex.has(name)) return data ? plain(fromHex(data)) : { data, length };
  // At an unsupported filter, readers stop. So the result is the data as decoded so far.
  return { data, length };
}

const plain = (data: Buffer): Decoded => ({ data, length: data.length });

/**
 * Inflates data. Readers use as much of damaged data as they can inflate, so for damaged data only a bound on the
 * length is returned.
 */
function inflated(data: Buffer, max: number): Decoded {
  const options = { maxOutputLength: Math.max(max, 1), finishFlush: constants.Z_SYNC_FLUSH };
  for (const inflate of [() => inflateSync(data, options), () => inflateRawSync(data.subarray(2), options)]) {
    try {
      return plain(inflate());
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ERR_BUFFER_TOO_LARGE") return tooLong;
    }
  }
  return { data: null, length: data.length * maxDeflateRatio };
}

const longestOfLzw = (data: Buffer): number => Math.max(lengthOfLzw(data, 0), lengthOfLzw(data, 1));

/**
 * The number of bytes that LZW data decode to.
 * @param early EarlyChange: 1 if codes get wider one code earlier than the table requires, otherwise 0
 */
function lengthOfLzw(data: Buffer, early: 0 | 1): number {
  const lengths = new Uint16Array(4097).fill(1, 0, 256);
  let [total, next, width, before, buffer, bits] = [0, 258, 9, 0, 0, 0];
  for (const byte of data) {
    buffer = ((buffer << 8) | byte) & 0xffffff;
    bits += 8;
    if (bits < width) continue;
    bits -= width;
    const code = (buffer >> bits) & ((1 << width) - 1);
    if (code === 257) break;
    if (code === 256) [next, width, before] = [258, 9, 0];
    else {
      const length = code < next ? (lengths[code] ?? 1) : before + 1;
      total += length;
      if (before > 0 && next < 4096) lengths[next++] = before + 1;
      before = length;
      width = Math.min(12, Math.max(9, 32 - Math.clz32(next + early)));
    }
  }
  return total;
}

function fromAscii85(data: Buffer): Buffer {
  const out = Buffer.alloc(data.length * 4 + 4);
  let [value, count, at] = [0, 0, 0];
  const write = (bytes: number) => {
    for (let byte = 0; byte < bytes; byte++) out[at++] = Math.floor(value / 2 ** (24 - 8 * byte)) & 255;
    [value, count] = [0, 0];
  };
  for (const byte of data) {
    if (byte === 0x7e) break;
    if (byte === 0x7a && count === 0) write(4);
    if (byte < 0x21 || byte > 0x75) continue;
    value = value * 85 + byte - 0x21;
    if (++count === 5) write(4);
  }
  const last = count;
  for (let missing = last; missing > 0 && missing < 5; missing++) value = value * 85 + 84;
  if (last > 1) write(last - 1);
  return out.subarray(0, at);
}

const fromHex = (data: Buffer): Buffer => {
  const end = data.indexOf(">");
  const digits = data.toString("latin1", 0, end < 0 ? data.length : end).replace(/[^\da-f]/gi, "");
  return Buffer.from(digits.length % 2 ? `${digits}0` : digits, "hex");
};
