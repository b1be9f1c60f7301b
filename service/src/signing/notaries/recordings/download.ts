/** Downloads of exports. The zip is created while it is sent, and an interrupted download can be resumed. */
import { crc32 } from "node:zlib";
import { auditLine } from "../../../kernel/audit/audit.ts";
import type { StoredFile } from "../../../kernel/platform/blobs/stored-file.ts";
import type { Sql } from "../../../kernel/platform/database/database.ts";
import { ServiceError } from "../../../kernel/platform/errors.ts";
import { sha256Hex } from "../../../providers/providers.ts";
import { journalCopy } from "../acts/export.ts";
import { type EverythingDeps, faultOf, folderOf } from "./everything.ts";
import { filesOf, remains, textEntry, zipFile } from "./export.ts";
import { changeFile, type Export, type ExportFile, filesOfExport, findExport, type Listed } from "./export-rows.ts";
import { playable } from "./keep.ts";
import { markedRecordings, type Recording, recordingById } from "./store.ts";
import type { Entry } from "./zip.ts";

/**
 * An export that this operator created and can still download.
 * @throws ServiceError `not_found` for any other export, and for an expired one
 */
export async function exportOf({ db, clock }: EverythingDeps, id: string, actor: string): Promise<Export> {
  const found = await findExport(db, id, actor, clock());
  if (!found)
    throw new ServiceError("not_found", "There is no such export, or it is older than three days. Export again.");
  return found;
}

type Download = {
  file: StoredFile;
  /** The HTTP entity tag of the zip (RFC 9110, section 8.8.3). The tag changes whenever any byte of the zip changes. */
  etag: string;
  name: string;
};

/**
 * For each recording in an export of everything, by its id: the client's order that it belongs to now, and when it was
 * deleted. Lacks recordings whose rows were altered.
 */
type Present = ReadonlyMap<string, Pick<Recording, "orderId" | "deletedAt">>;

async function presentOf(db: Sql, ids: readonly string[]): Promise<Present> {
  const found = await markedRecordings(db, ids);
  return new Map(found.filter(({ isAuthentic }) => isAuthentic).map((each) => [each.id, each]));
}

/**
 * Opens the zip of an export. Records each request in the audit log.
 * @param range the HTTP range that the request names; null for the whole zip
 */
export async function openExport(deps: EverythingDeps, record: Export, range: string | null): Promise<Download> {
  const { db, clock, blobs } = deps;
  const { id, notaryId, recordingId, contents, actor } = record;
  const recording = recordingId === null ? null : playable(await recordingById(db, recordingId));
  const present = await presentOf(db, contents?.recordings.map((each) => each.recording) ?? []);
  const files = (await filesOfExport(db, id)).filter(
    (file) => !present.get(file.recordingId ?? "")?.deletedAt || remains(nameInRecording(file)),
  );
  const entries: Entry[] = entriesOf(deps, record, { files, present });
  const last = contents && contentsText(record, contents, { files, present });
  if (last !== null) entries.push(textEntry("contents.json", last));
  const etag = sha256Hex(JSON.stringify([id, files.map(({ name, length }) => [name, length]), last]));
  const what = recordingId === null ? { notary: notaryId } : { recording: recordingId };
  const detail = { ...what, export: id, ...(range !== null && { range: range.slice(0, 100) }) };
  const line = { at: clock(), action: "recording_export.downloaded", actor, orderId: recording?.orderId, detail };
  await db.query(auditLine(line));
  const name = recordingId === null ? `records-${notaryId}.zip` : `recording-${recordingId}.zip`;
  return { file: zipFile(blobs, `notary ${notaryId}`, entries), etag: `"${etag}"`, name };
}

/** Derives a file's name in the export of one recording from its name in an export of everything. */
function nameInRecording({ recordingId, name }: ExportFile): string {
  const folder = folderOf(recordingId ?? "");
  return name.startsWith(folder) ? name.slice(folder.length) : name;
}

type Content = { files: readonly ExportFile[]; present: Present };

/** The text of `contents.json`, the list of an export of everything. It includes the faults that were found so far. */
function contentsText(
  { notaryId, environment, createdAt }: Export,
  { name, from, to, journal, recordings }: NonNullable<Export["contents"]>,
  { files, present }: Content,
): string {
  const faults = new Map(files.flatMap(({ recordingId, fault }) => (fault === null ? [] : [[recordingId, fault]])));
  const fault = faults.get(null);
  const now = (each: Listed): Listed => {
    if (faults.has(each.recording)) return { ...each, state: "faulty", fault: faults.get(each.recording) ?? "" };
    const isDeleted = each.state === "exported" && present.get(each.recording)?.deletedAt;
    return isDeleted ? { ...each, state: "deleted" } : each;
  };
  return `${JSON.stringify(
    {
      notary: notaryId,
      name,
      environment,
      exportedAt: createdAt.toISOString(),
      from,
      to,
      journal: fault === undefined ? journal : { fault },
      recordings: recordings.map(now),
    },
    null,
    2,
  )}\n`;
}

function entriesOf(deps: EverythingDeps, record: Export, { files, present }: Content): Entry[] {
  const { db, clock } = deps;
  const bytesOf = readerOf(deps, record);
  const logged = new Set<string>();

  /**
   * Yields the bytes of a file. If some bytes can't be read, the download fails.
   *
   * In an export of everything, the file's entry then ends before these bytes. That changes the zip, so the download
   * must begin again. All later files are checked before it fails, so that it must begin again only once.
   */
  async function* read(file: ExportFile): AsyncGenerator<Buffer> {
    let length = 0;
    try {
      for await (const piece of bytesOf(file)) {
        length += piece.length;
        yield piece;
      }
    } catch (error) {
      if (record.contents) {
        await endAt(length, file, error);
        // Skips a file that has a checksum, because it was already read completely. But the other files of the faulty
        // file's recording are checked again, because they may have been altered since.
        for (const next of files.slice(files.indexOf(file) + 1))
          if (next.sum === null || next.recordingId === file.recordingId) yield* tryOut(next);
      }
      throw error;
    }
  }

  /**
   * Reads a file to the end, and stores its checksum or its fault. Yields an empty piece after each read, so that the
   * reading stops when the receiver disconnects.
   */
  async function* tryOut(file: ExportFile): AsyncGenerator<Buffer> {
    let [length, sum] = [0, 0];
    try {
      for await (const piece of bytesOf(file)) {
        length += piece.length;
        sum = crc32(piece, sum);
        yield Buffer.alloc(0);
      }
    } catch (error) {
      return endAt(length, file, error);
    }
    await changeFile(db, file.id, { length, sum });
  }

  /**
   * Stores the length at which a file ends from now on, and the fault that is the reason.
   * @throws the given error if it is not a fault of the file: the database or the store does not answer now, or the
   * recording was deleted since the download began
   */
  async function endAt(length: number, { id, recordingId }: ExportFile, error: unknown): Promise<void> {
    const fault = faultOf(error);
    if (recordingId !== null && (await presentOf(db, [recordingId])).get(recordingId)?.deletedAt) throw error;
    await changeFile(db, id, { length, fault });
  }

  /** Writes to the audit log, once for each recording, that a download of everything sends the recording's bytes. */
  async function logSending({ recordingId }: ExportFile): Promise<void> {
    if (!record.contents || recordingId === null || logged.has(recordingId)) return;
    logged.add(recordingId);
    const detail = { recording: recordingId, export: record.id };
    const { orderId } = present.get(recordingId) ?? {};
    await db.query(auditLine({ at: clock(), action: "recording.exported", actor: record.actor, orderId, detail }));
  }

  return files.map((file) => ({
    name: file.name,
    length: file.length,
    sum: file.sum,
    bytes: () => read(file),
    sending: () => logSending(file),
    summed: async (sum) => void (file.sum === null && (await changeFile(db, file.id, { length: file.length, sum }))),
  }));
}

/** Returns a function that reads the bytes of a file, up to its length. */
function readerOf(deps: EverythingDeps, { notaryId, contents, createdAt }: Export) {
  let read: { recording: string; entries: readonly Entry[] } | null = null;

  async function entriesOfRecording(recording: string): Promise<readonly Entry[]> {
    if (read?.recording !== recording)
      read = { recording, entries: await filesOf(deps, await recordingById(deps.db, recording)) };
    return read.entries;
  }

  async function wholeOf(file: ExportFile): Promise<ReturnType<Entry["bytes"]>> {
    const { recordingId, proof } = file;
    if (proof !== null) return [Buffer.from(proof)];
    if (recordingId !== null) {
      const own = nameInRecording(file);
      const entry = (await entriesOfRecording(recordingId)).find(({ name }) => name === own);
      if (!entry) throw new ServiceError("not_found", `The recording no longer has ${own}.`);
      return entry.bytes();
    }
    const entries = contents && "entries" in contents.journal ? contents.journal.entries : 0;
    const notary = { id: notaryId, commissionName: contents?.name ?? "" };
    return [Buffer.from((await journalCopy(deps, notary, { at: createdAt, entries })).json)];
  }

  return async function* bytesOf(file: ExportFile): AsyncGenerator<Buffer> {
    let left = file.length;
    if (left === 0) return;
    for await (const piece of await wholeOf(file)) {
      const part = piece.subarray(0, left);
      left -= part.length;
      yield part;
      if (left === 0) return;
    }
    throw new Error("The file is shorter than it was.");
  };
}
