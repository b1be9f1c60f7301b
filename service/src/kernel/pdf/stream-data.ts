import { inflateSync } from "node:zlib";
import { hasWord, type Span, skipSpace } from "./lexer.ts";
import { type Budget, LIMITS } from "./limits.ts";
import { PdfRefusal } from "./refusal.ts";
import { asInteger, asName, type Dict, elements, entry, isArray, isDict, readDict } from "./values.ts";

/** Returns the object that a reference names, or undefined if there is none. Returns any other value unchanged. */
export type Resolve = (span: Span | undefined) => Span | undefined;

/**
 * The decoded data of the stream with this dictionary: FlateDecode with or without a PNG predictor, or no filter.
 * @param decrypt decrypts the stream's data; returns null for data that the cipher can't have produced
 * @throws PdfRefusal `needs_repair` for a wrong Length or damaged data, `encrypted` for data that can't be decrypted,
 * `too_complex` for other filters and for decompression bombs
 */
export function streamData(
  dict: Dict,
  resolve: Resolve,
  budget: Budget,
  decrypt?: (raw: Buffer) => Buffer | null,
): Buffer {
  const written = rawData(dict, resolve);
  const raw = decrypt ? decrypted(dict, written, budget, decrypt) : written;
  const filters = list(entry(dict, "Filter"), resolve).map((span) => asName(span));
  if (filters.length === 0) return raw;
  if (filters.length > 1 || filters[0] !== "FlateDecode") {
    throw new PdfRefusal("too_complex", `the stream at ${dict.start} has the filter ${filters.join(" ")}`);
  }
  const inflated = inflate(dict, raw, budget);
  const [parameters] = list(entry(dict, "DecodeParms"), resolve);
  return parameters && isDict(parameters)
    ? unpredict(inflated, readDict(parameters.bytes, parameters.start))
    : inflated;
}

function rawData(dict: Dict, resolve: Resolve): Buffer {
  const { bytes } = dict;
  const length = asInteger(resolve(entry(dict, "Length")));
  const keyword = skipSpace(bytes, dict.end);
  if (length === undefined || !hasWord(bytes, keyword, "stream")) {
    throw new PdfRefusal("needs_repair", `no stream with a length at ${dict.start}`);
  }
  let start = keyword + 6;
  if (bytes[start] === 13) start++;
  if (bytes[start] === 10) start++;
  if (!hasWord(bytes, skipSpace(bytes, start + length), "endstream")) {
    throw new PdfRefusal("needs_repair", `the stream at ${dict.start} does not end where its Length says`);
  }
  return bytes.subarray(start, start + length);
}

function decrypted(dict: Dict, data: Buffer, budget: Budget, decrypt: (raw: Buffer) => Buffer | null): Buffer {
  budget.inflatedBytes -= data.length;
  if (budget.inflatedBytes < 0) throw new PdfRefusal("too_complex", "streams that take too much to decrypt");
  const clear = decrypt(data);
  if (!clear) throw new PdfRefusal("encrypted", `the stream at ${dict.start} can't be decrypted`);
  return clear;
}

function list(span: Span | undefined, resolve: Resolve): Span[] {
  const value = resolve(span);
  if (!value) return [];
  if (!isArray(value)) return [value];
  const found: Span[] = [];
  for (const element of elements(value)) {
    if (found.length === 8) throw new PdfRefusal("too_complex", "a stream with more than eight filters");
    const resolved = resolve(element);
    if (resolved) found.push(resolved);
  }
  return found;
}

function inflate(dict: Dict, raw: Buffer, budget: Budget): Buffer {
  try {
    const inflated = inflateSync(raw, { maxOutputLength: Math.max(1, budget.inflatedBytes) });
    budget.inflatedBytes -= inflated.length;
    return inflated;
  } catch (error) {
    if (error instanceof RangeError) {
      throw new PdfRefusal(
        "too_complex",
        `with the one at ${dict.start}, streams inflate to more than ${LIMITS.inflatedBytes} bytes`,
      );
    }
    throw new PdfRefusal("needs_repair", `the compressed stream at ${dict.start} is damaged`);
  }
}

/** Reverses a PNG predictor (RFC 2083 section 6) in place, as ISO 32000-1 7.4.4.4 uses it. */
function unpredict(data: Buffer, parameters: Dict): Buffer {
  const predictor = asInteger(entry(parameters, "Predictor")) ?? 1;
  if (predictor === 1) return data;
  const columns = asInteger(entry(parameters, "Columns")) ?? 1;
  const colors = asInteger(entry(parameters, "Colors")) ?? 1;
  const bits = asInteger(entry(parameters, "BitsPerComponent")) ?? 8;
  if (predictor < 10 || colors !== 1 || bits !== 8 || columns < 1 || columns > 4096) {
    throw new PdfRefusal("too_complex", `predictor ${predictor} with ${columns} columns, ${colors} colors`);
  }
  const rows = Math.floor(data.length / (columns + 1));
  for (let row = 0; row < rows; row++) {
    if ((data[row * (columns + 1)] ?? 0) > 4) {
      throw new PdfRefusal(
        "needs_repair",
        `the stream with the parameters at ${parameters.start} has an odd row ${row}`,
      );
    }
    unpredictRow(data, row, columns);
  }
  return data.subarray(0, rows * columns);
}

function unpredictRow(data: Buffer, row: number, columns: number): void {
  const from = row * (columns + 1);
  const to = row * columns;
  const kind = data[from] ?? 0;
  for (let i = 0; i < columns; i++) {
    const left = i > 0 ? (data[to + i - 1] ?? 0) : 0;
    const up = row > 0 ? (data[to - columns + i] ?? 0) : 0;
    const upLeft = row > 0 && i > 0 ? (data[to - columns + i - 1] ?? 0) : 0;
    data[to + i] = (data[from + 1 + i] ?? 0) + predicted(kind, left, up, upLeft);
  }
}

function predicted(kind: number, left: number, up: number, upLeft: number): number {
  if (kind === 0) return 0;
  if (kind === 1) return left;
  if (kind === 2) return up;
  if (kind === 3) return (left + up) >> 1;
  const estimate = left + up - upLeft;
  const [a, b, c] = [Math.abs(estimate - left), Math.abs(estimate - up), Math.abs(estimate - upLeft)];
  return a <= b && a <= c ? left : b <= c ? up : upLeft;
}
