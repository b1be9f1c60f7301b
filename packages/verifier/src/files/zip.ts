import { crc32, inflateRawSync } from "node:zlib";
import { EvidenceError } from "@signsealship/evidence/errors";

/** Bounds of what is read of a zip; the service's own hold six files. */
export const zipLimits = { entries: 64, entryBytes: 256 * 1024 * 1024, totalBytes: 384 * 1024 * 1024 } as const;

const END_LENGTH = 22;
const MAX_COMMENT = 0xffff;
const ZIP64_16 = 0xffff;
const ZIP64_32 = 0xffffffff;

type Entry = {
  readonly name: string;
  readonly flags: number;
  readonly method: number;
  readonly crc: number;
  readonly compressed: number;
  readonly size: number;
  readonly offset: number;
};

/**
 * The files of a zip (APPNOTE 6.3.10), stored or deflated, by their names. Nothing is written anywhere. What readers
 * could disagree on is refused: two files of one name, bytes before, between or after the entries, sizes that differ.
 *
 * @throws EvidenceError `zip` for broken, ambiguous or unsupported files (zip64, encryption, other methods), `limit`
 */
export function readZip(bytes: Uint8Array): ReadonlyMap<string, Uint8Array> {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  const entries = readDirectory(file);
  const files = new Map<string, Uint8Array>();
  let total = 0;
  for (const entry of entries) {
    total += entry.size;
    if (entry.size > zipLimits.entryBytes || total > zipLimits.totalBytes) {
      throw new EvidenceError("limit", "the files of the zip are too large");
    }
  }
  let next = 0;
  for (const entry of entries.toSorted((a, b) => a.offset - b.offset)) {
    if (entry.offset !== next) throw broken("bytes that belong to no file");
    const { data, end } = readEntry(file, entry);
    next = end;
    if (entry.name.endsWith("/") && entry.size === 0) continue;
    if (files.has(entry.name)) throw broken("two files of one name");
    files.set(entry.name, data);
  }
  if (next !== directoryOf(file).offset) throw broken("bytes that belong to no file");
  return files;
}

function directoryOf(file: Buffer) {
  const at = file.lastIndexOf("PK\x05\x06", undefined, "latin1");
  if (at < 0 || at < file.length - END_LENGTH - MAX_COMMENT || at + END_LENGTH > file.length) {
    throw broken("no end of the directory");
  }
  if (at + END_LENGTH + file.readUInt16LE(at + 20) !== file.length) throw broken("bytes after its end");
  const [disk, firstDisk, here, count] = [4, 6, 8, 10].map((field) => file.readUInt16LE(at + field));
  const size = file.readUInt32LE(at + 12);
  const offset = file.readUInt32LE(at + 16);
  if (count === ZIP64_16 || size === ZIP64_32 || offset === ZIP64_32) throw broken("zip64 is not read");
  if (disk !== 0 || firstDisk !== 0 || here !== count || count === undefined) throw broken("several parts");
  if (offset + size !== at) throw broken("a directory that is not where it is said to be");
  if (count > zipLimits.entries) throw new EvidenceError("limit", `more than ${zipLimits.entries} files`);
  return { count, offset, end: at };
}

function readDirectory(file: Buffer): Entry[] {
  const { count, offset, end } = directoryOf(file);
  const entries: Entry[] = [];
  let at = offset;
  for (let index = 0; index < count; index++) {
    if (at + 46 > end || file.readUInt32LE(at) !== 0x02014b50) throw broken("a broken directory");
    const [nameLength = 0, extraLength = 0, commentLength = 0] = [28, 30, 32].map((f) => file.readUInt16LE(at + f));
    const next = at + 46 + nameLength + extraLength + commentLength;
    if (next > end) throw broken("a broken directory");
    entries.push({
      flags: file.readUInt16LE(at + 8),
      method: file.readUInt16LE(at + 10),
      crc: file.readUInt32LE(at + 16),
      compressed: file.readUInt32LE(at + 20),
      size: file.readUInt32LE(at + 24),
      offset: file.readUInt32LE(at + 42),
      name: file.toString("utf8", at + 46, at + 46 + nameLength),
    });
    at = next;
  }
  if (at !== end) throw broken("a broken directory");
  return entries;
}

function readEntry(file: Buffer, entry: Entry): { data: Uint8Array; end: number } {
  const { offset, flags, compressed, size } = entry;
  if ((flags & 0x2041) !== 0) throw broken("an encrypted file");
  if (compressed === ZIP64_32 || size === ZIP64_32 || offset === ZIP64_32) throw broken("zip64 is not read");
  if (offset + 30 > file.length || file.readUInt32LE(offset) !== 0x04034b50) throw broken("a file that is not there");
  const nameLength = file.readUInt16LE(offset + 26);
  const start = offset + 30 + nameLength + file.readUInt16LE(offset + 28);
  if (file.toString("utf8", offset + 30, offset + 30 + nameLength) !== entry.name) throw broken("a file of two names");
  if (file.readUInt16LE(offset + 8) !== entry.method) throw broken("a file of two methods");
  if (start + compressed > file.length) throw broken("a file that runs past the end");
  const data = contentOf(file.subarray(start, start + compressed), entry);
  if (data.length !== size || crc32(data) !== entry.crc) throw broken("a file that is not what the directory says");
  return { data, end: start + compressed + descriptorLength(file, start + compressed, flags) };
}

function contentOf(data: Buffer, { method, size }: Entry): Uint8Array {
  if (method === 0) return data;
  if (method !== 8) throw broken(`compression method ${method}`);
  try {
    return inflateRawSync(data, { maxOutputLength: Math.max(1, size) });
  } catch {
    throw broken("a file that cannot be decompressed to the stated size");
  }
}

/** Section 4.3.9: sizes and checksum again, after the data, when bit 3 is set. */
function descriptorLength(file: Buffer, at: number, flags: number): number {
  if ((flags & 0x08) === 0) return 0;
  return at + 4 <= file.length && file.readUInt32LE(at) === 0x08074b50 ? 16 : 12;
}

function broken(what: string): EvidenceError {
  return new EvidenceError("zip", `the zip has ${what}`);
}
