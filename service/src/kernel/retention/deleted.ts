import { type Statement, sql } from "../platform/database/sql.ts";
import { dated } from "../platform/database/state-mac.ts";
import { markTable } from "./marks.ts";

/**
 * For a select list: when the plan deleted blobs, null when it did not. A mark that the plan did not write says nothing.
 * @param from `deleted_blobs` and what it is joined to, with WHERE
 */
export const deletedAmong = (from: Statement, as: string): Statement =>
  dated(
    markTable,
    as,
    sql`SELECT json_agg(json_build_object(
    'blobKey', deleted_blobs.blob_key, 'rule', deleted_blobs.rule, 'deletedAt', deleted_blobs.deleted_at, 'mac', encode(deleted_blobs.row_mac, 'hex')))
  FROM ${from}`,
  );

/** The same of the blob under this key, as `deletedAt`. */
export const deletedAt = (blobKey: Statement): Statement =>
  deletedAmong(sql`deleted_blobs WHERE deleted_blobs.blob_key = ${blobKey}`, "deletedAt");

/** Whether there is no mark. To tell people that a document was deleted, use `deletedAt`, which checks the MAC. */
export const notDeleted = (blobKey: Statement): Statement =>
  sql`NOT EXISTS (SELECT FROM deleted_blobs WHERE deleted_blobs.blob_key = ${blobKey})`;

/** The sentence of a refusal. @param what `The sealed PDF` */
export const deletedMessage = (what: string, at: Date): string =>
  `${what} was deleted on ${at.toISOString().slice(0, 10)}, as the retention plan says.`;
