import { type Statement, sql } from "../platform/database/sql.ts";
import { dated } from "../platform/database/state-mac.ts";
import { markTable } from "./marks.ts";

/** Marks as JSON. @param from `deleted_blobs` and what it is joined to, with WHERE */
const marksAmong = (from: Statement): Statement => sql`SELECT json_agg(json_build_object(
    'blobKey', deleted_blobs.blob_key, 'rule', deleted_blobs.rule, 'deletedAt', deleted_blobs.deleted_at, 'mac', encode(deleted_blobs.row_mac, 'hex')))
  FROM ${from}`;

/** For a JSON value: the marks of the blob under this key, null without one. `isMarked` verifies them. */
export const marksOf = (blobKey: Statement): Statement =>
  sql`(${marksAmong(sql`deleted_blobs WHERE deleted_blobs.blob_key = ${blobKey}`)})`;

/**
 * For a select list: when the plan deleted blobs, null when it did not. A mark that the plan did not write says nothing.
 * @param from `deleted_blobs` and what it is joined to, with WHERE
 */
export const deletedAmong = (from: Statement, as: string): Statement => dated(markTable, as, marksAmong(from));

/** The same of the blob under this key, as `deletedAt`. */
export const deletedAt = (blobKey: Statement): Statement =>
  deletedAmong(sql`deleted_blobs WHERE deleted_blobs.blob_key = ${blobKey}`, "deletedAt");

/**
 * Whether there is no mark but refused ones: a forged mark counts until the next check, a minute later. To tell people that a
 * document was deleted, or to seal without it, use `deletedAt` or `marksOf`, whose MACs are verified at once.
 */
export const notDeleted = (blobKey: Statement): Statement => sql`NOT EXISTS (
  SELECT FROM deleted_blobs WHERE deleted_blobs.blob_key = ${blobKey}
    AND NOT EXISTS (SELECT FROM refused_marks WHERE refused_marks.mark_id = deleted_blobs.id))`;

/** The sentence of a refusal. @param what `The sealed PDF` */
export const deletedMessage = (what: string, at: Date): string =>
  `${what} was deleted on ${at.toISOString().slice(0, 10)}, as the retention plan says.`;
