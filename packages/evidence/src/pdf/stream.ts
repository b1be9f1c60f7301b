import { EvidenceError } from "../errors.ts";
import { inflate } from "../inflate.ts";
import { type Budget, COST, newBudget, spend } from "./budget.ts";
import { type PdfDictionary, type PdfValue, unambiguous } from "./values.ts";

/** The location of a stream: `length` bytes from `start`. `decrypt` decrypts the data as written. */
export type EncodedStream = {
  readonly bytes: Uint8Array;
  readonly dictionary: PdfDictionary;
  readonly start: number;
  readonly length: number;
  readonly decrypt?: (written: Uint8Array) => Uint8Array;
};

/**
 * The decoded data of a plain or Flate stream, with the PNG predictors (ISO 32000-2 section 7.4.4).
 *
 * @param max limit of the output in bytes
 * @throws EvidenceError `pdf` for broken data, `unsupported` for other filters, `limit` past the limit
 */
export function decodeStream(stream: EncodedStream, max: number, budget: Budget = newBudget()): Uint8Array {
  const { bytes, dictionary, start, length } = stream;
  if (length < 0 || start + length > bytes.length) throw new EvidenceError("pdf", "a stream runs past the file");
  const written = bytes.subarray(start, start + length);
  const data = stream.decrypt?.(written) ?? written;
  const decoded = filtered(data, dictionary, Math.min(max, budget.left), budget);
  spend(budget, decoded.length);
  return decoded;
}

function filtered(data: Uint8Array, dictionary: PdfDictionary, limit: number, budget: Budget): Uint8Array {
  const filters = listOf(dictionary.entries.get("Filter"));
  const [filter] = filters;
  if (filter === undefined) return data;
  if (filters.length > 1 || filter.kind !== "name" || filter.value !== "FlateDecode") {
    throw new EvidenceError("unsupported", "a structural stream with a filter other than FlateDecode");
  }
  spend(budget, COST.compressedByte * data.length);
  const [parameters] = listOf(dictionary.entries.get("DecodeParms"));
  const stated = parameters?.kind === "dictionary" ? unambiguous(parameters, "/DecodeParms") : undefined;
  const number = (key: string, otherwise: number): number => {
    const value = stated?.entries.get(key);
    return value?.kind === "number" && value.integer ? value.value : otherwise;
  };
  const predictor = number("Predictor", 1);
  if (predictor === 1) return inflate(data, limit);
  const bitsPerPixel = number("Colors", 1) * number("BitsPerComponent", 8);
  const columns = number("Columns", 1);
  const rowLength = Math.ceil((bitsPerPixel * columns) / 8);
  if (predictor < 10 || bitsPerPixel < 1 || !(rowLength >= 1 && rowLength <= 65_536)) {
    throw new EvidenceError("unsupported", "a structural stream with an unknown predictor");
  }
  // Each row has one filter byte in addition to the data.
  return undoPng(inflate(data, limit + Math.ceil(limit / rowLength)), rowLength, Math.ceil(bitsPerPixel / 8));
}

function listOf(value: PdfValue | undefined): readonly PdfValue[] {
  if (value === undefined || value.kind === "null") return [];
  return value.kind === "array" ? value.items : [value];
}

/** Undoes the row filters of PNG (W3C PNG section 9). */
function undoPng(filtered: Uint8Array, rowLength: number, pixel: number): Uint8Array {
  const rows = Math.floor(filtered.length / (rowLength + 1));
  const output = new Uint8Array(rows * rowLength);
  for (let row = 0; row < rows; row++) {
    const from = row * (rowLength + 1);
    const to = row * rowLength;
    const filter = filtered[from] ?? 0;
    if (filter > 4) throw new EvidenceError("pdf", "an unknown PNG row filter");
    for (let column = 0; column < rowLength; column++) {
      const left = column >= pixel ? (output[to + column - pixel] ?? 0) : 0;
      const above = row > 0 ? (output[to + column - rowLength] ?? 0) : 0;
      const corner = row > 0 && column >= pixel ? (output[to + column - rowLength - pixel] ?? 0) : 0;
      output[to + column] = (filtered[from + 1 + column] ?? 0) + predicted(filter, left, above, corner);
    }
  }
  return output;
}

function predicted(filter: number, left: number, above: number, corner: number): number {
  if (filter === 0) return 0;
  if (filter === 1) return left;
  if (filter === 2) return above;
  if (filter === 3) return (left + above) >> 1;
  const guess = left + above - corner;
  const [byLeft, byAbove, byCorner] = [Math.abs(guess - left), Math.abs(guess - above), Math.abs(guess - corner)];
  if (byLeft <= byAbove && byLeft <= byCorner) return left;
  return byAbove <= byCorner ? above : corner;
}
