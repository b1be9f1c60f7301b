/**
 * All records of a notary as one zip: all recordings, and a copy of the journal. For a notary whose commission ends,
 * and for a service that closes, because states then ask for the records. The zip is created while it is sent.
 */
import type { Readable } from "node:stream";
import { auditLine } from "../../../kernel/audit/audit.ts";
import type { Environment } from "../../../kernel/identity/identity.ts";
import { streamOf } from "../../../kernel/platform/blobs/stored-file.ts";
import type { Sql } from "../../../kernel/platform/database/database.ts";
import { sql } from "../../../kernel/platform/database/sql.ts";
import { defineMail } from "../../../kernel/platform/mail/mail-jobs.ts";
import type { RowMac } from "../../../kernel/platform/row-mac.ts";
import { exportJournal } from "../acts/export.ts";
import { findNotary, type Notary } from "../commissions/store.ts";
import { accepted, formReader, type Typed } from "../form-reader.ts";
import { filesOf, textEntry } from "./export.ts";
import { byWhom, type KeepDeps, requireReason, type Viewer } from "./keep.ts";
import { recordingById } from "./store.ts";
import { type Entry, zipped } from "./zip.ts";

export type EverythingDeps = KeepDeps & { rowMac: RowMac };

type Which = { notary: Pick<Notary, "id" | "commissionName">; environment: Environment };

/** Both days are included. Null means without limit. */
type Period = { from: string | null; to: string | null };

function readPeriod(typed: Typed): Period {
  const read = formReader(typed);
  return accepted(read.done({ from: read.date("from"), to: read.date("to") }));
}

/** An entry of `contents.json`, which the zip has as its last file. */
type Listed = {
  recording: string;
  startedAt: string;
  state: "exported" | "deleted" | "not_ended" | "faulty";
  fault?: string;
};

const action = "notary.records_exported";

/**
 * Exports the recordings that began in a period, by default all, and the whole journal. A record that was altered or
 * can't be read does not stop the others: the contents name it. The audit log has a line for the export and one for
 * each recording, and the notary is mailed.
 * @throws ServiceError `validation` naming every wrong field
 */
export async function exportEverything(
  deps: EverythingDeps,
  which: Which,
  typed: Typed,
  actor: string,
): Promise<Readable> {
  const { db, clock, blobs } = deps;
  const { notary, environment } = which;
  const viewer = { actor, reason: typed["reason"] ?? "" };
  const reason = requireReason(viewer);
  const period = readPeriod(typed);
  const at = clock();
  const found = await recordingsOf(db, which, period);
  await db.transaction(async (tx) => {
    const detail = { notary: notary.id, environment, ...period, recordings: found.length, reason };
    await tx.query(auditLine({ at, action, actor, detail }));
    await recordsMail.enqueue(tx, { notaryId: notary.id, actor, at: at.toISOString() });
  });
  const contents = {
    notary: notary.id,
    name: notary.commissionName,
    environment,
    exportedAt: at.toISOString(),
    ...period,
  };
  const entries = everythingOf(deps, { which, viewer, found, contents });
  return streamOf({ memory: blobs.memory, holder: `notary ${notary.id}` }, zipped(entries));
}

type Found = { id: string; startedAt: Date };

const recordingsOf = (db: Sql, { notary, environment }: Which, { from, to }: Period): Promise<Found[]> =>
  db.query<Found>(sql`
    SELECT id, started_at AS "startedAt" FROM recordings
    WHERE notary_id = ${notary.id} AND environment = ${environment}
      AND (${from}::date IS NULL OR started_at >= ${from}::date::timestamp AT TIME ZONE 'UTC')
      AND (${to}::date IS NULL OR started_at < (${to}::date + 1)::timestamp AT TIME ZONE 'UTC')
    ORDER BY started_at, id`);

type Exported = { which: Which; viewer: Viewer; found: readonly Found[]; contents: object };

async function* everythingOf(
  deps: EverythingDeps,
  { which, viewer, found, contents }: Exported,
): AsyncGenerator<Entry> {
  let journal: { entries: number } | { fault: string };
  try {
    const { json, entries } = await exportJournal(deps, which.notary, viewer.actor);
    yield textEntry("journal.json", json);
    journal = { entries };
  } catch (error) {
    journal = { fault: (error as Error).message };
  }
  const listed: Listed[] = [];
  for (const each of found) yield* filesOfOne(deps, each, viewer, listed);
  yield textEntry("contents.json", `${JSON.stringify({ ...contents, journal, recordings: listed }, null, 2)}\n`);
}

/** The files of one recording, in a folder of its name. Adds the recording to the list. */
async function* filesOfOne(
  deps: EverythingDeps,
  { id, startedAt }: Found,
  { actor, reason }: Viewer,
  listed: Listed[],
): AsyncGenerator<Entry> {
  const about: Listed = { recording: id, startedAt: startedAt.toISOString(), state: "exported" };
  listed.push(about);
  const fail = (error: unknown) => {
    if (!(error instanceof Error)) throw error;
    Object.assign(about, { state: "faulty", fault: error.message });
  };
  try {
    const recording = await recordingById(deps.db, id);
    if (recording.endedAt === null) {
      about.state = "not_ended";
      return;
    }
    if (recording.deletedAt) about.state = "deleted";
    const files = await filesOf(deps, recording);
    const { orderId } = recording;
    const detail = { recording: id, reason };
    await deps.db.query(auditLine({ at: deps.clock(), action: "recording.exported", actor, orderId, detail }));
    for (const file of files)
      yield { ...file, name: `recordings/${id}/${file.name}`, bytes: () => untilFault(file, fail) };
  } catch (error) {
    fail(error);
  }
}

/** The bytes of a file, up to the first that can't be read. */
async function* untilFault({ bytes }: Entry, fail: (error: unknown) => void): AsyncGenerator<Buffer> {
  try {
    yield* bytes();
  } catch (error) {
    fail(error);
  }
}

/** A mail's payload contains no typed text, so the reason is read from the audit log. */
type RecordsMail = { notaryId: string; actor: string; at: string };

export const recordsMail = defineMail({
  queue: "notary-records-mail",
  async load({ notaryId, actor, at }: RecordsMail, { db }) {
    const notary = await findNotary(db, notaryId);
    const [line] = await db.query<{ reason: string; recordings: number }>(sql`
      SELECT detail ->> 'reason' AS reason, (detail ->> 'recordings')::int AS recordings FROM audit_log
      WHERE actor = ${actor} AND action = ${action} AND detail ->> 'notary' = ${notaryId}
        AND occurred_at = ${new Date(at)} LIMIT 1`);
    return notary && line && { ...line, to: notary.email, by: byWhom(actor, notary) };
  },
  write: ({ to, reason, recordings, by }, { notaryId, actor, at }, { baseUrl }) => ({
    id: `notary-records:${notaryId}:${actor}:${at}`,
    to,
    subject: "Your journal and recordings were exported",
    greeting: "Hello,",
    lines: [
      `Your journal and ${recordings} of your recordings were exported as one file, by ${by}.`,
      `The reason that was given: ${reason}`,
    ],
    link: { label: "Your recordings", url: `${baseUrl}/operator/notary/recordings` },
    caution: "If you do not know why, ask the operator of this service. The audit log has each time, and who it was.",
  }),
});
