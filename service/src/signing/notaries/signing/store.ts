import type { Sql, Tx } from "../../../kernel/platform/database/database.ts";
import { sql } from "../../../kernel/platform/database/sql.ts";

/** As long as an order's day at the desk: the notary looks at the report of what was signed. */
const keptMs = 60 * 60_000;
/** A prepared signature is signed at once. */
const preparedMs = 10 * 60_000;

/** A notary's revision of an order's document, without or with its signature. */
export type NotarySignature = {
  givenSha256: string;
  actSha256: string;
  certificate: Buffer;
  tail: Buffer;
  contentsStart: number;
  contentsEnd: number;
  signedAttrs: Buffer;
  isSigned: boolean;
};

type Key = { taskId: number; notaryId: string };

/** Keeps a prepared revision in the place of the one before. */
export const keepPrepared = (db: Sql, { taskId, notaryId }: Key, it: Omit<NotarySignature, "isSigned">, at: Date) =>
  db.query(sql`
    INSERT INTO notary_signatures (task_id, notary_id, given_sha256, act_sha256, certificate, tail, contents_start, contents_end,
      signed_attrs, created_at)
    VALUES (${taskId}, ${notaryId}, ${it.givenSha256}, ${it.actSha256}, ${it.certificate}, ${it.tail}, ${it.contentsStart},
      ${it.contentsEnd}, ${it.signedAttrs}, ${at})
    ON CONFLICT (task_id, notary_id) DO UPDATE SET given_sha256 = excluded.given_sha256, act_sha256 = excluded.act_sha256,
      certificate = excluded.certificate, tail = excluded.tail, contents_start = excluded.contents_start,
      contents_end = excluded.contents_end, signed_attrs = excluded.signed_attrs, is_signed = false,
      created_at = excluded.created_at`);

/** Undefined for none, and for one that is too old. */
export async function findSignature(
  db: Sql,
  { taskId, notaryId }: Key,
  now: Date,
): Promise<NotarySignature | undefined> {
  const [found] = await db.query<NotarySignature>(sql`
    SELECT given_sha256 AS "givenSha256", act_sha256 AS "actSha256", certificate, tail, contents_start AS "contentsStart",
      contents_end AS "contentsEnd", signed_attrs AS "signedAttrs", is_signed AS "isSigned"
    FROM notary_signatures WHERE task_id = ${taskId} AND notary_id = ${notaryId}
      AND created_at > CASE WHEN is_signed THEN ${new Date(now.getTime() - keptMs)}::timestamptz
        ELSE ${new Date(now.getTime() - preparedMs)}::timestamptz END`);
  return found;
}

/** @returns false when another revision was prepared, or another signature given, meanwhile */
export async function keepSigned(
  db: Sql,
  { taskId, notaryId }: Key,
  signedAttrs: Buffer,
  tail: Buffer,
): Promise<boolean> {
  const kept = await db.query(sql`
    UPDATE notary_signatures SET tail = ${tail}, is_signed = true
    WHERE task_id = ${taskId} AND notary_id = ${notaryId} AND signed_attrs = ${signedAttrs} AND NOT is_signed RETURNING 1`);
  return kept.length === 1;
}

export const deleteSignatures = (tx: Tx, taskId: number) =>
  tx.query(sql`DELETE FROM notary_signatures WHERE task_id = ${taskId}`);

/** Deletes what nobody signed or confirmed in time, and what orders that wait for no notary any more do not need. */
export const sweepSignatures = (db: Sql, now: Date) =>
  db.query(sql`DELETE FROM notary_signatures WHERE created_at <= ${new Date(now.getTime() - keptMs)}`);
