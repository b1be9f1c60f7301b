/** Reads the takes of a recording from their stored parts, byte for byte. */
import { createHash } from "node:crypto";
import type { Blobs } from "../../../kernel/platform/blobs/blobs.ts";
import type { StoredFile } from "../../../kernel/platform/blobs/stored-file.ts";
import type { Sql } from "../../../kernel/platform/database/database.ts";
import { isDamaged, isDatabaseError } from "../../../kernel/platform/database/sql-errors.ts";
import { isAltered } from "../../../kernel/platform/database/state-mac.ts";
import { BusyError, ServiceError } from "../../../kernel/platform/errors.ts";
import { MissingKeyError, type SecretBytes } from "../../../kernel/platform/secrets.ts";
import { type ChainLine, openChunk, readLine, recordKey, sealedBytes } from "../../../providers/providers.ts";
import { type Part, partsOf, partUse, type Recording, recordKeyOf } from "./store.ts";

export type ReadDeps = { db: Sql; secrets: SecretBytes; blobs: Blobs };

/**
 * Thrown for a part that the store does not return now. This is not evidence of an alteration: for example, a store
 * whose folder is not mounted returns no parts.
 */
export class MissingPartError extends ServiceError {
  constructor(blobKey: string) {
    const cause = new Error(`the store does not have blob ${blobKey}`);
    super("unavailable", "A part of the recording can't be read now. Try again later.", { cause });
  }
}

/** The location of a chunk's encrypted bytes within its part. */
export type LocatedChunk = { line: ChainLine; part: Part; at: number };

const linesIn = (part: Part): ChainLine[] => part.lines.trimEnd().split("\n").map(readLine);

export function locateChunks(parts: readonly Part[]): LocatedChunk[] {
  return parts.flatMap((part) => {
    let at = 0;
    return linesIn(part).map((line) => {
      const located = { line, part, at };
      at += sealedBytes(line.bytes);
      return located;
    });
  });
}

/**
 * Returns a function that reads chunks of a recording, decrypts them, and compares them with their lines in the chain.
 * @throws ServiceError `not_found` for a deleted recording
 */
export async function chunkReader({ db, secrets, blobs }: ReadDeps, recording: Recording) {
  const key = recordKey(await recordKeyOf(db, secrets, recording.id));
  const files = new Map<string, Promise<StoredFile>>();
  async function open({ blobKey, sha256 }: Part): Promise<StoredFile> {
    if (!blobKey) throw new ServiceError("unavailable", "A part of the recording can't be read: it names no blob.");
    const file = await blobs.open(blobKey, partUse(recording.id, sha256), `notary ${recording.notaryId}`);
    if (!file) throw new MissingPartError(blobKey);
    return file;
  }
  return async ({ line, part, at }: LocatedChunk): Promise<Buffer> => {
    const opened = files.get(part.id) ?? open(part);
    files.set(part.id, opened);
    const pieces: Buffer[] = [];
    const range = { first: at, last: at + sealedBytes(line.bytes) - 1 };
    for await (const piece of (await opened).pieces(range)) pieces.push(Buffer.from(piece));
    return openChunk(key, line, Buffer.concat(pieces));
  };
}

/**
 * True for an error that is not evidence of a damaged recording: the store or the database does not answer, this
 * process lacks the key or free memory, or the database rejects the statement for another reason than damaged data.
 */
export const isAway = (error: unknown): boolean =>
  error instanceof MissingKeyError ||
  error instanceof BusyError ||
  (isDatabaseError(error) && !isDamaged(error)) ||
  (error instanceof ServiceError && error.cause !== undefined && !isAltered(error));

/** A whole take: all of its chunks joined into one file, in order. */
export type ReadTake = {
  take: number;
  person: string;
  sha256: string;
  bytes: number;
  chunks: number;
  firstAt: string;
  lastAt: string;
  header: Buffer;
};

export async function readTakes(deps: ReadDeps, recording: Recording): Promise<ReadTake[]> {
  const read = await chunkReader(deps, recording);
  const takes = new Map<number, Omit<ReadTake, "sha256"> & { hash: ReturnType<typeof createHash> }>();
  for (const located of locateChunks(await partsOf(deps.db, recording.id))) {
    const { line } = located;
    const bytes = await read(located);
    const own = takes.get(line.take);
    if (!own)
      takes.set(line.take, {
        take: line.take,
        person: line.person,
        bytes: bytes.length,
        chunks: 1,
        header: bytes,
        firstAt: line.at,
        lastAt: line.at,
        hash: createHash("sha256").update(bytes),
      });
    else {
      own.hash.update(bytes);
      own.bytes += bytes.length;
      own.chunks++;
      own.lastAt = line.at;
    }
  }
  const found = [...takes.values()].map(({ hash, ...take }) => ({ ...take, sha256: hash.digest("hex") }));
  return found.sort((a, b) => a.take - b.take);
}
