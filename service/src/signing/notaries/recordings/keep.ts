/** Who looks at recordings, and how long they are kept. */
import { auditLine } from "../../../kernel/audit/audit.ts";
import type { StoredFile } from "../../../kernel/platform/blobs/stored-file.ts";
import { type Clock, hourMs } from "../../../kernel/platform/clock.ts";
import type { Database, Tx } from "../../../kernel/platform/database/database.ts";
import { sql } from "../../../kernel/platform/database/sql.ts";
import { invalid, ServiceError } from "../../../kernel/platform/errors.ts";
import { defineMail } from "../../../kernel/platform/mail/mail-jobs.ts";
import { isPlainText } from "../../../kernel/platform/text.ts";
import { listNotaries } from "../commissions/store.ts";
import { exportedRecording } from "./export.ts";
import { playableTake } from "./playback.ts";
import type { ReadDeps } from "./read.ts";
import { changeRecording, forgetBlobs, lockRecording, type Recording, recordingById } from "./store.ts";

export type KeepDeps = ReadDeps & { db: Database; clock: Clock };

/** Somebody who looks: the notary, or an operator who gives a reason. */
export type Viewer = {
  readonly actor: string;
  readonly isNotary: boolean;
  readonly reason: string;
};

const longestReason = 500;

type Looked = "played" | "exported";

/** A take to play, logged; the notary is mailed when somebody else looks. @throws ServiceError naming the field and the rule */
export async function playTake(deps: KeepDeps, id: string, take: number, viewer: Viewer): Promise<StoredFile> {
  const recording = await looked(deps, id, viewer, "played", { take });
  return playableTake(deps, recording, take);
}

/** Manifest, chain and takes as a zip, logged as playing is. */
export async function exportRecording(deps: KeepDeps, id: string, viewer: Viewer): Promise<StoredFile> {
  const recording = await looked(deps, id, viewer, "exported", {});
  return exportedRecording(deps, recording);
}

async function looked(deps: KeepDeps, id: string, viewer: Viewer, how: Looked, more: { take?: number }) {
  const reason = viewer.reason.trim();
  if (!viewer.isNotary && reason === "") throw invalid("reason must say why you look at another’s recording");
  if (!isPlainText(reason)) throw invalid("reason must be one line of plain text");
  if (reason.length > longestReason) throw invalid(`reason must have at most ${longestReason} characters`);
  const recording = await recordingById(deps.db, id);
  if (recording.deletedAt) throw new ServiceError("not_found", "The recording was deleted.");
  if (!recording.endedAt) throw new ServiceError("conflict", "The recording has not ended.");
  const at = deps.clock();
  await deps.db.transaction(async (tx) => {
    if (!viewer.isNotary) await mailNotary(tx, recording, viewer, how, at);
    const detail = { recording: id, ...more, ...(reason !== "" && { reason }) };
    await tx.query(
      auditLine({ at, action: `recording.${how}`, actor: viewer.actor, orderId: recording.orderId, detail }),
    );
  });
  return recording;
}

/** A player asks for many ranges: the notary hears of each person once an hour. */
async function mailNotary(tx: Tx, { id }: Recording, { actor }: Viewer, how: Looked, at: Date): Promise<void> {
  const [before] = await tx.query(sql`
    SELECT FROM audit_log WHERE actor = ${actor} AND action = ${`recording.${how}`}
      AND detail ->> 'recording' = ${id} AND occurred_at > ${new Date(at.getTime() - hourMs)} LIMIT 1`);
  if (!before) await recordingMail.enqueue(tx, { recording: id, actor, how, at: at.toISOString() });
}

/** No words of people: those are in the audit log. */
type RecordingMail = { recording: string; actor: string; how: Looked; at: string };

export const recordingMail = defineMail({
  queue: "notary-recording-mail",
  async load({ recording, actor, how, at }: RecordingMail, { db }) {
    const { notaryId, startedAt } = await recordingById(db, recording);
    const notary = (await listNotaries(db)).find(({ id }) => id === notaryId);
    const [line] = await db.query<{ reason: string }>(sql`
      SELECT detail ->> 'reason' AS reason FROM audit_log WHERE actor = ${actor} AND action = ${`recording.${how}`}
        AND detail ->> 'recording' = ${recording} AND occurred_at = ${new Date(at)} LIMIT 1`);
    return notary && line && { to: notary.email, startedAt, reason: line.reason };
  },
  write: ({ to, startedAt, reason }, { recording, actor, how, at }, { baseUrl }) => ({
    id: `notary-recording:${recording}:${actor}:${at}`,
    to,
    subject: how === "played" ? "A recording of yours was played" : "A recording of yours was exported",
    greeting: "Hello,",
    lines: [
      `An operator ${how} the recording of your session of ${startedAt.toISOString().slice(0, 16).replace("T", " ")} UTC.`,
      `The reason that was given: ${reason}`,
    ],
    link: { label: "Open the notary desk", url: `${baseUrl}/operator/notary` },
    caution: "If you do not know why, ask the operator of this service. The audit log has each time, and who it was.",
  }),
});

/** Stops deletion, as a court may ask, or allows it again. */
export async function holdRecording(deps: KeepDeps, id: string, isHeld: boolean, actor: string): Promise<void> {
  await recordingById(deps.db, id);
  const at = deps.clock();
  await deps.db.transaction(async (tx) => {
    const recording = await lockRecording(tx, id);
    if (recording.deletedAt) throw new ServiceError("conflict", "The recording was deleted.");
    if (recording.isHeld === isHeld) return;
    await changeRecording(tx, id, { isHeld });
    const action = isHeld ? "recording.held" : "recording.released";
    await tx.query(auditLine({ at, action, actor, orderId: recording.orderId, detail: { recording: id } }));
  });
}

/** Recordings of a notary whose time is over. Nothing is deleted before the notary says so. */
export const dueRecordings = (db: Database, notaryId: string, now: Date) =>
  db.query<{ id: string; keepUntil: string }>(sql`
    SELECT id, keep_until::text AS "keepUntil" FROM recordings
    WHERE notary_id = ${notaryId} AND ended_at IS NOT NULL AND deleted_at IS NULL AND NOT is_held
      AND keep_until < ${now.toISOString().slice(0, 10)}::date ORDER BY keep_until, id`);

/**
 * Deletes a recording whose time is over. Its key goes first, so that the bytes in a backup open nothing; hashes and manifest stay.
 * @throws ServiceError `conflict` for one that is held or not due
 */
export async function deleteRecording(deps: KeepDeps, id: string, actor: string): Promise<void> {
  const { db, clock, blobs } = deps;
  await recordingById(db, id);
  const at = clock();
  const removed = await db.transaction(async (tx) => {
    const recording = await lockRecording(tx, id);
    if (recording.deletedAt) return [];
    if (!recording.endedAt) throw new ServiceError("conflict", "The recording has not ended.");
    if (recording.isHeld) throw new ServiceError("conflict", "The recording is held: nothing of it is deleted.");
    if (recording.keepUntil >= at.toISOString().slice(0, 10))
      throw new ServiceError("conflict", `The recording is kept until ${recording.keepUntil}.`);
    await changeRecording(tx, id, { deletedAt: at });
    const detail = { recording: id, manifestSha256: recording.manifestSha256 };
    await tx.query(auditLine({ at, action: "recording.deleted", actor, orderId: recording.orderId, detail }));
    return forgetBlobs(tx, id);
  });
  for (const key of removed) await blobs.discard(key);
}
