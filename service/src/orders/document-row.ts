import type { Owner } from "../identity/identity.ts";
import type { BlobUse } from "../platform/blobs/cipher.ts";
import { type Statement, sql } from "../platform/database/sql.ts";
import type { Members } from "../platform/row-mac.ts";

/** The order that a document belongs to, and the firm and environment of that order. */
export type DocumentOwner = Owner & { orderCode: string };

/** Columns of `orders o` for the owner of its documents. */
export const documentOwnerColumns: Statement = sql`o.code AS "orderCode", o.partner_id AS "partnerId", o.environment`;

/** What the row of an order's document says; `sha256` in hex. */
export type DocumentFacts = DocumentOwner & { kind: string; sha256: string; blobKey: string };

/** Fields covered by the row MAC: an order that is moved to another firm takes no document with it. */
export const documentMembers = (document: DocumentFacts): Members => {
  const { partnerId, environment } = document;
  return { ...earlierDocumentMembers(document), partnerId, environment };
};

/** What MACs of earlier releases covered. */
export const earlierDocumentMembers = ({ orderCode, kind, sha256, blobKey }: DocumentFacts): Members => ({
  orderCode,
  kind,
  sha256,
  blobKey,
});

/** What a document's blob is. It bears no order: one that was completed online is stored before its order is placed. */
export const documentUse = (sha256: string): BlobUse => ({ kind: "document", owner: "", sha256 });
