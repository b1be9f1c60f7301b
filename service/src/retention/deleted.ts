import { type Statement, sql } from "../platform/database/sql.ts";

/** When the plan deleted the blob under this key, null when it did not: a part of a statement. */
export const deletedAt = (blobKey: Statement): Statement =>
  sql`(SELECT deleted_at FROM deleted_blobs WHERE deleted_blobs.blob_key = ${blobKey})`;

export const notDeleted = (blobKey: Statement): Statement =>
  sql`NOT EXISTS (SELECT FROM deleted_blobs WHERE deleted_blobs.blob_key = ${blobKey})`;

/** The sentence of a refusal. @param what `The sealed PDF` */
export const deletedMessage = (what: string, at: Date): string =>
  `${what} was deleted on ${at.toISOString().slice(0, 10)}, as the retention plan says.`;
