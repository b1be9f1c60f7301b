import { equalBytes } from "../bytes.ts";
import { EvidenceError } from "../errors.ts";
import { refusal } from "./faults.ts";
import { isNameOf, nameIn, requireOneFolder, type ZipForm } from "./names.ts";

/** Limits of a zip; the evidence zips of this service contain at most 16 files. */
export const zipLimits = {
  entries: 64,
  documentEntries: 2048,
  entryBytes: 256 * 1024 * 1024,
  totalBytes: 384 * 1024 * 1024,
} as const;

const END_LENGTH = 22;
const ZIP64_16 = 0xffff;
const ZIP64_32 = 0xffffffff;
const ENCRYPTED = 0x2041;
/** The flags that are accepted: bit 3 (the sizes follow the data) and bit 11 (names are in UTF-8). */
const FLAGS = 0x0808;
const UTF8 = 0x0800;
const SLASH = 0x2f;
/** The MS-DOS attribute bits of a volume label and of a folder. */
const SPECIAL = 0x18;
const REGULAR_FILE = 8;

/**
 * A zip's bytes, a view for its little-endian numbers, and its form. `mostBytes`: the most bytes that its files may
 * have in total.
 */
export type ZipFile = {
  readonly bytes: Uint8Array;
  readonly view: DataView;
  readonly form: ZipForm;
  readonly mostBytes: number;
};

/** A file's entry in the directory. */
export type ZipEntry = {
  readonly name: string;
  readonly flags: number;
  readonly method: number;
  readonly crc: number;
  readonly compressed: number;
  readonly size: number;
  readonly offset: number;
  /**
   * The bytes from the field "version needed" to the length of the extra field, then the name. The local header must
   * contain the same bytes.
   */
  readonly description: Uint8Array;
  readonly nameBytes: Uint8Array;
};

export type ZipDirectory = { readonly entries: readonly ZipEntry[]; readonly offset: number };

/** Reads the central directory (APPNOTE 6.3.10, sections 4.3.12 and 4.3.16). @throws EvidenceError `zip`, `limit` */
export function readDirectory(file: ZipFile): ZipDirectory {
  const { count, offset, end } = readEnd(file);
  const entries: ZipEntry[] = [];
  let at = offset;
  for (let index = 0; index < count; index++) {
    const entry = readEntryAt(file, at, end);
    entries.push(entry);
    at += 46 + entry.nameBytes.length;
  }
  if (at !== end) throw refusal("directory");
  requireApart(entries);
  if (file.form === "documents") requireOneFolder(entries);
  requireBounded(entries, file.mostBytes);
  return { entries, offset };
}

/** The form of a zip by the name of its first entry: only a zip of documents has folders. */
export function zipFormOf(bytes: Uint8Array): ZipForm {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const at = view.byteLength - END_LENGTH;
  const first = at < 0 ? at : view.getUint32(at + 16, true);
  if (first + 46 > at) return "evidence";
  const name = bytes.subarray(first + 46, first + 46 + view.getUint16(first + 28, true));
  return name.includes(SLASH) ? "documents" : "evidence";
}

function readEntryAt({ bytes, view, form }: ZipFile, at: number, end: number): ZipEntry {
  if (at + 46 > end || view.getUint32(at, true) !== 0x02014b50) throw refusal("directory");
  const nameLength = view.getUint16(at + 28, true);
  if (at + 46 + nameLength > end) throw refusal("directory");
  if (view.getUint16(at + 30, true) !== 0) throw refusal("extra-field");
  if (view.getUint16(at + 32, true) !== 0) throw refusal("comment");
  const nameBytes = bytes.subarray(at + 46, at + 46 + nameLength);
  const flags = view.getUint16(at + 8, true);
  const entry = {
    flags,
    method: view.getUint16(at + 10, true),
    crc: view.getUint32(at + 16, true),
    compressed: view.getUint32(at + 20, true),
    size: view.getUint32(at + 24, true),
    offset: view.getUint32(at + 42, true),
    description: bytes.subarray(at + 6, at + 32),
    nameBytes,
  };
  const attributes = view.getUint32(at + 38, true);
  const type = attributes >>> 28;
  if ((entry.flags & ENCRYPTED) !== 0) throw refusal("encrypted");
  if ((entry.flags & ~FLAGS) !== 0) throw refusal("flags");
  if (view.getUint16(at + 34, true) !== 0) throw refusal("parts");
  if ((attributes & SPECIAL) !== 0 || (type !== 0 && type !== REGULAR_FILE)) throw refusal("attributes");
  const name = nameIn(nameBytes, (flags & UTF8) !== 0);
  if (nameLength > 255 || !isNameOf(form, name)) throw refusal("name");
  return { ...entry, name };
}

function readEnd({ view, form }: ZipFile) {
  const at = view.byteLength - END_LENGTH;
  if (at < 0 || view.getUint32(at, true) !== 0x06054b50) throw refusal("no-end");
  const disk = view.getUint16(at + 4, true);
  const firstDisk = view.getUint16(at + 6, true);
  const here = view.getUint16(at + 8, true);
  const count = view.getUint16(at + 10, true);
  const size = view.getUint32(at + 12, true);
  const offset = view.getUint32(at + 16, true);
  if (count === ZIP64_16 || size === ZIP64_32 || offset === ZIP64_32) throw refusal("zip64");
  if (disk !== 0 || firstDisk !== 0 || here !== count) throw refusal("parts");
  if (view.getUint16(at + 20, true) !== 0) throw refusal("comment");
  if (offset + size !== at) throw refusal("directory");
  const most = form === "documents" ? zipLimits.documentEntries : zipLimits.entries;
  if (count > most) throw new EvidenceError("limit", `more than ${most} files`);
  return { count, offset, end: at };
}

/** Many file systems treat names that differ only in case as the same name. */
function requireApart(entries: readonly ZipEntry[]): void {
  const names = new Set(entries.map(({ name }) => name.toLowerCase()));
  if (names.size !== entries.length) throw refusal("same-name");
}

function requireBounded(entries: readonly ZipEntry[], mostBytes: number): void {
  let total = 0;
  for (const { compressed, size, offset } of entries) {
    if (compressed === ZIP64_32 || size === ZIP64_32 || offset === ZIP64_32) throw refusal("zip64");
    total += size;
    if (size > zipLimits.entryBytes || total > mostBytes) {
      throw new EvidenceError("limit", "the files of the zip are too large");
    }
  }
}

/**
 * The local header of a file (section 4.3.7) must agree with the directory. With bit 3, its checksum and sizes are 0
 * and follow the data (section 4.3.9).
 *
 * @returns where the data begins
 * @throws EvidenceError `zip`
 */
export function readLocalHeader({ bytes, view }: ZipFile, entry: ZipEntry): number {
  const { offset, flags, description, nameBytes } = entry;
  if (offset + 30 > bytes.length || view.getUint32(offset, true) !== 0x04034b50) throw refusal("no-local-header");
  if (view.getUint16(offset + 28, true) !== 0) throw refusal("extra-field");
  const expected = Uint8Array.from(description);
  if ((flags & 0x08) !== 0) expected.fill(0, 10, 22);
  const start = offset + 30 + nameBytes.length;
  if (
    !equalBytes(bytes.subarray(offset + 4, offset + 30), expected) ||
    !equalBytes(bytes.subarray(offset + 30, start), nameBytes)
  ) {
    throw refusal("headers-differ");
  }
  return start;
}
