/** Downloads of exports. The zip is created while it is sent, and a download that broke off can be continued. */
import { auditLine } from "../../../kernel/audit/audit.ts";
import type { StoredFile } from "../../../kernel/platform/blobs/stored-file.ts";
import { ServiceError } from "../../../kernel/platform/errors.ts";
import { sha256Hex } from "../../../providers/providers.ts";
import { journalCopy } from "../acts/export.ts";
import { type EverythingDeps, faultOf, folderOf } from "./everything.ts";
import { filesOf, textEntry, zipFile } from "./export.ts";
import { changeFile, type Export, type ExportFile, filesOfExport, findExport } from "./export-rows.ts";
import { playable } from "./keep.ts";
import { recordingById } from "./store.ts";
import type { Entry } from "./zip.ts";

/** @throws ServiceError `not_found` for an export of somebody else, and for one that is too old */
export async function exportOf({ db, clock }: EverythingDeps, id: string, actor: string): Promise<Export> {
  const found = await findExport(db, id, actor, clock());
  if (!found) throw new ServiceError("not_found", "There is no such export, or its days are over. Export again.");
  return found;
}

type Download = {
  file: StoredFile;
  /** Changes with every byte of the zip (RFC 9110, section 8.8.3). */
  etag: string;
  name: string;
};

/**
 * Opens the zip of an export. The audit log has each request for it.
 * @param range the bytes that the request names
 */
export async function openExport(deps: EverythingDeps, made: Export, range: string | null): Promise<Download> {
  const { db, clock, blobs } = deps;
  const { id, notaryId, recordingId, contents, actor } = made;
  if (recordingId !== null) playable(await recordingById(db, recordingId));
  const files = await filesOfExport(db, id);
  const entries: Entry[] = entriesOf(deps, made, files);
  const last = contents && contentsText(made, contents, files);
  if (last !== null) entries.push(textEntry("contents.json", last));
  const etag = sha256Hex(JSON.stringify([id, files.map(({ name, length }) => [name, length]), last]));
  const what = recordingId === null ? { notary: notaryId } : { recording: recordingId };
  const detail = { ...what, export: id, ...(range !== null && { range: range.slice(0, 100) }) };
  await db.query(auditLine({ at: clock(), action: "recording_export.downloaded", actor, detail }));
  const name = recordingId === null ? `records-${notaryId}.zip` : `recording-${recordingId}.zip`;
  return { file: zipFile(blobs, `notary ${notaryId}`, entries), etag: `"${etag}"`, name };
}

/** The list of an export of everything, with the faults that were found so far. */
function contentsText(
  { notaryId, environment, createdAt }: Export,
  { name, from, to, journal, recordings }: NonNullable<Export["contents"]>,
  files: readonly ExportFile[],
): string {
  const faults = new Map(files.flatMap(({ recordingId, fault }) => (fault === null ? [] : [[recordingId, fault]])));
  const fault = faults.get(null);
  return `${JSON.stringify(
    {
      ...{ notary: notaryId, name, environment, exportedAt: createdAt.toISOString(), from, to },
      journal: fault === undefined ? journal : { fault },
      recordings: recordings.map((each) =>
        faults.has(each.recording) ? { ...each, state: "faulty", fault: faults.get(each.recording) } : each,
      ),
    },
    null,
    2,
  )}\n`;
}

function entriesOf(deps: EverythingDeps, made: Export, files: readonly ExportFile[]): Entry[] {
  const { db } = deps;
  const bytesOf = readerOf(deps, made);

  /**
   * The bytes of a file. If some can't be read, the export is another from now on: the file ends before them. Reads the
   * files behind it, too, so that a download begins again once, and not once for each fault.
   */
  async function* read(file: ExportFile): AsyncGenerator<Buffer> {
    let length = 0;
    try {
      for await (const piece of bytesOf(file)) {
        length += piece.length;
        yield piece;
      }
    } catch (error) {
      if (made.contents) {
        await endAt(length, file, error);
        for (const next of files.slice(files.indexOf(file) + 1)) await tryOut(next);
      }
      throw error;
    }
  }

  async function tryOut(file: ExportFile): Promise<void> {
    let length = 0;
    try {
      for await (const piece of bytesOf(file)) length += piece.length;
    } catch (error) {
      await endAt(length, file, error);
    }
  }

  /** @throws the error of a database or store that does not answer now, which is not a fault of the file */
  const endAt = (length: number, { id }: ExportFile, error: unknown) =>
    changeFile(db, id, { length, fault: faultOf(error) });

  return files.map((file) => ({
    name: file.name,
    length: file.length,
    sum: file.sum,
    bytes: () => read(file),
    summed: async (sum) => void (file.sum === null && (await changeFile(db, file.id, { sum }))),
  }));
}

/** Returns a function that reads the bytes of a file, up to its length. */
function readerOf(deps: EverythingDeps, { id, notaryId, actor, contents, createdAt }: Export) {
  const { db, clock } = deps;
  let read: { recording: string; entries: readonly Entry[] } | null = null;

  async function entriesOfRecording(recordingId: string, sum: number | null): Promise<readonly Entry[]> {
    if (read?.recording === recordingId) return read.entries;
    const recording = await recordingById(db, recordingId);
    const entries = await filesOf(deps, recording);
    if (contents && sum === null) {
      const detail = { recording: recordingId, export: id };
      const { orderId } = recording;
      await db.query(auditLine({ at: clock(), action: "recording.exported", actor, orderId, detail }));
    }
    read = { recording: recordingId, entries };
    return entries;
  }

  async function wholeOf({ recordingId, name, proof, sum }: ExportFile): Promise<ReturnType<Entry["bytes"]>> {
    if (proof !== null) return [Buffer.from(proof)];
    if (recordingId !== null) {
      const own = contents ? name.slice(folderOf(recordingId).length) : name;
      const entry = (await entriesOfRecording(recordingId, sum)).find((each) => each.name === own);
      if (!entry) throw new ServiceError("not_found", "The recording was deleted.");
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
