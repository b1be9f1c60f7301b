import { hash } from "node:crypto";
import { canonicalJson, type JsonObject } from "@signsealship/evidence/manifest";
import { sealReasons } from "@signsealship/evidence/seal";
import { type SealDocument, sealOwnDocument } from "../../../evidence/seals/seals.ts";
import { auditLine } from "../../../kernel/audit/audit.ts";
import { type Clock, minuteMs } from "../../../kernel/platform/clock.ts";
import type { Database } from "../../../kernel/platform/database/database.ts";
import type { RowMac } from "../../../kernel/platform/row-mac.ts";
import { ownBuffer, type Task, type Workers } from "../../../kernel/platform/workers/task.ts";
import type { Notary } from "../commissions/store.ts";
import { journalFormat } from "./entry.ts";
import { journalFault, readJournal } from "./journal.ts";

/**
 * The member `notice` of a copy. The sentence can't change: a resumed download of an export makes the copy again, and
 * its bytes must be the same.
 */
const notice = "This is a copy kept for you; your statutory journal is your duty.";

/** A copy of a journal: canonical JSON (docs/notary-journal.md), and the SHA-256 of its bytes in hex. */
export type JournalCopy = { json: string; sha256: string; entries: number };

export type ExportDeps = { db: Database; clock: Clock; rowMac: RowMac };

/**
 * Copies a notary's whole journal. The audit log records who made the copy.
 * @throws Error when the journal was altered
 */
export async function exportJournal(deps: ExportDeps, notary: JournalOwner, actor: string): Promise<JournalCopy> {
  const at = deps.clock();
  const { head, ...copy } = await journalCopy(deps, notary, { at });
  const detail = { notary: notary.id, entries: copy.entries, headSha256: head };
  await deps.db.query(auditLine({ at, action: "notary_journal.read", actor, detail }));
  return copy;
}

export type JournalOwner = Pick<Notary, "id" | "commissionName">;

/**
 * Returns a copy of a journal, which states the time `at` as the time of the export.
 * @param entries how many entries to copy, from the first one on; by default all
 * @throws Error when the journal was altered
 */
export async function journalCopy(
  { db, rowMac }: Pick<ExportDeps, "db" | "rowMac">,
  notary: JournalOwner,
  { at, entries }: { at: Date; entries?: number },
): Promise<JournalCopy & { head: string | null }> {
  const all = await readJournal(db, notary.id);
  const fault = await journalFault({ db, rowMac }, notary.id, all);
  if (fault !== null) throw new Error(`${fault} (notary ${notary.id})`);
  const rows = all.slice(0, entries);
  const head = rows.at(-1)?.sha256 ?? null;
  const json = canonicalJson({
    format: journalFormat,
    notice,
    journal: notary.id,
    name: notary.commissionName,
    exportedAt: at.toISOString(),
    headSha256: head,
    entries: rows.map(({ record }) => JSON.parse(record) as JsonObject),
  });
  return { json, sha256: hash("sha256", json), entries: rows.length, head };
}

const drawing: Task<{ json: string; sha256: string }, Uint8Array> = {
  name: "draw a notary's journal",
  module: import.meta.resolve("./draw-journal-task.ts"),
  limitMs: minuteMs,
};

/** Writes a copy as a sealed PDF with the JSON attached. */
export async function sealJournal(
  { workers, sealDocument }: { workers: Workers; sealDocument: SealDocument },
  notaryId: string,
  { json, sha256 }: JournalCopy,
): Promise<Buffer> {
  const { entries } = JSON.parse(json) as { entries: { environment: string }[] };
  const isLive = entries.length === 0 || entries.some(({ environment }) => environment === "live");
  const drawn = await workers.run(drawing, { holder: notaryId, input: { json, sha256 } });
  const reason = sealReasons.journal[isLive ? "live" : "test"];
  return (await sealOwnDocument(sealDocument, { bytes: ownBuffer(drawn), holder: notaryId, reason })).bytes;
}
