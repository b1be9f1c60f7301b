import type { Sql, Tx } from "../../platform/database/database.ts";
import { sql } from "../../platform/database/sql.ts";

export type NewCode = { sessionId: string; codeId: string; at: Date; expiresAt: Date };

/**
 * Puts a code in the place of the one that there was, unless that is younger than `replaceable`.
 * @returns whether it did
 */
export async function putCode(
  tx: Tx,
  { sessionId, codeId, at, expiresAt }: NewCode,
  replaceable: Date,
): Promise<boolean> {
  const put = await tx.query(
    sql`INSERT INTO confirmation_codes (session_id, code_id, created_at, expires_at)
     VALUES (${sessionId}, ${codeId}, ${at}, ${expiresAt})
     ON CONFLICT (session_id) DO UPDATE
       SET code_id = excluded.code_id, created_at = excluded.created_at, expires_at = excluded.expires_at
       WHERE confirmation_codes.created_at <= ${replaceable}
     RETURNING session_id`,
  );
  return put.length === 1;
}

/** The address that an open code is for; undefined for any other. */
export async function selectCodeToMail(db: Sql, codeId: string, now: Date): Promise<{ email: string } | undefined> {
  const [found] = await db.query<{ email: string }>(
    sql`SELECT u.email FROM confirmation_codes c JOIN sessions s ON s.id = c.session_id JOIN users u ON u.id = s.user_id
     WHERE c.code_id = ${codeId} AND c.expires_at > ${now}`,
  );
  return found;
}

/** The open code of a session, which nobody else tries until the transaction ends. */
export async function lockCode(tx: Tx, sessionId: string, now: Date) {
  const [found] = await tx.query<{ codeId: string; wrong: number }>(
    sql`SELECT code_id AS "codeId", wrong FROM confirmation_codes
     WHERE session_id = ${sessionId} AND expires_at > ${now} FOR UPDATE`,
  );
  return found;
}

export const countWrong = (tx: Tx, sessionId: string) =>
  tx.query(sql`UPDATE confirmation_codes SET wrong = wrong + 1 WHERE session_id = ${sessionId}`);

/** Forgets the session's code, and what was typed wrongly. */
export const deleteCode = (tx: Tx, sessionId: string) =>
  tx.query(sql`DELETE FROM confirmation_codes WHERE session_id = ${sessionId}`);
