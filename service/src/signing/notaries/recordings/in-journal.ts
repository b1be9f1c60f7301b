/** Finds the recording that a notary's journal entry refers to, for recordings of this service. */
import type { Sql } from "../../../kernel/platform/database/database.ts";
import { ServiceError } from "../../../kernel/platform/errors.ts";
import { headAfter, readLine } from "../../../providers/providers.ts";
import type { Act } from "../acts/act.ts";
import type { EntryRecording } from "../acts/entry.ts";
import { lastOfOrder, partsOf, type Recording, recordingById } from "./store.ts";

const entryOf = ({ id, manifestSha256, keepUntil }: Recording, storedAt: string): EntryRecording | null =>
  manifestSha256 === null ? null : { id, sha256: manifestSha256, keptAt: storedAt, keptUntil: keepUntil };

/**
 * Finds the recording that an act names. The act also names the head of the recording's hash chain, and the notary's
 * signature of the act covers that head. Null when the act names no recording of this service.
 * @throws ServiceError `conflict` while the recording is in progress, and when its chain does not have this head
 */
export async function recordingOfAct(
  db: Sql,
  { recording: noted }: Pick<Act, "recording">,
  storedAt: string,
): Promise<EntryRecording | null> {
  if (!noted?.head) return null;
  const { seq } = noted.head;
  const recording = await recordingById(db, noted.head.recording);
  const entry = entryOf(recording, storedAt);
  if (!entry) throw new ServiceError("conflict", "End the session first: the journal names its whole recording.");
  const part = (await partsOf(db, recording.id)).find(({ firstSeq, lastSeq }) => firstSeq <= seq && seq <= lastSeq);
  const text = part?.lines.split("\n")[seq - part.firstSeq];
  if (text === undefined || headAfter(readLine(text)).sha256 !== noted.sha256)
    throw new ServiceError("conflict", "The recording does not have the state that the act names. Note the act again.");
  return entry;
}

/**
 * The newest recording of the order's sessions with this notary. Null when there is none, or it has not ended.
 * Recordings of a notary who had the order before belong to that notary's journal.
 */
export async function recordingOfOrder(
  db: Sql,
  orderId: number,
  notaryId: string,
  storedAt: string,
): Promise<EntryRecording | null> {
  const recording = await lastOfOrder(db, orderId, notaryId);
  return recording ? entryOf(recording, storedAt) : null;
}
