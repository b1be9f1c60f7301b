import { type Statement, sql } from "../platform/database/sql.ts";
import { dated } from "../platform/database/state-mac.ts";
import { markTable } from "./marks.ts";

/**
 * SQL expression: the deletion marks of blobs as JSON.
 * @param from the text after FROM: `deleted_blobs` with its joins and WHERE
 */
const marksAmong = (from: Statement): Statement => sql`SELECT json_agg(json_build_object(
    'blobKey', deleted_blobs.blob_key, 'rule', deleted_blobs.rule, 'deletedAt', deleted_blobs.deleted_at, 'mac', encode(deleted_blobs.row_mac, 'hex')))
  FROM ${from}`;

/**
 * SQL expression: the deletion marks of one blob as JSON; null when the blob has none. `markedAt` verifies the marks.
 */
export const marksOf = (blobKey: Statement): Statement =>
  sql`(${marksAmong(sql`deleted_blobs WHERE deleted_blobs.blob_key = ${blobKey}`)})`;

/**
 * SQL: a JOIN of the deletion marks of one blob.
 * @param blobKey the blob's key, as an expression on the tables before the JOIN
 */
export const joinMark = (blobKey: Statement): Statement =>
  sql`JOIN deleted_blobs ON deleted_blobs.blob_key = ${blobKey}`;

/**
 * For a select list: the time when the retention plan deleted the selected blobs; null when it did not. Ignores forged
 * marks.
 * @param from the text after FROM: `deleted_blobs` with its joins and WHERE
 */
export const deletedAmong = (from: Statement, as: string): Statement => dated(markTable, as, marksAmong(from));

/** For a select list, as the column `deletedAt`: the time when the retention plan deleted the blob with this key. */
export const deletedAt = (blobKey: Statement): Statement =>
  deletedAmong(sql`deleted_blobs WHERE deleted_blobs.blob_key = ${blobKey}`, "deletedAt");

/**
 * SQL condition: the blob has no deletion mark, apart from marks that were refused as forged.
 *
 * The check that refuses forged marks runs later, so a forged mark counts for up to a minute. Where a wrong answer
 * would do harm, use `deletedAt` or `marksOf`, whose MACs are verified at once.
 */
export const notDeleted = (blobKey: Statement): Statement => sql`NOT EXISTS (
  SELECT FROM deleted_blobs WHERE deleted_blobs.blob_key = ${blobKey}
    AND NOT EXISTS (SELECT FROM refused_marks WHERE refused_marks.mark_id = deleted_blobs.id))`;

/**
 * The sentence that tells a reader that the retention plan deleted a document.
 * @param what the document, such as `The sealed PDF`
 */
export const deletedMessage = (what: string, at: Date): string =>
  `${what} was deleted on ${at.toISOString().slice(0, 10)}, as the retention plan says.`;
