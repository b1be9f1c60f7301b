import { Zip, ZipPassThrough } from "fflate";

export type ZipEntry = { readonly name: string; readonly bytes: Uint8Array };

const chunkBytes = 64 * 1024;
/** The first date that the format can say, in the zone of this machine as it writes it: the same entries give the same bytes. */
const firstDate = () => new Date(1980, 0, 1);

/** A zip of stored entries in chunks, each made when it is asked for; the entries' own bytes are not copied. */
export function* zipChunks(entries: readonly ZipEntry[]): Generator<Uint8Array> {
  const made: Uint8Array[] = [];
  const zip = new Zip((error, chunk) => {
    if (error) throw error;
    made.push(chunk);
  });
  for (const { name, bytes } of entries) {
    const entry = new ZipPassThrough(name);
    entry.mtime = firstDate();
    zip.add(entry);
    for (let at = 0; at === 0 || at < bytes.length; at += chunkBytes) {
      entry.push(bytes.subarray(at, at + chunkBytes), at + chunkBytes >= bytes.length);
      yield* made.splice(0);
    }
  }
  zip.end();
  yield* made;
}

// APPNOTE 6.3.10, sections 4.3.7, 4.3.9, 4.3.12 and 4.3.16, beside names and contents.
const entryOverhead = 30 + 16 + 46;
const endLength = 22;

/** How long that zip becomes. */
export const zipLength = (entries: readonly ZipEntry[]): number =>
  entries.reduce((sum, { name, bytes }) => sum + entryOverhead + 2 * Buffer.byteLength(name) + bytes.length, endLength);
