/** Moves parts of recordings (files of consecutive chunks) from the media engine's disk to the store. */
import { existsSync } from "node:fs";
import { rename, unlink } from "node:fs/promises";
import { type Blobs, orDiscard } from "../../../kernel/platform/blobs/blobs.ts";
import type { Clock } from "../../../kernel/platform/clock.ts";
import type { Database } from "../../../kernel/platform/database/database.ts";
import { ServiceError } from "../../../kernel/platform/errors.ts";
import { newUuid } from "../../../kernel/platform/ids.ts";
import type { Log } from "../../../kernel/platform/logs.ts";
import { followChain, lineText, readSpool, type SpooledChunk, sha256Hex } from "../../../providers/providers.ts";
import { changeRecording, insertPart, lockRecording, partsOf, partUse, type Recording, recordingOf } from "./store.ts";

type PartDeps = { db: Database; clock: Clock; blobs: Blobs; log: Log };

/**
 * The most take numbers that one run of the media engine may use. No session needs that many. The take number is part
 * of the encryption nonce, which has space for 4,000 runs.
 */
export const takesInRun = 1_000_000;
export type Queues = Map<string, Promise<void>>;

/** Runs work after all earlier work of the same session in these queues. */
export function inOrder<T>(queues: Queues, session: string, work: () => Promise<T>): Promise<T> {
  const next = (queues.get(session) ?? Promise.resolve()).then(work);
  const ended = next
    .then(
      () => {},
      () => {},
    )
    .then(() => {
      if (queues.get(session) === ended) queues.delete(session);
    });
  queues.set(session, ended);
  return next;
}

/**
 * Finds the recording of a session.
 * @throws ServiceError `not_found` when the session has none
 */
export async function required({ db }: Pick<PartDeps, "db">, session: string): Promise<Recording> {
  const recording = await recordingOf(db, session);
  if (!recording) throw new ServiceError("not_found", "The session has no recording.");
  return recording;
}

/**
 * Moves a file of the media engine's spool folder to the store. One transaction writes the part's row and the new head
 * of the chain. The file is deleted last, so a retry finds the row and does not store the part twice. A file that no
 * longer fits the recording is set aside.
 */
export async function storePart(deps: PartDeps, session: string, file: string): Promise<void> {
  const { db, clock, blobs, log } = deps;
  const read = await unlessGone(readSpool(file));
  // Another call, or another process with the same disk, has already stored the file.
  if (!read) return;
  const { chunks, torn } = read;
  const recording = await recordingOf(db, session);
  if (!recording) return setAside(deps, { session, file }, "the database does not know its session");
  if (torn > 0) log.warn({ recording: recording.id, torn }, "the end of a recording's part was torn and is left out");
  const which = { recording: recording.id, file };
  if (await isOfAnotherChain(db, recording, chunks)) return setAside(deps, which, "another node went on without it");
  const added = chunks.filter(({ line }) => line.seq > recording.headSeq);
  const [first] = added;
  if (first && recording.endedAt) return setAside(deps, which, "the recording has ended without it");
  if (first && first.line.seq > recording.headSeq + 1)
    throw new Error(
      `the part before ${file} is not stored: lines ${recording.headSeq + 1} to ${first.line.seq - 1} are missing`,
    );
  if (first) {
    const lines = added.map(({ line }) => line);
    const head = followChain({ seq: recording.headSeq, sha256: recording.headSha256 }, lines);
    if ("brokenAt" in head)
      throw new Error(`line ${head.brokenAt} of a recording does not follow the one before: ${file}`);
    const bytes = Buffer.concat(added.map(({ sealed }) => sealed));
    const sha256 = sha256Hex(bytes);
    const blobKey = await blobs.put(bytes, partUse(recording.id, sha256));
    const part = {
      id: newUuid(),
      firstSeq: first.line.seq,
      lastSeq: head.seq,
      headSha256: head.sha256,
      bytes: bytes.length,
      sha256,
      lines: `${lines.map(lineText).join("\n")}\n`,
      blobKey,
      createdAt: clock(),
    };
    const isStored = await orDiscard(blobs, blobKey, () =>
      db.transaction(async (tx) => {
        const { headSeq, runs, endedAt } = await lockRecording(tx, recording.id);
        if (headSeq !== recording.headSeq || runs !== recording.runs || endedAt !== null) return false;
        await insertPart(tx, recording.id, part);
        await changeRecording(tx, recording.id, { head });
        return true;
      }),
    );
    // The part could not be added: another node has continued or ended the recording, or has stored the same part. The
    // retry finds out which.
    if (!isStored) return storePart(deps, session, file);
  }
  await unlessGone(unlink(file));
}

/** Renames a file that can't be stored, so that it is not retried. Its content stays on the disk. */
async function setAside(
  { log }: PartDeps,
  which: { file: string; recording?: string; session?: string },
  why: string,
): Promise<void> {
  const { file } = which;
  // Adds a number if the new name is taken. A file's name states its first line of the hash chain, and a later run of
  // the media engine may have written a file that begins with the same line.
  let to = `${file}.aside`;
  for (let n = 2; existsSync(to); n++) to = `${file}.${n}.aside`;
  await unlessGone(rename(file, to));
  log.error(which, `a part of a recording is set aside: ${why}`);
}

/** Resolves with null if the file does not exist. */
async function unlessGone<T>(work: Promise<T>): Promise<T | null> {
  return work.catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return null;
    throw error;
  });
}

/**
 * True if these chunks do not belong to the recording's chain: before they were stored, a later run of the media engine
 * continued the recording.
 */
async function isOfAnotherChain(db: Database, recording: Recording, chunks: readonly SpooledChunk[]): Promise<boolean> {
  const { headSeq, runs, id } = recording;
  const isLate = ({ line }: SpooledChunk) => line.seq > headSeq && Math.floor(line.take / takesInRun) < runs;
  if (chunks.some(isLate)) return true;
  const before = chunks.filter(({ line }) => line.seq <= headSeq);
  if (before.length === 0) return false;
  const stored = new Set((await partsOf(db, id)).flatMap(({ lines }) => lines.split("\n")));
  return before.some(({ line }) => !stored.has(lineText(line)));
}
