/**
 * Prepares a take for a player: the recorded media clusters, preceded by a new header with the duration and seek
 * points.
 */
import type { StoredFile } from "../../../kernel/platform/blobs/stored-file.ts";
import { storedFile } from "../../../kernel/platform/blobs/stored-file.ts";
import { ServiceError } from "../../../kernel/platform/errors.ts";
import { finishedHeader, tracksIn } from "../../../providers/providers.ts";
import { chunkReader, type LocatedChunk, locateChunks, type ReadDeps } from "./read.ts";
import { type Part, partsOf, type Recording } from "./store.ts";

/**
 * The chunks of one take, in order.
 * @throws ServiceError `not_found` when the recording has no such take
 */
async function chunksOf({ db }: ReadDeps, { id }: Recording, take: number): Promise<[LocatedChunk, ...LocatedChunk[]]> {
  const [header, ...clusters] = locateChunks(await partsOf(db, id)).filter(({ line }) => line.take === take);
  if (!header) throw new ServiceError("not_found", "The recording has no such take.");
  return [header, ...clusters];
}

/**
 * Opens a take for a player. A `Range` request reads only the chunks that it needs.
 * @throws ServiceError `not_found` for an unknown take or a deleted recording, `unavailable` when a part can't be read
 * or was altered
 */
export async function playableTake(deps: ReadDeps, recording: Recording, take: number): Promise<StoredFile> {
  const [first, ...clusters] = await chunksOf(deps, recording, take);
  const read = await chunkReader(deps, recording);
  const places = clusters.map(({ line }) => ({ bytes: line.bytes, ms: line.from, isKey: line.key }));
  const header = finishedHeader(tracksIn(await read(first)), places, clusters.at(-1)?.line.to ?? 0);
  return fileOf(deps, recording, [{ bytes: header.length, read: async () => header }, ...readers(clusters, read)]);
}

/** Each take exactly as recorded, by its number. The manifest has the hashes of these bytes. */
export async function recordedTakes(
  deps: ReadDeps,
  recording: Recording,
  parts: readonly Part[],
): Promise<Map<number, StoredFile>> {
  const read = await chunkReader(deps, recording);
  const takes = Map.groupBy(locateChunks(parts), ({ line }) => line.take);
  return new Map([...takes].map(([take, chunks]) => [take, fileOf(deps, recording, readers(chunks, read))]));
}

type Piece = { bytes: number; read: () => Promise<Buffer> };

const readers = (chunks: readonly LocatedChunk[], read: (chunk: LocatedChunk) => Promise<Buffer>): Piece[] =>
  chunks.map((chunk) => ({ bytes: chunk.line.bytes, read: () => read(chunk) }));

function fileOf({ blobs }: ReadDeps, { notaryId }: Recording, pieces: readonly Piece[]): StoredFile {
  const length = pieces.reduce((sum, { bytes }) => sum + bytes, 0);
  return storedFile({ memory: blobs.memory, holder: `notary ${notaryId}` }, length, {
    async *pieces({ first, last }) {
      let start = 0;
      for (const { bytes, read } of pieces) {
        const end = start + bytes - 1;
        if (end >= first && start <= last)
          yield (await read()).subarray(Math.max(0, first - start), Math.min(bytes, last - start + 1));
        start += bytes;
        if (start > last) return;
      }
    },
  });
}
