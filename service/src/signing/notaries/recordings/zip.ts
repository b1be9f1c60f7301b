/**
 * Zips that are created while they are sent. Files and offsets from 4 GiB on, and more than 65,534 files, use the
 * 64-bit extension (APPNOTE 6.3.10, sections 4.3.9.2, 4.3.14 and 4.5.3).
 */
import { crc32 } from "node:zlib";
import type { ByteRange } from "../../../kernel/platform/blobs/stored-file.ts";

export type Entry = {
  name: string;
  length: number;
  bytes: () => AsyncIterable<Buffer> | Iterable<Buffer>;
  /**
   * The file's CRC-32, if it was computed earlier. With the CRC-32, a range of the zip that contains none of the file's
   * bytes can be created without reading the file.
   */
  sum?: number | null;
  /** Called once before bytes of this file are sent, if the range contains any. */
  sending?: () => Promise<void>;
  /** Called with the CRC-32 of a file that was read whole. */
  summed?: (sum: number) => Promise<void>;
};

/** The facts about a file that was already written to the zip. */
type Written = { name: string; isLarge: boolean; start: number; length: number; sum: number };

/** The largest values of 16-bit and 32-bit fields. In a field they say that the 64-bit extension has the real value. */
const [max16, max32] = [0xffff, 0xffffffff];
const [version, largeVersion] = [20, 45];
/** The date of every file: January 1, 1980. The real times are in the manifests. */
const dosDate = 0x21;
/** The flag that says that a file's checksum follows its data. Names are ASCII, so the flag for UTF-8 is not needed. */
const flags = 0x08;
const extensionId = 1;

const isLarge = ({ length }: Pick<Entry, "length">): boolean => length >= max32;

function extension(values: readonly number[]): Buffer {
  if (values.length === 0) return Buffer.alloc(0);
  const bytes = Buffer.alloc(4 + 8 * values.length);
  bytes.writeUInt16LE(extensionId, 0);
  bytes.writeUInt16LE(8 * values.length, 2);
  for (const [index, value] of values.entries()) bytes.writeBigUInt64LE(BigInt(value), 4 + 8 * index);
  return bytes;
}

function localHeader(entry: Pick<Entry, "name" | "length">): Buffer {
  const name = Buffer.from(entry.name);
  const extra = extension(isLarge(entry) ? [0, 0] : []);
  const header = Buffer.alloc(30);
  header.writeUInt32LE(0x04034b50, 0);
  header.writeUInt16LE(isLarge(entry) ? largeVersion : version, 4);
  header.writeUInt16LE(flags, 6);
  header.writeUInt16LE(dosDate, 12);
  if (isLarge(entry)) header.fill(0xff, 18, 26);
  header.writeUInt16LE(name.length, 26);
  header.writeUInt16LE(extra.length, 28);
  return Buffer.concat([header, name, extra]);
}

function descriptor({ isLarge, length, sum }: Pick<Written, "isLarge" | "length" | "sum">): Buffer {
  const bytes = Buffer.alloc(isLarge ? 24 : 16);
  bytes.writeUInt32LE(0x08074b50, 0);
  bytes.writeUInt32LE(sum, 4);
  for (const half of [0, 1])
    if (isLarge) bytes.writeBigUInt64LE(BigInt(length), 8 + 8 * half);
    else bytes.writeUInt32LE(length, 8 + 4 * half);
  return bytes;
}

function directoryEntry(written: Written): Buffer {
  const { start, length, sum } = written;
  const name = Buffer.from(written.name);
  const isFar = start >= max32;
  const extra = extension([...(written.isLarge ? [length, length] : []), ...(isFar ? [start] : [])]);
  const header = Buffer.alloc(46);
  header.writeUInt32LE(0x02014b50, 0);
  header.writeUInt16LE(extra.length > 0 ? largeVersion : version, 4);
  header.writeUInt16LE(extra.length > 0 ? largeVersion : version, 6);
  header.writeUInt16LE(flags, 8);
  header.writeUInt16LE(dosDate, 14);
  header.writeUInt32LE(sum, 16);
  header.writeUInt32LE(written.isLarge ? max32 : length, 20);
  header.writeUInt32LE(written.isLarge ? max32 : length, 24);
  header.writeUInt16LE(name.length, 28);
  header.writeUInt16LE(extra.length, 30);
  header.writeUInt32LE(isFar ? max32 : start, 42);
  return Buffer.concat([header, name, extra]);
}

/** The records that end the zip, after its directory. The directory begins at byte `at`. */
function directoryEnd(entries: number, size: number, at: number): Buffer {
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(Math.min(entries, max16), 8);
  end.writeUInt16LE(Math.min(entries, max16), 10);
  end.writeUInt32LE(Math.min(size, max32), 12);
  end.writeUInt32LE(Math.min(at, max32), 16);
  if (entries < max16 && size < max32 && at < max32) return end;
  const large = Buffer.alloc(56);
  large.writeUInt32LE(0x06064b50, 0);
  large.writeBigUInt64LE(44n, 4);
  large.writeUInt16LE(largeVersion, 12);
  large.writeUInt16LE(largeVersion, 14);
  for (const [index, value] of [entries, entries, size, at].entries())
    large.writeBigUInt64LE(BigInt(value), 24 + 8 * index);
  const locator = Buffer.alloc(20);
  locator.writeUInt32LE(0x07064b50, 0);
  locator.writeBigUInt64LE(BigInt(at + size), 8);
  locator.writeUInt32LE(1, 16);
  return Buffer.concat([large, locator, end]);
}

/** The length of the zip of these files in bytes. */
export function zipLength(entries: readonly Pick<Entry, "name" | "length">[]): number {
  let [at, size] = [0, 0];
  for (const { name, length } of entries) {
    const written = { name, length, isLarge: isLarge({ length }), start: at, sum: 0 };
    at += localHeader({ name, length }).length + length + descriptor(written).length;
    size += directoryEntry(written).length;
  }
  return at + size + directoryEnd(entries.length, size, at).length;
}

const changed = ({ name }: Entry) => new Error(`${name} has another length or checksum than its entry`);

/**
 * Yields the bytes of the zip, or of a range of it. Reads one file after another. Some pieces are empty.
 * @throws Error when a file has another length, or another checksum, than its entry
 */
export async function* zipped(
  entries: readonly Entry[],
  { first, last }: ByteRange = { first: 0, last: Number.POSITIVE_INFINITY },
): AsyncGenerator<Buffer> {
  const directory: Buffer[] = [];
  let at = 0;
  /** Returns the bytes of a piece that are in the range. The piece begins at byte `at` of the zip. */
  const next = (piece: Buffer): Buffer => {
    const start = at;
    at += piece.length;
    return piece.subarray(Math.max(0, first - start), Math.max(0, last + 1 - start));
  };
  for (const entry of entries) {
    const start = at;
    yield next(localHeader(entry));
    const end = at + entry.length;
    let { sum = null } = entry;
    if (sum === null || (at <= last && end > first)) {
      let [found, isSent] = [0, false];
      for await (const piece of entry.bytes()) {
        if (at > last) return;
        if (at + piece.length > end) throw changed(entry);
        found = crc32(piece, found);
        const part = next(piece);
        if (part.length > 0 && !isSent) {
          await entry.sending?.();
          isSent = true;
        }
        yield part;
      }
      if (at !== end || (sum ?? found) !== found) throw changed(entry);
      await entry.summed?.(found);
      sum = found;
    }
    at = end;
    if (at > last) return;
    const written = { name: entry.name, isLarge: isLarge(entry), start, length: entry.length, sum };
    yield next(descriptor(written));
    directory.push(directoryEntry(written));
  }
  const [start, size] = [at, directory.reduce((sum, { length }) => sum + length, 0)];
  for (const piece of directory) yield next(piece);
  yield next(directoryEnd(directory.length, size, start));
}
