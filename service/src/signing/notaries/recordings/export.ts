/**
 * The files of a recording's zip: its manifest with the transparency log's proof, its chain, its messages, and each take
 * as recorded.
 */
import { logProof } from "../../../evidence/transparency-log/transparency-log.ts";
import type { Blobs } from "../../../kernel/platform/blobs/blobs.ts";
import { type StoredFile, storedFile } from "../../../kernel/platform/blobs/stored-file.ts";
import type { Holder } from "../../../kernel/platform/bounds/memory-budget.ts";
import { ServiceError } from "../../../kernel/platform/errors.ts";
import { chainFaults } from "./check.ts";
import type { NewFile } from "./export-rows.ts";
import { chainText } from "./manifest.ts";
import { messagesOf, messagesText } from "./messages.ts";
import { recordedTakes } from "./playback.ts";
import type { ReadDeps } from "./read.ts";
import { manifestEntry, partsOf, type Recording } from "./store.ts";
import { type Entry, zipLength, zipped } from "./zip.ts";

const proofName = "recording.json.tlog-proof";

/** True for the name of a file that a recording still has after its deletion. */
export const remains = (name: string): boolean => ["recording.json", "chain.jsonl", proofName].includes(name);

type ExportEntry = Entry & {
  /** The whole content of the file, if it is a text. */
  text?: string;
};

/**
 * The files of a recording's export. For a deleted recording only the manifest, its proof and the chain exist.
 * @throws ServiceError `conflict` for a recording that has no manifest; `unavailable`, naming the part that was altered
 */
export async function filesOf(deps: ReadDeps, recording: Recording): Promise<ExportEntry[]> {
  const { manifest } = recording;
  if (manifest === null) throw new ServiceError("conflict", "The recording has not ended.");
  const parts = await partsOf(deps.db, recording.id);
  const [fault] = chainFaults(recording, parts);
  if (fault !== undefined) throw new ServiceError("unavailable", `The recording is not what was written. ${fault}`);
  const entries: ExportEntry[] = [textEntry("recording.json", manifest), textEntry("chain.jsonl", chainText(parts))];
  // The transparency log publishes the manifest some seconds after the recording. An export that is made earlier
  // contains no proof.
  const logged = await logProof(deps.db, recording.environment, manifestEntry(recording.manifestSha256 ?? ""));
  if (logged.state === "logged") entries.push(textEntry(proofName, logged.proof));
  if (recording.deletedAt) return entries;
  const messages = await messagesOf(deps.db, deps.secrets, recording);
  if (messages.length > 0) entries.push(textEntry("messages.jsonl", messagesText(messages)));
  for (const [take, file] of await recordedTakes(deps, recording, parts))
    entries.push({ name: `takes/${take}.webm`, length: file.length, bytes: () => file.pieces() });
  return entries;
}

/** A zip that is created while it is sent. */
export const zipFile = ({ memory }: Pick<Blobs, "memory">, holder: Holder, entries: readonly Entry[]): StoredFile =>
  storedFile({ memory, holder }, zipLength(entries), { pieces: (range) => zipped(entries, range) });

export function textEntry(name: string, text: string): ExportEntry {
  const bytes = Buffer.from(text);
  return { name, length: bytes.length, bytes: () => [bytes], text };
}

/**
 * The files of a recording with their names and lengths, to store with an export.
 * @param folder the folder of the recording in the zip
 */
export const fixedFiles = (recordingId: string, entries: readonly ExportEntry[], folder = ""): NewFile[] =>
  entries.map(({ name, length, text }) => ({
    recordingId,
    name: folder + name,
    length,
    proof: name === proofName ? (text ?? null) : null,
  }));
