import { Zip, ZipPassThrough } from "fflate";
import { type BodyFrame, type StoredFile, storedFile } from "../../../kernel/platform/blobs/stored-file.ts";

export type ZipEntry = { readonly name: string; readonly bytes: Uint8Array | StoredFile };

const chunkBytes = 64 * 1024;
/**
 * The earliest date that the zip format supports. It is in the local time zone because the zip library writes local
 * times. A fixed date makes equal entries give equal bytes.
 */
const firstDate = () => new Date(1980, 0, 1);

/** A zip of uncompressed entries, in chunks that are generated on demand. */
export async function* zipChunks(entries: readonly ZipEntry[]): AsyncGenerator<Buffer> {
  const chunks: Buffer[] = [];
  const zip = new Zip((error, chunk) => {
    if (error) throw error;
    if (chunk.length > 0) chunks.push(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length));
  });
  for (const { name, bytes } of entries) {
    const entry = new ZipPassThrough(name);
    entry.mtime = firstDate();
    zip.add(entry);
    for await (const piece of bytes instanceof Uint8Array ? piecesOf(bytes) : bytes.pieces()) {
      entry.push(piece);
      yield* chunks.splice(0);
    }
    entry.push(new Uint8Array(0), true);
  }
  zip.end();
  yield* chunks;
}

function* piecesOf(bytes: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += chunkBytes) yield bytes.subarray(at, at + chunkBytes);
}

/** Returns the zip as a stream. */
export const zipFile = (frame: BodyFrame, entries: readonly ZipEntry[]): StoredFile =>
  storedFile(frame, zipLength(entries), { pieces: () => zipChunks(entries) });

// The lengths of a zip's records without names and contents (APPNOTE 6.3.10, sections 4.3.7, 4.3.9, 4.3.12 and 4.3.16).
const entryOverhead = 30 + 16 + 46;
const endLength = 22;

/** The length of the zip in bytes. */
export const zipLength = (entries: readonly ZipEntry[]): number =>
  entries.reduce((sum, { name, bytes }) => sum + entryOverhead + 2 * Buffer.byteLength(name) + bytes.length, endLength);
