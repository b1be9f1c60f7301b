import type { Sql, Tx } from "../../platform/database/database.ts";
import { sql } from "../../platform/database/sql.ts";
import type { Members, RowMac } from "../../platform/row-mac.ts";
import { type EntryFrame, type EntrySubject, type JournalRecord, nextEntry } from "./entry.ts";

/** What the row of an entry says, for its MAC. */
export type JournalFacts = { notaryId: string; position: number; sha256: string };

export const journalMembers = ({ notaryId, position, sha256 }: JournalFacts): Members => ({
  notaryId,
  position,
  sha256,
});

/**
 * Appends an entry to a notary's journal, in the transaction of what it is about. The notary's row is locked: entries follow
 * one another.
 */
export async function appendEntry(
  tx: Tx,
  rowMac: RowMac,
  frame: EntryFrame & { orderId: number },
  subject: EntrySubject,
): Promise<JournalRecord> {
  const notaryId = frame.journal;
  await tx.query(sql`SELECT FROM notaries WHERE id = ${notaryId} FOR UPDATE`);
  const [last] = await tx.query<Pick<JournalRecord, "position" | "sha256">>(sql`
    SELECT position, sha256 FROM notary_journal WHERE notary_id = ${notaryId} ORDER BY position DESC LIMIT 1`);
  const next = nextEntry(last, frame, subject);
  const mac = rowMac.of("notary_journal", journalMembers({ notaryId, ...next }));
  await tx.query(sql`
    INSERT INTO notary_journal (notary_id, position, order_id, record, sha256, corrects, row_mac)
    VALUES (${notaryId}, ${next.position}, ${frame.orderId}, ${next.record}, ${next.sha256},
      ${subject.kind === "correction" ? subject.corrects : null}, ${mac})`);
  return next;
}

export type JournalRow = JournalRecord & { orderId: number; corrects: number | null; mac: Buffer };

const columns = sql`position, record, sha256, order_id AS "orderId", corrects, row_mac AS mac`;

/** A whole journal, in order. */
export const readJournal = (db: Sql, notaryId: string) =>
  db.query<JournalRow>(sql`SELECT ${columns} FROM notary_journal WHERE notary_id = ${notaryId} ORDER BY position`);

export async function findEntry(db: Sql, notaryId: string, position: number): Promise<JournalRow | undefined> {
  const [row] = await db.query<JournalRow>(sql`
    SELECT ${columns} FROM notary_journal WHERE notary_id = ${notaryId} AND position = ${position}`);
  return row;
}

/** Why a journal is not what was written: the first entry that was altered or does not follow the one before; null when it holds. */
export function journalFault(rowMac: RowMac, notaryId: string, rows: readonly JournalRow[]): string | null {
  let before: string | null = null;
  for (const [index, { position, record, sha256, mac }] of rows.entries()) {
    const { previousSha256 } = JSON.parse(record) as { previousSha256: string | null };
    const holds = rowMac.holds("notary_journal", journalMembers({ notaryId, position, sha256 }), mac);
    if (position !== index + 1 || previousSha256 !== before || !holds)
      return `Entry ${index + 1} of the journal is not what was written.`;
    before = sha256;
  }
  return null;
}
