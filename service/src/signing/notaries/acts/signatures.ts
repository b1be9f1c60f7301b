import { hourMs, minuteMs } from "../../../kernel/platform/clock.ts";
import type { Sql, Tx } from "../../../kernel/platform/database/database.ts";
import { sql } from "../../../kernel/platform/database/sql.ts";

/**
 * How long a signed revision is stored, counted from its preparation. Within this time the notary must confirm the
 * service's report on the signed file.
 */
const lifetimeMs = hourMs;
/** The time within which a prepared revision must be signed. */
const preparedMs = 10 * minuteMs;

/**
 * SQL condition: the notary signed the revision in a live session that waits for its document to be sealed. Such a
 * revision does not expire. The recording has ended, so the act can't be prepared and signed again.
 */
const waitsForSeal = sql`is_signed AND EXISTS (SELECT FROM live_sessions l WHERE l.task_id = notary_signatures.task_id
  AND l.notary_id = notary_signatures.notary_id AND l.state = 'signed')`;

/** A notary's revision of an order's document, with or without its signature. */
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

/** Stores a notary's prepared revision. It replaces the revision that the notary prepared earlier for the same task. */
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

/** The notary's revision for a task. Undefined when there is none, or when it has expired. */
export async function findSignature(
  db: Sql,
  { taskId, notaryId }: Key,
  now: Date,
): Promise<NotarySignature | undefined> {
  const [found] = await db.query<NotarySignature>(sql`
    SELECT given_sha256 AS "givenSha256", act_sha256 AS "actSha256", certificate, tail, contents_start AS "contentsStart",
      contents_end AS "contentsEnd", signed_attrs AS "signedAttrs", is_signed AS "isSigned"
    FROM notary_signatures WHERE task_id = ${taskId} AND notary_id = ${notaryId}
      AND (created_at > CASE WHEN is_signed THEN ${new Date(now.getTime() - lifetimeMs)}::timestamptz
        ELSE ${new Date(now.getTime() - preparedMs)}::timestamptz END OR ${waitsForSeal})`);
  return found;
}

/**
 * Stores the notary's signature of the prepared revision.
 * @returns false when the prepared revision was replaced, signed or deleted in the meantime
 */
export async function keepSigned(
  db: Sql,
  { taskId, notaryId }: Key,
  signedAttrs: Buffer,
  tail: Buffer,
): Promise<boolean> {
  const stored = await db.query(sql`
    UPDATE notary_signatures SET tail = ${tail}, is_signed = true
    WHERE task_id = ${taskId} AND notary_id = ${notaryId} AND signed_attrs = ${signedAttrs} AND NOT is_signed RETURNING 1`);
  return stored.length === 1;
}

export const deleteSignatures = (tx: Tx, taskId: number) =>
  tx.query(sql`DELETE FROM notary_signatures WHERE task_id = ${taskId}`);

/**
 * Deletes revisions that were prepared at least an hour ago, even signed ones. Keeps a signed revision whose session
 * waits for the document to be sealed (`waitsForSeal`).
 */
export const sweepSignatures = (db: Sql, now: Date) =>
  db.query(sql`
    DELETE FROM notary_signatures WHERE created_at <= ${new Date(now.getTime() - lifetimeMs)} AND NOT (${waitsForSeal})`);
