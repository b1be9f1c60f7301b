import { hash } from "node:crypto";
import { auditLine, findLine } from "../../../kernel/audit/audit.ts";
import type { Sql, Tx } from "../../../kernel/platform/database/database.ts";
import { type Statement, sql } from "../../../kernel/platform/database/sql.ts";
import { AlteredRecordError } from "../../../kernel/platform/errors.ts";
import type { MacTable } from "../../../kernel/platform/protected-data.ts";
import type { Members, RowMac } from "../../../kernel/platform/row-mac.ts";
import { fromOrders, hasOrderCode, joinOrder } from "../../../orders/order/order.ts";
import { isSignedInRoom, verifiedEnvelopesOf } from "../../envelopes/envelopes.ts";
import type { Act } from "./act.ts";
import { type EntryFrame, type EntrySubject, type JournalRecord, nextEntry } from "./entry.ts";

/** The members of an entry's row that its MAC covers. */
export type JournalFacts = { notaryId: string; position: number; sha256: string };

export const journalMembers = ({ notaryId, position, sha256 }: JournalFacts): Members => ({
  notaryId,
  position,
  sha256,
});

export const journalRows: MacTable<JournalFacts> = {
  table: sql`notary_journal`,
  key: sql`id`,
  mac: sql`row_mac`,
  rows: sql`SELECT id AS key, notary_id AS "notaryId", position, sha256, row_mac AS mac FROM notary_journal`,
  members: journalMembers,
};

/** The last entry of a journal according to the audit log; undefined when the log has no entry about the journal. */
async function loggedHead(db: Sql, notaryId: string) {
  const entry = sql`action = 'notary_journal.entry' AND detail ->> 'notary' = ${notaryId}`;
  return (await findLine<{ position: number; sha256: string }>(db, entry))?.detail;
}

/**
 * Appends an entry to a notary's journal, in the caller's transaction. Also appends the hash of the entry to the audit
 * log. Locks the notary's row, so that concurrent entries are written one after another.
 * @throws Error when the journal's last entry was altered or is missing
 */
export async function appendEntry(
  tx: Tx,
  rowMac: RowMac,
  frame: EntryFrame & { orderId: number; actor: string },
  subject: EntrySubject,
): Promise<JournalRecord> {
  const notaryId = frame.journal;
  await tx.query(sql`SELECT FROM notaries WHERE id = ${notaryId} FOR NO KEY UPDATE`);
  const [last] = await entriesOf(tx, notaryId, sql`ORDER BY j.position DESC LIMIT 1`);
  const fault = (last && entryFault(rowMac, notaryId, last)) ?? headFault(last, await loggedHead(tx, notaryId));
  if (fault !== null) throw new Error(`${fault} (notary ${notaryId})`);
  const next = nextEntry(last, frame, subject);
  const mac = rowMac.of("notary_journal", journalMembers({ notaryId, ...next }));
  await tx.query(sql`
    INSERT INTO notary_journal (notary_id, position, order_id, record, sha256, corrects, row_mac)
    VALUES (${notaryId}, ${next.position}, ${frame.orderId}, ${withoutCode(next.record, frame.orderCode)}, ${next.sha256},
      ${subject.kind === "correction" ? subject.corrects : null}, ${mac})`);
  const { at, orderId, actor } = frame;
  const detail = { notary: notaryId, position: next.position, sha256: next.sha256 };
  await tx.query(auditLine({ at, action: "notary_journal.entry", actor, orderId, detail }));
  return next;
}

export type JournalRow = JournalRecord & { orderId: number; corrects: number | null; mac: Buffer };

/**
 * Replaces the order's code in a record by null before the record is stored, because the code gives access to the
 * order.
 */
const withoutCode = (record: string, code: string): string => record.replaceAll(`"orderCode":"${code}"`, noCode);
const withCode = (stored: string, code: string): string => stored.replaceAll(noCode, `"orderCode":"${code}"`);
// The texts in a record can't contain this placeholder, because JSON escapes the quotes within texts.
const noCode = '"orderCode":null';

/**
 * Reads entries of a notary's journal.
 * @param which SQL that selects the entries and sorts them
 */
const entriesOf = (db: Sql, notaryId: string, which: Statement): Promise<JournalRow[]> =>
  entriesWhere(db, sql`j.notary_id = ${notaryId} ${which}`);

async function entriesWhere(db: Sql, where: Statement): Promise<(JournalRow & { notaryId: string })[]> {
  const rows = await db.query<JournalRow & { notaryId: string; code: string }>(sql`
    SELECT j.notary_id AS "notaryId", j.position, j.record, j.sha256, j.order_id AS "orderId", j.corrects, j.row_mac AS mac,
      o.code AS "code@order"
    FROM notary_journal j ${joinOrder(sql`j.order_id`)} WHERE ${where}`);
  return rows.map(({ code, record, ...row }) => ({ ...row, record: withCode(record, code) }));
}

/** A whole journal, in order. */
export const readJournal = (db: Sql, notaryId: string): Promise<JournalRow[]> =>
  entriesOf(db, notaryId, sql`ORDER BY j.position`);

export async function findEntry(db: Sql, notaryId: string, position: number): Promise<JournalRow | undefined> {
  const [row] = await entriesOf(db, notaryId, sql`AND j.position = ${position}`);
  return row;
}

/**
 * How and where an order was notarized, according to the order's latest act in any notary's journal. Undefined when no
 * journal contains an act of the order.
 * @throws Error for an altered entry
 */
export async function actOfOrder(
  { db, rowMac }: { db: Sql; rowMac: RowMac },
  orderId: number,
): Promise<Pick<Act, "mode" | "venue"> | undefined> {
  const rows = await entriesWhere(db, sql`j.order_id = ${orderId} ORDER BY j.id DESC`);
  for (const row of rows) {
    const fault = entryFault(rowMac, row.notaryId, row);
    if (fault !== null) throw new Error(`${fault} (notary ${row.notaryId})`);
    const entry = JSON.parse(row.record) as { kind: string; act?: Act };
    if (entry.kind === "act" && entry.act) return entry.act;
  }
  return undefined;
}

/**
 * The rows from which `whereSignedAgain` finds out if people signed an order's document again in the notary's presence.
 */
export type StoredSigningAgain = {
  isInRoom: boolean;
  entries: (Omit<JournalRow, "orderId" | "corrects" | "mac"> & { notaryId: string; mac: string })[];
};

/**
 * Selects, as one JSON value, the input of `whereSignedAgain` for the order `o`. `whereSignedAgain` verifies the
 * entries. The caller's query must verify the envelope by `verifiedEnvelopesOf`.
 */
export const signingAgainOf: Statement = sql`json_build_object('isInRoom', ${isSignedInRoom}, 'entries',
  (SELECT coalesce(json_agg(json_build_object('notaryId', j.notary_id, 'position', j.position, 'record', j.record,
    'sha256', j.sha256, 'mac', encode(j.row_mac, 'hex'))), '[]')
  FROM notary_journal j WHERE j.order_id = o.id AND position('"signedBefore"' IN j.record) > 0))`;

/**
 * Returns how the signers signed the document again in the notary's presence. `in room`: in an act of this service. `on
 * paper`: on a print of the document. Null if they did not sign again.
 *
 * The notarized document then replaces the document that they signed first.
 * @throws ServiceError `unavailable` for an altered entry
 */
export function whereSignedAgain(
  rowMac: RowMac,
  orderCode: string,
  { isInRoom, entries }: StoredSigningAgain,
): "in room" | "on paper" | null {
  const isEntered = entries.some(({ notaryId, record: stored, mac, ...entry }) => {
    const record = withCode(stored, orderCode);
    if (entryFault(rowMac, notaryId, { ...entry, record, mac: Buffer.from(mac, "hex") }) !== null)
      throw new AlteredRecordError();
    const { kind, act } = JSON.parse(record) as { kind: string; act?: Act };
    return kind === "act" && act?.signedBefore !== undefined;
  });
  if (isInRoom) return "in room";
  return isEntered ? "on paper" : null;
}

/**
 * True if the signers signed the order's document again in the notary's presence (`whereSignedAgain`).
 * @throws as `whereSignedAgain`, and for an altered envelope
 */
export async function wasSignedAgain({ db, rowMac }: { db: Sql; rowMac: RowMac }, orderCode: string): Promise<boolean> {
  const [found] = await db.query<{ signingAgain: StoredSigningAgain }>(sql`
    SELECT ${signingAgainOf} AS "signingAgain", ${verifiedEnvelopesOf(sql`o.id`)}
    ${fromOrders} WHERE ${hasOrderCode(orderCode)}`);
  return found !== undefined && whereSignedAgain(rowMac, orderCode, found.signingAgain) !== null;
}

const altered = (position: number): string => `Entry ${position} of the journal is not what was written.`;

function entryFault(
  rowMac: RowMac,
  notaryId: string,
  { position, record, sha256, mac }: Pick<JournalRow, "position" | "record" | "sha256" | "mac">,
): string | null {
  const holds =
    hash("sha256", record) === sha256 &&
    rowMac.holds("notary_journal", journalMembers({ notaryId, position, sha256 }), mac);
  return holds ? null : altered(position);
}

type Head = Pick<JournalRecord, "position" | "sha256">;

/**
 * Compares a journal's last entry with the last entry that the audit log names. A journal from an earlier release is
 * not in the log until its next entry, so it passes.
 */
const headFault = (last: Head | undefined, logged: Head | undefined): string | null =>
  logged === undefined || (last?.position === logged.position && last.sha256 === logged.sha256)
    ? null
    : `The journal does not end with entry ${logged.position}, as the audit log says.`;

/**
 * Describes the first row of a journal that was altered or does not follow its predecessor; null when all rows are
 * sound.
 */
export function rowsFault(rowMac: RowMac, notaryId: string, rows: readonly JournalRow[]): string | null {
  let before: string | null = null;
  for (const [index, row] of rows.entries()) {
    // Checks the row itself first, because an altered record must not be parsed.
    const fault = entryFault(rowMac, notaryId, row);
    if (fault !== null) return fault;
    const { previousSha256 } = JSON.parse(row.record) as { previousSha256: string | null };
    if (row.position !== index + 1 || previousSha256 !== before) return altered(index + 1);
    before = row.sha256;
  }
  return null;
}

/**
 * Checks a whole journal. Returns a sentence about the first altered row, or about a last entry that differs from the
 * one in the audit log. Null when there is no fault.
 */
export async function journalFault(
  { db, rowMac }: { db: Sql; rowMac: RowMac },
  notaryId: string,
  rows: readonly JournalRow[],
): Promise<string | null> {
  return rowsFault(rowMac, notaryId, rows) ?? headFault(rows.at(-1), await loggedHead(db, notaryId));
}
