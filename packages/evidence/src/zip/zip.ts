import { EvidenceError } from "../errors.ts";
import { inflateRaw } from "../inflate.ts";
import { crc32 } from "./crc32.ts";
import { broken, nameAt, readDirectory, type ZipEntry, type ZipFile } from "./directory.ts";

export { zipLimits } from "./directory.ts";

/**
 * The files of a zip (APPNOTE 6.3.10), stored or deflated, by their names. Nothing is written anywhere. What readers
 * could disagree on is refused: two files of one name, bytes before, between or after the entries, sizes that differ.
 *
 * @throws EvidenceError `zip` for broken, ambiguous or unsupported files (zip64, encryption, other methods), `limit`
 */
export function readZip(bytes: Uint8Array): ReadonlyMap<string, Uint8Array> {
  const file = { bytes, view: new DataView(bytes.buffer, bytes.byteOffset, bytes.length) };
  const directory = readDirectory(file);
  const files = new Map<string, Uint8Array>();
  let next = 0;
  for (const entry of [...directory.entries].sort((a, b) => a.offset - b.offset)) {
    if (entry.offset !== next) throw broken("bytes that belong to no file");
    const { data, end } = readEntry(file, entry);
    next = end;
    if (entry.name.endsWith("/") && entry.size === 0) continue;
    if (files.has(entry.name)) throw broken("two files of one name");
    files.set(entry.name, data);
  }
  if (next !== directory.offset) throw broken("bytes that belong to no file");
  return files;
}

function readEntry(file: ZipFile, entry: ZipEntry): { data: Uint8Array; end: number } {
  const { bytes, view } = file;
  const { offset, flags, compressed, size } = entry;
  if ((flags & 0x2041) !== 0) throw broken("an encrypted file");
  if (offset + 30 > bytes.length || view.getUint32(offset, true) !== 0x04034b50)
    throw broken("a file that is not there");
  const nameLength = view.getUint16(offset + 26, true);
  const start = offset + 30 + nameLength + view.getUint16(offset + 28, true);
  if (nameAt(file, offset + 30, nameLength) !== entry.name) throw broken("a file of two names");
  if (view.getUint16(offset + 8, true) !== entry.method) throw broken("a file of two methods");
  if (start + compressed > bytes.length) throw broken("a file that runs past the end");
  const data = contentOf(bytes.subarray(start, start + compressed), entry);
  if (data.length !== size || crc32(data) !== entry.crc) throw broken("a file that is not what the directory says");
  return { data, end: start + compressed + descriptorLength(file, start + compressed, flags) };
}

function contentOf(data: Uint8Array, { method, size }: ZipEntry): Uint8Array {
  if (method === 0) return data;
  if (method !== 8) throw broken(`compression method ${method}`);
  try {
    return inflateRaw(data, size, "zip");
  } catch (error) {
    if (!(error instanceof EvidenceError)) throw error;
    throw broken("a file that cannot be decompressed to the stated size");
  }
}

/** Section 4.3.9: sizes and checksum again, after the data, when bit 3 is set. */
function descriptorLength({ bytes, view }: ZipFile, at: number, flags: number): number {
  if ((flags & 0x08) === 0) return 0;
  return at + 4 <= bytes.length && view.getUint32(at, true) === 0x08074b50 ? 16 : 12;
}
