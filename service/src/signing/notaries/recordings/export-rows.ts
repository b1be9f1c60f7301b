/**
 * The rows of exports. An export stores the names and lengths of the files in its zip, so that an interrupted download
 * can be resumed.
 */
import type { Environment } from "../../../kernel/identity/identity.ts";
import { dayMs } from "../../../kernel/platform/clock.ts";
import type { Database, Sql, Tx } from "../../../kernel/platform/database/database.ts";
import { sql } from "../../../kernel/platform/database/sql.ts";
import {
  type Marked,
  marked,
  type StateMac,
  verified,
  writeStateMacs,
} from "../../../kernel/platform/database/state-mac.ts";
import { stateRows } from "../../../kernel/platform/protected-data.ts";
import { isUuid } from "../../../kernel/platform/text.ts";

/** How long an export can be downloaded. A slow connection needs a day for 100 GB. */
const exportDays = 3;

/** A recording in the list of `contents.json`, the last file of an export of everything. */
export type Listed = {
  recording: string;
  startedAt: string;
  state: "exported" | "deleted" | "not_ended" | "faulty";
  fault?: string;
};

export type Contents = {
  name: string;
  from: string | null;
  to: string | null;
  journal: { entries: number } | { fault: string };
  recordings: Listed[];
};

export type Export = {
  id: string;
  notaryId: string;
  environment: Environment;
  actor: string;
  /** The recording that is exported; null for an export of everything, which has `contents`. */
  recordingId: string | null;
  contents: Contents | null;
  createdAt: Date;
};

export type NewFile = {
  /** The recording to which the file belongs; null for the journal. */
  recordingId: string | null;
  name: string;
  length: number;
  /**
   * For the file with the transparency log's proof, the text of that proof; null for other files. It is stored, because
   * a later proof would have other bytes.
   */
  proof: string | null;
};

export type ExportFile = NewFile & {
  id: number;
  /** The CRC-32 of a file that was read completely; null before that, and for a file with a fault. */
  sum: number | null;
  /** The reason why the file ends early, before bytes that can't be read; null for a whole file. */
  fault: string | null;
};

/** An export gives access to recordings, so the MAC covers every column. */
const exportState: StateMac = {
  table: sql`recording_exports`,
  key: sql`id`,
  mac: sql`row_mac`,
  covered: (e) => sql`${e}.id, ${e}.notary_id, ${e}.environment, ${e}.actor, ${e}.recording_id, ${e}.contents,
    extract(epoch FROM ${e}.created_at)`,
};

const fileState: StateMac = {
  table: sql`recording_export_files`,
  key: sql`id`,
  mac: sql`row_mac`,
  covered: (f) =>
    sql`${f}.id, ${f}.export_id, ${f}.n, ${f}.recording_id, ${f}.name, ${f}.length, ${f}.proof, ${f}.sum, ${f}.fault`,
};

export const exportTables = [stateRows(exportState), stateRows(fileState)];

/** The most files that one statement inserts. With more files, the update of their MACs would be slow. */
const filesAtOnce = 500;

export async function insertExport(tx: Tx, record: Export, files: readonly NewFile[]): Promise<void> {
  const { id, contents } = record;
  await tx.query(sql`
    INSERT INTO recording_exports (id, notary_id, environment, actor, recording_id, contents, created_at)
    VALUES (${id}, ${record.notaryId}, ${record.environment}, ${record.actor}, ${record.recordingId},
      ${contents && JSON.stringify(contents)}::jsonb, ${record.createdAt})`);
  await writeStateMacs(tx, exportState, sql`id = ${id}`);
  for (let from = 0; from < files.length; from += filesAtOnce) {
    const some = files.slice(from, from + filesAtOnce).map((file, index) => ({ ...file, n: from + index }));
    await tx.query(sql`
      INSERT INTO recording_export_files (export_id, n, recording_id, name, length, proof)
      SELECT ${id}, n, "recordingId", name, length, proof FROM json_to_recordset(${JSON.stringify(some)}::json)
        AS file (n int, "recordingId" uuid, name text, length bigint, proof text)`);
    await writeStateMacs(tx, fileState, sql`export_id = ${id} AND n >= ${from}`);
  }
}

/**
 * An export of this actor that can still be downloaded.
 * @throws ServiceError `unavailable` for an altered row
 */
export async function findExport(db: Sql, id: string, actor: string, now: Date): Promise<Export | undefined> {
  if (!isUuid(id)) return undefined;
  const [found] = await db.query<Export>(sql`
    SELECT id, notary_id AS "notaryId", environment, actor, recording_id AS "recordingId", contents, created_at AS "createdAt",
      ${verified(exportState, sql`recording_exports`)}
    FROM recording_exports WHERE id = ${id} AND actor = ${actor} AND created_at > ${oldest(now)}`);
  return found;
}

/** An export that can still be downloaded, as a list shows it. */
export type ExportOnList = Pick<Export, "id" | "createdAt"> & {
  notary: string;
  /** The start of the exported recording; null for an export of everything. */
  startedAt: Date | null;
  /** `from` and `to`: the first and the last day of an export of everything; null without limit. */
  from: string | null;
  to: string | null;
  until: Date;
};

const maxExportsShown = 100;

/** The newest exports that an actor can still download. Rows that were altered, and deleted recordings, are left out. */
export async function listExports(
  db: Sql,
  { actor, environment, now }: { actor: string; environment: Environment; now: Date },
): Promise<ExportOnList[]> {
  const found = await db.query<Omit<ExportOnList, "until"> & Marked>(sql`
    SELECT e.id, e.created_at AS "createdAt", n.commission_name AS notary, r.started_at AS "startedAt",
      e.contents ->> 'from' AS from, e.contents ->> 'to' AS to, ${marked(exportState, sql`e`)}
    FROM recording_exports e JOIN notaries n ON n.id = e.notary_id LEFT JOIN recordings r ON r.id = e.recording_id
    WHERE e.actor = ${actor} AND e.environment = ${environment} AND e.created_at > ${oldest(now)} AND r.deleted_at IS NULL
    ORDER BY e.created_at DESC, e.id LIMIT ${maxExportsShown}`);
  return found
    .filter(({ isAuthentic }) => isAuthentic)
    .map((each) => ({ ...each, until: new Date(each.createdAt.getTime() + exportDays * dayMs) }));
}

const oldest = (now: Date): Date => new Date(now.getTime() - exportDays * dayMs);

const fileColumns = sql`id::int, recording_id AS "recordingId", name, length::float8, proof, sum::float8, fault,
  ${verified(fileState, sql`recording_export_files`)}`;

/**
 * The files of an export, in the order that they have in the zip.
 * @throws ServiceError `unavailable` for an altered row
 */
export const filesOfExport = (db: Sql, id: string): Promise<ExportFile[]> =>
  db.query<ExportFile>(sql`SELECT ${fileColumns} FROM recording_export_files WHERE export_id = ${id} ORDER BY n`);

/**
 * Stores the checksum of a file that was read completely. For a file that ends early, stores the length and the fault
 * instead.
 */
export const changeFile = (
  db: Database,
  id: number,
  change: { length: number } & ({ sum: number } | { fault: string }),
) =>
  db.transaction(async (tx) => {
    const [file] = await tx.query<ExportFile>(
      sql`SELECT ${fileColumns} FROM recording_export_files WHERE id = ${id} FOR NO KEY UPDATE`,
    );
    // A checksum never replaces an earlier result. A fault does, if the file now ends earlier than before. Nothing is
    // changed if the expired export was deleted.
    if (!file || ("sum" in change ? file.sum !== null || file.length !== change.length : file.length <= change.length))
      return;
    await tx.query(
      "sum" in change
        ? sql`UPDATE recording_export_files SET sum = ${change.sum} WHERE id = ${id}`
        : sql`UPDATE recording_export_files SET length = ${change.length}, fault = ${change.fault}, sum = NULL WHERE id = ${id}`,
    );
    await writeStateMacs(tx, fileState, sql`id = ${id}`);
  });

/** Deletes expired exports. Their lines in the audit log stay. */
export async function sweepExports({ db, clock }: { db: Sql; clock: () => Date }): Promise<void> {
  await db.query(sql`DELETE FROM recording_exports WHERE created_at <= ${oldest(clock())}`);
}
