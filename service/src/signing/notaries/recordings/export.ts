/**
 * A recording as a zip: its manifest with the transparency log's proof, its chain, its messages, and each take as
 * recorded. The zip is created while it is sent.
 */
import { logProof } from "../../../evidence/transparency-log/transparency-log.ts";
import { type StoredFile, storedFile } from "../../../kernel/platform/blobs/stored-file.ts";
import { ServiceError } from "../../../kernel/platform/errors.ts";
import { chainFaults } from "./check.ts";
import { chainText } from "./manifest.ts";
import { messagesOf, messagesText } from "./messages.ts";
import { recordedTake } from "./playback.ts";
import { placedChunks, type ReadDeps } from "./read.ts";
import { manifestEntry, partsOf, type Recording } from "./store.ts";
import { type Entry, zipLength, zipped } from "./zip.ts";

/**
 * The files of a recording's export. Of a deleted recording only the manifest with its proof, and the chain, exist.
 * @throws ServiceError `conflict` for a recording that has no manifest; `unavailable`, naming the part that was altered
 */
export async function filesOf(deps: ReadDeps, recording: Recording): Promise<Entry[]> {
  const { manifest } = recording;
  if (manifest === null) throw new ServiceError("conflict", "The recording has not ended.");
  const parts = await partsOf(deps.db, recording.id);
  const [fault] = chainFaults(recording, parts);
  if (fault !== undefined) throw new ServiceError("unavailable", `The recording is not what was written. ${fault}`);
  const entries: Entry[] = [textEntry("recording.json", manifest), textEntry("chain.jsonl", chainText(parts))];
  // The transparency log includes the manifest's line within seconds. A zip that was exported earlier contains no proof
  // of the line.
  const logged = await logProof(deps.db, recording.environment, manifestEntry(recording.manifestSha256 ?? ""));
  if (logged.state === "logged") entries.push(textEntry("recording.json.tlog-proof", logged.proof));
  if (recording.deletedAt) return entries;
  const messages = await messagesOf(deps.db, deps.secrets, recording);
  if (messages.length > 0) entries.push(textEntry("messages.jsonl", messagesText(messages)));
  for (const take of new Set(placedChunks(parts).map(({ line }) => line.take))) {
    const file = await recordedTake(deps, recording, take);
    entries.push({ name: `takes/${take}.webm`, length: file.length, bytes: () => file.pieces() });
  }
  return entries;
}

/** @throws ServiceError as `filesOf` */
export async function exportedRecording(deps: ReadDeps, recording: Recording): Promise<StoredFile> {
  const entries = await filesOf(deps, recording);
  const { memory } = deps.blobs;
  return storedFile({ memory, holder: `notary ${recording.notaryId}` }, zipLength(entries), {
    async *pieces({ first, last }) {
      let at = 0;
      for await (const piece of zipped(entries)) {
        if (at + piece.length > first && at <= last)
          yield piece.subarray(Math.max(0, first - at), Math.min(piece.length, last - at + 1));
        at += piece.length;
      }
    },
  });
}

export function textEntry(name: string, text: string): Entry {
  const bytes = Buffer.from(text);
  return { name, length: bytes.length, bytes: () => [bytes] };
}
