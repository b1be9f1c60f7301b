import { EvidenceError } from "@signsealship/evidence/errors";
import type { NamedBytes } from "./files.ts";

const endLength = 22;
const directoryLength = 46;
const localLength = 30;
const maxEntries = 64;

/**
 * The files of an evidence zip as this service writes it (APPNOTE 6.3.10): stored, one after the other, with nothing
 * between them. Other zips have to be unpacked first.
 * @throws EvidenceError `zip`, `limit`
 */
export function readStoredZip(bytes: Uint8Array): NamedBytes[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const end = bytes.length - endLength;
  if (end < 0 || view.getUint32(end, true) !== 0x06054b50) throw broken("it does not end as a zip does");
  const count = view.getUint16(end + 10, true);
  const directory = view.getUint32(end + 16, true);
  if (count > maxEntries) throw new EvidenceError("limit", `the zip holds more than ${maxEntries} files`);
  if (directory + view.getUint32(end + 12, true) !== end) throw broken("its directory is not where it should be");
  const files: NamedBytes[] = [];
  let entry = directory;
  let next = 0;
  for (let n = 0; n < count; n++) {
    if (entry + directoryLength > end || view.getUint32(entry, true) !== 0x02014b50) throw broken("broken directory");
    const [flags, method] = [view.getUint16(entry + 8, true), view.getUint16(entry + 10, true)];
    const [packed, size] = [view.getUint32(entry + 20, true), view.getUint32(entry + 24, true)];
    const [nameLength, extra, comment] = [28, 30, 32].map((field) => view.getUint16(entry + field, true));
    if (nameLength === undefined || extra !== 0 || comment !== 0) throw broken("a file with more than its data");
    if (method !== 0 || packed !== size || (flags & ~0x0800) !== 0) throw broken("a compressed or encrypted file");
    const data = next + localLength + nameLength;
    const name = nameAt(bytes, entry + directoryLength, nameLength);
    const inPlace = view.getUint32(entry + 42, true) === next && data + size <= directory;
    if (!inPlace || view.getUint32(next, true) !== 0x04034b50) throw broken("a file that is not where it should be");
    if (view.getUint16(next + 28, true) !== 0 || nameAt(bytes, next + localLength, nameLength) !== name) {
      throw broken("a file of two names");
    }
    if (files.some((other) => other.name === name)) throw broken("two files of one name");
    files.push({ name, bytes: bytes.subarray(data, data + size) });
    next = data + size;
    entry += directoryLength + nameLength;
  }
  if (entry !== end || next !== directory) throw broken("bytes that belong to no file");
  return files;
}

function nameAt(bytes: Uint8Array, at: number, length: number): string {
  return new TextDecoder("utf-8").decode(bytes.subarray(at, at + length));
}

function broken(what: string): EvidenceError {
  return new EvidenceError("zip", `the zip cannot be read as one of ours (${what})`);
}
