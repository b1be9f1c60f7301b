import { EvidenceError } from "../errors.ts";
import { inflateRaw } from "../inflate.ts";
import { crc32 } from "./crc32.ts";
import { readDirectory, readLocalHeader, type ZipEntry, type ZipFile, zipFormOf, zipLimits } from "./directory.ts";
import { refusal } from "./faults.ts";
import { finderSubject, isFinderFile } from "./finder.ts";
import type { ZipForm } from "./names.ts";

export { zipLimits } from "./directory.ts";
export { isDeviceName } from "./names.ts";

/**
 * Reads the files of an evidence zip (APPNOTE 6.3.10), stored or deflated, by their names. Nothing is written to disk.
 *
 * Refuses everything that programs could interpret in two ways, with a named fault (docs/evidence-format.md, section
 * 9.1). Examples are special file types, names that some file systems treat as one, headers that differ, and bytes
 * outside any file.
 *
 * @throws EvidenceError `zip` for broken, ambiguous or unsupported files, `limit`
 */
export const readZip = (bytes: Uint8Array): ReadonlyMap<string, Uint8Array> =>
  filesOf(bytes, "evidence", zipLimits.totalBytes);

/**
 * The files of a zip by name, and the kind of zip. In a zip of documents, a name includes its folder; an evidence zip
 * has no folders. Folders, and files that the Finder of macOS added, are left out.
 */
export type OpenedZip = { readonly form: ZipForm; readonly files: ReadonlyMap<string, Uint8Array> };

/**
 * Reads an evidence zip as `readZip` does, or a zip of documents (docs/evidence-format.md, section 9.4) by the same
 * rules.
 * @param maxBytes the most bytes that the files may have in total
 * @throws EvidenceError as `readZip`
 */
export function openZip(bytes: Uint8Array, maxBytes: number = zipLimits.totalBytes): OpenedZip {
  const form = zipFormOf(bytes);
  return { form, files: filesOf(bytes, form, maxBytes) };
}

function filesOf(bytes: Uint8Array, form: ZipForm, maxBytes: number): ReadonlyMap<string, Uint8Array> {
  const file = { bytes, view: new DataView(bytes.buffer, bytes.byteOffset, bytes.length), form, maxBytes };
  const directory = readDirectory(file);
  const files = new Map<string, Uint8Array>();
  let next = 0;
  for (const entry of [...directory.entries].sort((a, b) => a.offset - b.offset)) {
    if (entry.offset !== next) throw refusal("gap");
    const { data, end } = readEntry(file, entry);
    next = end;
    if (entry.isFolder) continue;
    if (finderSubject(entry.name) === null) files.set(entry.name, data);
    else if (!isFinderFile(entry.name, data)) throw refusal("name");
  }
  if (next !== directory.offset) throw refusal("gap");
  return files;
}

function readEntry(file: ZipFile, entry: ZipEntry): { data: Uint8Array; end: number } {
  const { bytes } = file;
  const start = readLocalHeader(file, entry);
  const end = start + entry.compressed;
  if (end > bytes.length) throw refusal("data");
  const data = contentOf(bytes.subarray(start, end), entry);
  if (data.length !== entry.size || crc32(data) !== entry.crc) throw refusal("data");
  return { data, end: end + descriptorLength(file, end, entry) };
}

function contentOf(data: Uint8Array, { method, size }: ZipEntry): Uint8Array {
  if (method === 0) return data;
  if (method !== 8) throw refusal("method");
  try {
    return inflateRaw(data, size, "zip");
  } catch (error) {
    if (!(error instanceof EvidenceError)) throw error;
    throw refusal("data");
  }
}

/**
 * The length of the data descriptor that follows a file's data if bit 3 of the flags is set (APPNOTE 6.3.10, section
 * 4.3.9). It begins with a magic number (08074b50). Its checksum and sizes must match the directory.
 */
function descriptorLength({ bytes, view }: ZipFile, at: number, { flags, crc, compressed, size }: ZipEntry): number {
  if ((flags & 0x08) === 0) return 0;
  const numbers = [0x08074b50, crc, compressed, size];
  const same = at + 16 <= bytes.length && numbers.every((number, i) => view.getUint32(at + 4 * i, true) === number);
  if (!same) throw refusal("headers-differ");
  return 16;
}
