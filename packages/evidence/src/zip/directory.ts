import { equalBytes } from "../bytes.ts";
import { EvidenceError } from "../errors.ts";
import { crc32 } from "./crc32.ts";
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
/**
 * The flags that are accepted: bits 1 and 2 (the compressor's effort), bit 3 (the sizes follow the data) and bit 11
 * (names are in UTF-8).
 */
const FLAGS = 0x080e;
const UTF8 = 0x0800;
const SLASH = 0x2f;
/** The MS-DOS attribute bit of a volume label. `SPECIAL` combines this bit and the bit of a folder. */
const VOLUME_LABEL = 0x08;
const SPECIAL = 0x18;
/** The top four bits of Unix attributes that mark a plain file. */
const UNIX_FILE = 8;
const UNIX_FOLDER = 4;
/**
 * Extra fields that don't affect a file's name or data (APPNOTE 6.3.10, sections 4.5.2 and 4.6.1): times by NTFS
 * (000a), and times and owners by Info-ZIP (5455, 5855, 7855, 7875). Common programs write them.
 */
const HARMLESS: ReadonlySet<number> = new Set([0x000a, 0x5455, 0x5855, 0x7855, 0x7875]);
const ZIP64 = 0x0001;
/**
 * Info-ZIP Unicode Path (APPNOTE 6.3.10, section 4.6.9). Some programs use the name in this field and not the file's
 * own name.
 */
const UNICODE_PATH = 0x7075;

/**
 * A zip's bytes, a view that reads their little-endian numbers, and the kind of zip (`form`). `maxBytes`: the most
 * bytes that its files may have in total.
 */
export type ZipFile = {
  readonly bytes: Uint8Array;
  readonly view: DataView;
  readonly form: ZipForm;
  readonly maxBytes: number;
};

/** An entry in the zip's directory. It is a file or a folder; the name of a folder ends in a slash. */
export type ZipEntry = {
  readonly name: string;
  readonly isFolder: boolean;
  readonly flags: number;
  readonly method: number;
  readonly crc: number;
  readonly compressed: number;
  readonly size: number;
  readonly offset: number;
  /**
   * The bytes that the directory and the local header share: from the field "version needed" to the length of the name.
   * They must be equal in both, except for the zeros that `readLocalHeader` permits.
   */
  readonly description: Uint8Array;
  readonly nameBytes: Uint8Array;
  readonly extraLength: number;
};

export type ZipDirectory = { readonly entries: readonly ZipEntry[]; readonly offset: number };

/**
 * Reads the central directory (APPNOTE 6.3.10, sections 4.3.12 and 4.3.16).
 * @throws EvidenceError `zip`, `limit`
 */
export function readDirectory(file: ZipFile): ZipDirectory {
  const { count, offset, end } = readEnd(file);
  const entries: ZipEntry[] = [];
  let at = offset;
  for (let index = 0; index < count; index++) {
    const entry = readEntryAt(file, at, end);
    entries.push(entry);
    at += 46 + entry.nameBytes.length + entry.extraLength;
  }
  if (at !== end) throw refusal("directory");
  requireApart(entries);
  if (file.form === "documents") requireOneFolder(entries);
  requireBounded(entries, file.maxBytes);
  return { entries, offset };
}

/** The kind of a zip by the name of its first entry: only a zip of documents has folders. */
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
  const extraLength = view.getUint16(at + 30, true);
  const nameEnd = at + 46 + nameLength;
  if (view.getUint16(at + 32, true) !== 0) throw refusal("comment");
  const nameBytes = bytes.subarray(at + 46, nameEnd);
  requireHarmless(bytes.subarray(nameEnd, nameEnd + extraLength), nameBytes);
  const flags = view.getUint16(at + 8, true);
  const entry = {
    flags,
    method: view.getUint16(at + 10, true),
    crc: view.getUint32(at + 16, true),
    compressed: view.getUint32(at + 20, true),
    size: view.getUint32(at + 24, true),
    offset: view.getUint32(at + 42, true),
    description: bytes.subarray(at + 6, at + 30),
    nameBytes,
    extraLength,
    isFolder: nameBytes.at(-1) === SLASH,
  };
  if ((entry.flags & ENCRYPTED) !== 0) throw refusal("encrypted");
  if ((entry.flags & ~FLAGS) !== 0) throw refusal("flags");
  if (view.getUint16(at + 34, true) !== 0) throw refusal("parts");
  if (!hasAttributesOf(entry.isFolder, view.getUint32(at + 38, true))) throw refusal("attributes");
  const name = nameIn(nameBytes, (flags & UTF8) !== 0);
  if (nameLength > 255 || !isNameOf(form, name)) throw refusal("name");
  if (entry.isFolder && entry.size !== 0) throw refusal("data");
  return { ...entry, name };
}

/**
 * True if an entry's external attributes (APPNOTE 6.3.10, section 4.4.15) state no type, or the right type: a folder if
 * `isFolder`, otherwise a plain file.
 */
function hasAttributesOf(isFolder: boolean, attributes: number): boolean {
  const type = attributes >>> 28;
  const isSpecial = (attributes & (isFolder ? VOLUME_LABEL : SPECIAL)) !== 0;
  return !isSpecial && (type === 0 || type === (isFolder ? UNIX_FOLDER : UNIX_FILE));
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
  const max = form === "documents" ? zipLimits.documentEntries : zipLimits.entries;
  if (count > max) throw new EvidenceError("limit", `more than ${max} files`);
  return { count, offset, end: at };
}

/** Refuses names that differ only in case, because many file systems treat them as the same name. */
function requireApart(entries: readonly ZipEntry[]): void {
  const names = new Set(entries.map(({ name }) => name.toLowerCase()));
  if (names.size !== entries.length) throw refusal("same-name");
}

function requireBounded(entries: readonly ZipEntry[], maxBytes: number): void {
  let total = 0;
  for (const { compressed, size, offset } of entries) {
    if (compressed === ZIP64_32 || size === ZIP64_32 || offset === ZIP64_32) throw refusal("zip64");
    total += size;
    if (size > zipLimits.entryBytes || total > maxBytes) {
      throw new EvidenceError("limit", "the files of the zip are too large");
    }
  }
}

/**
 * Reads the local header of a file (APPNOTE 6.3.10, section 4.3.7), which must equal the file's entry in the central
 * directory. If bit 3 of the flags is set, checksum and sizes follow the data (section 4.3.9). The header may then
 * state 0 for each of them.
 *
 * @returns where the data begins
 * @throws EvidenceError `zip`
 */
export function readLocalHeader({ bytes, view }: ZipFile, entry: ZipEntry): number {
  const { offset, flags, description, nameBytes } = entry;
  if (offset + 30 > bytes.length || view.getUint32(offset, true) !== 0x04034b50) throw refusal("no-local-header");
  const expected = Uint8Array.from(description);
  if ((flags & 0x08) !== 0)
    for (const at of [10, 14, 18]) if (view.getUint32(offset + 4 + at, true) === 0) expected.fill(0, at, at + 4);
  const nameEnd = offset + 30 + nameBytes.length;
  if (
    !equalBytes(bytes.subarray(offset + 4, offset + 28), expected) ||
    !equalBytes(bytes.subarray(offset + 30, nameEnd), nameBytes)
  ) {
    throw refusal("headers-differ");
  }
  const start = nameEnd + view.getUint16(offset + 28, true);
  requireHarmless(bytes.subarray(nameEnd, start), nameBytes);
  return start;
}

/**
 * Accepts an extra field (APPNOTE 6.3.10, section 4.5.1) if it consists of harmless fields, each once.
 * @param name the file's name in the header that has the extra field
 * @throws EvidenceError `zip`
 */
function requireHarmless(extra: Uint8Array, name: Uint8Array): void {
  const view = new DataView(extra.buffer, extra.byteOffset, extra.length);
  const seen = new Set<number>();
  for (let at = 0; at < extra.length; ) {
    if (at + 4 > extra.length) throw refusal("extra-field");
    const id = view.getUint16(at, true);
    const end = at + 4 + view.getUint16(at + 2, true);
    if (end > extra.length || seen.has(id)) throw refusal("extra-field");
    if (id === ZIP64) throw refusal("zip64");
    const isSound = id === UNICODE_PATH ? isPathOf(name, extra.subarray(at + 4, end)) : HARMLESS.has(id);
    if (!isSound) throw refusal("extra-field");
    seen.add(id);
    at = end;
  }
}

/** True if a Unicode Path field has version 1, the checksum of the name, and the same name. */
function isPathOf(name: Uint8Array, field: Uint8Array): boolean {
  const expected = new Uint8Array(5 + name.length);
  expected[0] = 1;
  new DataView(expected.buffer).setUint32(1, crc32(name), true);
  expected.set(name, 5);
  return equalBytes(field, expected);
}
