/**
 * All records of a notary as one zip: all recordings, and a copy of the journal. U.S. states require these records when
 * a commission ends, or when the service closes.
 */
import { auditLine, findLine } from "../../../kernel/audit/audit.ts";
import type { Environment } from "../../../kernel/identity/identity.ts";
import type { Sql } from "../../../kernel/platform/database/database.ts";
import { sql } from "../../../kernel/platform/database/sql.ts";
import { newUuid } from "../../../kernel/platform/ids.ts";
import { defineMail } from "../../../kernel/platform/mail/mail-jobs.ts";
import type { RowMac } from "../../../kernel/platform/row-mac.ts";
import { exportJournal } from "../acts/export.ts";
import { findNotary, type Notary } from "../commissions/store.ts";
import { accepted, formReader, type Typed } from "../form-reader.ts";
import { filesOf, fixedFiles } from "./export.ts";
import { type Contents, insertExport, type Listed, type NewFile } from "./export-rows.ts";
import { byWhom, type KeepDeps, requireReason } from "./keep.ts";
import { isAway } from "./read.ts";
import { recordingById } from "./store.ts";

export type EverythingDeps = KeepDeps & { rowMac: RowMac };

type Which = { notary: Pick<Notary, "id" | "commissionName">; environment: Environment };

/** Both days are included. Null means without limit. */
type Period = { from: string | null; to: string | null };

function readPeriod(typed: Typed): Period {
  const read = formReader(typed);
  return accepted(read.done({ from: read.date("from"), to: read.date("to") }));
}

const action = "notary.records_exported";

/**
 * Exports the notary's whole journal, and the notary's recordings of an environment. A period may limit the export to
 * recordings that began in it. An altered record does not stop the export: the list of contents names it. A recording
 * that has not ended is only listed. Writes to the audit log, and mails the notary.
 * @returns the export's id
 * @throws ServiceError `validation` naming every wrong field
 */
export async function exportEverything(
  deps: EverythingDeps,
  which: Which,
  typed: Typed,
  actor: string,
): Promise<string> {
  const { db, clock } = deps;
  const { notary, environment } = which;
  const reason = requireReason({ actor, reason: typed["reason"] ?? "" });
  const period = readPeriod(typed);
  const at = clock();
  const id = newUuid();
  const files: NewFile[] = [];
  const journal = await journalOf(deps, which, { at, actor, files });
  const recordings: Listed[] = [];
  for (const found of await recordingsOf(db, which, period)) recordings.push(await listed(deps, found, files));
  const contents = { name: notary.commissionName, ...period, journal, recordings };
  const record = { id, notaryId: notary.id, environment, actor, recordingId: null, contents, createdAt: at };
  await db.transaction(async (tx) => {
    await insertExport(tx, record, files);
    const detail = { notary: notary.id, environment, ...period, recordings: recordings.length, reason, export: id };
    await tx.query(auditLine({ at, action, actor, detail }));
    await recordsMail.enqueue(tx, { notaryId: notary.id, actor, at: at.toISOString() });
  });
  return id;
}

type Found = { id: string; startedAt: Date };

const recordingsOf = (db: Sql, { notary, environment }: Which, { from, to }: Period): Promise<Found[]> =>
  db.query<Found>(sql`
    SELECT id, started_at AS "startedAt" FROM recordings
    WHERE notary_id = ${notary.id} AND environment = ${environment}
      AND (${from}::date IS NULL OR started_at >= ${from}::date::timestamp AT TIME ZONE 'UTC')
      AND (${to}::date IS NULL OR started_at < (${to}::date + 1)::timestamp AT TIME ZONE 'UTC')
    ORDER BY started_at, id`);

/** Adds a copy of the journal to the files of the export. */
async function journalOf(
  deps: EverythingDeps,
  { notary }: Which,
  { at, actor, files }: { at: Date; actor: string; files: NewFile[] },
): Promise<Contents["journal"]> {
  try {
    const { json, entries } = await exportJournal({ ...deps, clock: () => at }, notary, actor);
    files.push({ recordingId: null, name: "journal.json", length: Buffer.byteLength(json), proof: null });
    return { entries };
  } catch (error) {
    return { fault: faultOf(error) };
  }
}

/** Adds the files of a recording, in a folder with the recording's name. */
async function listed({ db, ...deps }: EverythingDeps, { id, startedAt }: Found, files: NewFile[]): Promise<Listed> {
  const about = { recording: id, startedAt: startedAt.toISOString() };
  try {
    const recording = await recordingById(db, id);
    if (recording.endedAt === null) return { ...about, state: "not_ended" };
    files.push(...fixedFiles(id, await filesOf({ ...deps, db }, recording), folderOf(id)));
    return { ...about, state: recording.deletedAt ? "deleted" : "exported" };
  } catch (error) {
    return { ...about, state: "faulty", fault: faultOf(error) };
  }
}

export const folderOf = (recording: string): string => `recordings/${recording}/`;

/**
 * The message of an error that an altered record caused.
 * @throws the given error if it has another cause (`isAway`), for example a database that does not answer
 */
export function faultOf(error: unknown): string {
  if (!(error instanceof Error) || isAway(error)) throw error;
  return error.message;
}

/**
 * The mail about an export. A payload contains no typed text, so the mail gets the person's reason from the audit log.
 */
type RecordsMail = { notaryId: string; actor: string; at: string };

export const recordsMail = defineMail({
  queue: "notary-records-mail",
  async load({ notaryId, actor, at }: RecordsMail, { db }) {
    const notary = await findNotary(db, notaryId);
    const line = await findLine<{ reason: string; recordings: number }>(
      db,
      sql`actor = ${actor} AND action = ${action} AND detail ->> 'notary' = ${notaryId} AND occurred_at = ${new Date(at)}`,
    );
    if (!notary || !line) return undefined;
    const { reason, recordings } = line.detail;
    return { reason, recordings, to: notary.email, by: byWhom(actor, notary) };
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
