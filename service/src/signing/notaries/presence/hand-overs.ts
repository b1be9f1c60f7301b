import type { Sql, Tx } from "../../../kernel/platform/database/database.ts";
import { type Statement, sql } from "../../../kernel/platform/database/sql.ts";
import { type StateMac, verified, writeStateMacs } from "../../../kernel/platform/database/state-mac.ts";
import { newUuid } from "../../../kernel/platform/ids.ts";
import { stateRows } from "../../../kernel/platform/protected-data.ts";

/** A notary's device that was handed to a signer. */
export type HandOver = {
  id: string;
  sheetId: string;
  signer: number;
  /** The console session of the browser that was handed over. Only the PIN, a passkey or a recovery code resumes it. */
  sessionId: string;
  givenAt: Date;
  failures: number;
};

const handOverState: StateMac = {
  table: sql`notary_hand_overs`,
  key: sql`id`,
  mac: sql`row_mac`,
  covered: (
    h,
  ) => sql`${h}.id, ${h}.sheet_id, ${h}.signer, ${h}.session_id, extract(epoch FROM ${h}.given_at), ${h}.failures,
    extract(epoch FROM ${h}.returned_at), ${h}.returned_by`,
};

export const handOverRows = stateRows(handOverState);

/**
 * The most wrong PINs for a hand-over. A PIN has at least six digits, so five guesses succeed in at most one of 200,000
 * cases.
 */
export const maxWrongPins = 5;

async function openOne(db: Sql, where: Statement, lock: Statement): Promise<HandOver | undefined> {
  const [found] = await db.query<HandOver>(sql`
    SELECT id, sheet_id AS "sheetId", signer, session_id AS "sessionId", given_at AS "givenAt", failures,
      ${verified(handOverState, sql`notary_hand_overs`)}
    FROM notary_hand_overs WHERE returned_at IS NULL AND ${where} ORDER BY given_at DESC LIMIT 1 ${lock}`);
  return found;
}

export const handOverOfSheet = (db: Sql, sheetId: string) => openOne(db, sql`sheet_id = ${sheetId}`, sql``);
export const handOverOfSession = (db: Sql, sessionId: string) => openOne(db, sql`session_id = ${sessionId}`, sql``);

type New = Pick<HandOver, "sheetId" | "signer" | "sessionId" | "givenAt">;

/** Stores a hand-over. The transaction must have locked the run sheet, and closed the sheet's earlier hand-over. */
export async function insertHandOver(tx: Tx, { sheetId, signer, sessionId, givenAt }: New): Promise<void> {
  const id = newUuid();
  await tx.query(sql`
    INSERT INTO notary_hand_overs (id, sheet_id, signer, session_id, given_at)
    VALUES (${id}, ${sheetId}, ${signer}, ${sessionId}, ${givenAt})`);
  await writeStateMacs(tx, handOverState, sql`id = ${id}`);
}

/**
 * Counts an attempt before its PIN is compared, so that concurrent attempts can't exceed the limit.
 * @returns false when no attempt is left, or the hand-over is closed
 */
export async function countAttempt(tx: Tx, id: string): Promise<boolean> {
  const open = await openOne(tx, sql`id = ${id}`, sql`FOR NO KEY UPDATE`);
  if (!open || open.failures >= maxWrongPins) return false;
  await tx.query(sql`UPDATE notary_hand_overs SET failures = failures + 1 WHERE id = ${id}`);
  await writeStateMacs(tx, handOverState, sql`id = ${id}`);
  return true;
}

/**
 * Records that the device was returned to the notary, and how.
 * @returns false when the hand-over was already closed
 */
export async function closeHandOver(tx: Tx, id: string, by: "pin" | "sign_in", at: Date): Promise<boolean> {
  if (!(await openOne(tx, sql`id = ${id}`, sql`FOR NO KEY UPDATE`))) return false;
  await tx.query(sql`UPDATE notary_hand_overs SET returned_at = ${at}, returned_by = ${by} WHERE id = ${id}`);
  await writeStateMacs(tx, handOverState, sql`id = ${id}`);
  return true;
}
