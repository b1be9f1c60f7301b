/**
 * Lets people view, export and hold recordings. They must state a reason. A hold prevents the deletion. The audit log
 * records each access. The notary gets a mail when a recording is opened, exported, held or released.
 */
import { auditLine, findLine } from "../../../kernel/audit/audit.ts";
import type { StoredFile } from "../../../kernel/platform/blobs/stored-file.ts";
import { type Clock, hourMs } from "../../../kernel/platform/clock.ts";
import type { Database, Sql, Tx } from "../../../kernel/platform/database/database.ts";
import { sql } from "../../../kernel/platform/database/sql.ts";
import { invalid, ServiceError } from "../../../kernel/platform/errors.ts";
import { newUuid } from "../../../kernel/platform/ids.ts";
import { defineMail } from "../../../kernel/platform/mail/mail-jobs.ts";
import { isPlainText } from "../../../kernel/platform/text.ts";
import { listNotaries, type Notary } from "../commissions/store.ts";
import { filesOf, fixedFiles } from "./export.ts";
import { insertExport } from "./export-rows.ts";
import { playableTake } from "./playback.ts";
import type { ReadDeps } from "./read.ts";
import { changeRecording, lockRecording, type Recording, recordingById } from "./store.ts";

export type KeepDeps = ReadDeps & { db: Database; clock: Clock };

/** The person who views, exports or holds a recording, and the reason. Even the notary must state a reason. */
export type Viewer = { readonly actor: string; readonly reason: string };

/** How long a viewer may play a recording after opening it. */
const openedMs = hourMs;
const maxReasonLength = 500;

type Action = "opened" | "exported" | "held" | "released";

/**
 * Lets a viewer play a recording for an hour.
 * @throws ServiceError `not_found` for a deleted recording, `conflict` for one that has not ended; otherwise as
 * `requireReason`
 */
export async function openRecording(deps: KeepDeps, id: string, viewer: Viewer): Promise<void> {
  playable(await recordingById(deps.db, id));
  await deps.db.transaction(async (tx) => writeDown(tx, deps, await recordingById(tx, id), viewer, "opened"));
}

/** True if the viewer opened this recording, and stated the reason, within the last hour. */
export async function isOpened({ db, clock }: { db: Sql; clock: Clock }, id: string, actor: string): Promise<boolean> {
  const opened = sql`action = 'recording.opened' AND detail ->> 'recording' = ${id} AND actor = ${actor}
    AND occurred_at > ${new Date(clock().getTime() - openedMs)}`;
  return (await findLine(db, opened)) !== undefined;
}

/**
 * Opens a take (one continuous recording of a person) to play. The viewer must have opened the recording
 * (`openRecording`) within the last hour. The audit log records each request of the player.
 * @param range the HTTP range of bytes to play
 * @throws ServiceError `conflict` when the viewer has not opened the recording in time, or it has not ended; otherwise
 * as `playableTake`
 */
export async function playTake(
  deps: KeepDeps,
  id: string,
  take: number,
  { actor, range = null }: { actor: string; range?: string | null },
): Promise<StoredFile> {
  const recording = playable(await recordingById(deps.db, id));
  if (!(await isOpened(deps, id, actor)))
    throw new ServiceError("conflict", "Open the recording first: say why you look at it.");
  const file = await playableTake(deps, recording, take);
  const detail = { recording: id, take, ...(range !== null && { range: range.slice(0, 100) }) };
  await deps.db.query(
    auditLine({ at: deps.clock(), action: "recording.played", actor, orderId: recording.orderId, detail }),
  );
  return file;
}

/**
 * Exports the manifest, the chain, the messages and the takes as a zip.
 * @returns the export's id
 */
export async function exportRecording(deps: KeepDeps, id: string, viewer: Viewer): Promise<string> {
  const recording = playable(await recordingById(deps.db, id));
  requireReason(viewer);
  const files = fixedFiles(id, await filesOf(deps, recording));
  const { notaryId, environment } = recording;
  const { actor } = viewer;
  const record = {
    id: newUuid(),
    notaryId,
    environment,
    actor,
    recordingId: id,
    contents: null,
    createdAt: deps.clock(),
  };
  await deps.db.transaction(async (tx) => {
    await insertExport(tx, record, files);
    await writeDown(tx, deps, recording, viewer, "exported");
  });
  return record.id;
}

/** Sets a hold on a recording, or removes it. A hold prevents the deletion, for example because of a court order. */
export async function holdRecording(deps: KeepDeps, id: string, isHeld: boolean, viewer: Viewer): Promise<void> {
  await recordingById(deps.db, id);
  await deps.db.transaction(async (tx) => {
    const recording = await lockRecording(tx, id);
    if (recording.deletedAt) throw new ServiceError("conflict", "The recording was deleted.");
    if (recording.isHeld === isHeld)
      throw new ServiceError("conflict", `The recording is ${isHeld ? "held already" : "not held"}.`);
    await changeRecording(tx, id, { isHeld });
    await writeDown(tx, deps, recording, viewer, isHeld ? "held" : "released");
  });
}

export function playable(recording: Recording): Recording {
  if (recording.deletedAt) throw new ServiceError("not_found", "The recording was deleted.");
  if (!recording.endedAt) throw new ServiceError("conflict", "The recording has not ended.");
  return recording;
}

/**
 * Checks the reason that a viewer stated, and returns it trimmed.
 * @throws ServiceError `validation` for an empty reason, a long one, and one that is not a line of plain text
 */
export function requireReason({ reason }: Viewer): string {
  const trimmed = reason.trim();
  if (trimmed === "") throw invalid("reason must say why you do this");
  if (!isPlainText(trimmed)) throw invalid("reason must be one line of plain text");
  if (trimmed.length > maxReasonLength) throw invalid(`reason must have at most ${maxReasonLength} characters`);
  return trimmed;
}

async function writeDown(
  tx: Tx,
  { clock }: Pick<KeepDeps, "clock">,
  recording: Recording,
  viewer: Viewer,
  how: Action,
): Promise<void> {
  const at = clock();
  const { id, orderId } = recording;
  const { actor } = viewer;
  const detail = { recording: id, reason: requireReason(viewer) };
  await tx.query(auditLine({ at, action: `recording.${how}`, actor, orderId, detail }));
  await recordingMail.enqueue(tx, { recording: id, actor, how, at: at.toISOString() });
}

/** The words for the acting person in a mail to the notary. */
export const byWhom = (actor: string, { operatorId }: Pick<Notary, "operatorId">): string =>
  actor === `operator:${operatorId}` ? "you, or somebody with your account" : "an operator";

/**
 * The mail about an action on a recording. A payload contains no typed text, so the mail gets the person's reason from
 * the audit log.
 */
type RecordingMail = { recording: string; actor: string; how: Action; at: string };

const words: Readonly<Record<Action, string>> = {
  opened: "opened to be played",
  exported: "exported",
  held: "held: it is not deleted",
  released: "released: it is deleted when its time is over",
};

export const recordingMail = defineMail({
  queue: "notary-recording-mail",
  async load({ recording, actor, how, at }: RecordingMail, { db }) {
    const { notaryId, startedAt } = await recordingById(db, recording);
    const notary = (await listNotaries(db)).find(({ id }) => id === notaryId);
    const line = await findLine<{ reason: string }>(
      db,
      sql`actor = ${actor} AND action = ${`recording.${how}`} AND detail ->> 'recording' = ${recording}
        AND occurred_at = ${new Date(at)}`,
    );
    return (
      notary &&
      line && {
        to: notary.email,
        startedAt,
        reason: line.detail.reason,
        by: byWhom(actor, notary),
      }
    );
  },
  write: ({ to, startedAt, reason, by }, { recording, actor, how, at }, { baseUrl }) => ({
    id: `notary-recording:${recording}:${actor}:${how}:${at}`,
    to,
    subject: `A recording of yours was ${how}`,
    greeting: "Hello,",
    lines: [
      `The recording of your session of ${startedAt.toISOString().slice(0, 16).replace("T", " ")} UTC was ${words[how]}, by ${by}.`,
      `The reason that was given: ${reason}`,
    ],
    link: { label: "Open the recording", url: `${baseUrl}/operator/notary/recordings/${recording}` },
    caution: "If you do not know why, ask the operator of this service. The audit log has each time, and who it was.",
  }),
});
