import { EvidenceError } from "../errors.ts";

/** Bounds of what is read of a zip; the service's own hold six files. */
export const zipLimits = { entries: 64, entryBytes: 256 * 1024 * 1024, totalBytes: 384 * 1024 * 1024 } as const;

const END_LENGTH = 22;
const MAX_COMMENT = 0xffff;
const ZIP64_16 = 0xffff;
const ZIP64_32 = 0xffffffff;

/** A zip's bytes, and a view of them for its numbers, which are little-endian. */
export type ZipFile = { readonly bytes: Uint8Array; readonly view: DataView };

/** What the directory says of a file. */
export type ZipEntry = {
  readonly name: string;
  readonly flags: number;
  readonly method: number;
  readonly crc: number;
  readonly compressed: number;
  readonly size: number;
  readonly offset: number;
};

export type ZipDirectory = { readonly entries: readonly ZipEntry[]; readonly offset: number };

/** The one fault of a zip, in words. */
export const broken = (what: string): EvidenceError => new EvidenceError("zip", `the zip has ${what}`);

export const nameAt = ({ bytes }: ZipFile, at: number, length: number): string =>
  new TextDecoder().decode(bytes.subarray(at, at + length));

/** Reads the central directory (sections 4.3.12 and 4.3.16). @throws EvidenceError `zip`, `limit` */
export function readDirectory(file: ZipFile): ZipDirectory {
  const { view } = file;
  const { count, offset, end } = readEnd(file);
  const entries: ZipEntry[] = [];
  let at = offset;
  for (let index = 0; index < count; index++) {
    if (at + 46 > end || view.getUint32(at, true) !== 0x02014b50) throw broken("a broken directory");
    const [nameLength, extraLength, commentLength] = [at + 28, at + 30, at + 32].map((field) =>
      view.getUint16(field, true),
    ) as [number, number, number];
    const next = at + 46 + nameLength + extraLength + commentLength;
    if (next > end) throw broken("a broken directory");
    const entry = {
      flags: view.getUint16(at + 8, true),
      method: view.getUint16(at + 10, true),
      crc: view.getUint32(at + 16, true),
      compressed: view.getUint32(at + 20, true),
      size: view.getUint32(at + 24, true),
      offset: view.getUint32(at + 42, true),
      name: nameAt(file, at + 46, nameLength),
    };
    entries.push(entry);
    at = next;
  }
  if (at !== end) throw broken("a broken directory");
  requireBounded(entries);
  return { entries, offset };
}

function readEnd({ bytes, view }: ZipFile) {
  const at = endOf(view);
  if (at + END_LENGTH + view.getUint16(at + 20, true) !== bytes.length) throw broken("bytes after its end");
  const disk = view.getUint16(at + 4, true);
  const firstDisk = view.getUint16(at + 6, true);
  const here = view.getUint16(at + 8, true);
  const count = view.getUint16(at + 10, true);
  const size = view.getUint32(at + 12, true);
  const offset = view.getUint32(at + 16, true);
  if (count === ZIP64_16 || size === ZIP64_32 || offset === ZIP64_32) throw broken("zip64 is not read");
  if (disk !== 0 || firstDisk !== 0 || here !== count) throw broken("several parts");
  if (offset + size !== at) throw broken("a directory that is not where it is said to be");
  if (count > zipLimits.entries) throw new EvidenceError("limit", `more than ${zipLimits.entries} files`);
  return { count, offset, end: at };
}

/** The last place where the end of a directory may begin and its mark stands. */
function endOf(view: DataView): number {
  const last = view.byteLength - END_LENGTH;
  for (let at = last; at >= 0 && at >= last - MAX_COMMENT; at--) if (view.getUint32(at, true) === 0x06054b50) return at;
  throw broken("no end of the directory");
}

function requireBounded(entries: readonly ZipEntry[]): void {
  let total = 0;
  for (const { compressed, size, offset } of entries) {
    if (compressed === ZIP64_32 || size === ZIP64_32 || offset === ZIP64_32) throw broken("zip64 is not read");
    total += size;
    if (size > zipLimits.entryBytes || total > zipLimits.totalBytes) {
      throw new EvidenceError("limit", "the files of the zip are too large");
    }
  }
}
