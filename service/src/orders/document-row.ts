import type { BlobUse } from "../platform/blobs/cipher.ts";
import type { Members } from "../platform/row-mac.ts";

/** What the row of an order's document says; `sha256` in hex. */
export type DocumentFacts = { orderCode: string; kind: string; sha256: string; blobKey: string };

export const documentMembers = ({ orderCode, kind, sha256, blobKey }: DocumentFacts): Members => ({
  orderCode,
  kind,
  sha256,
  blobKey,
});

/** What a document's blob is. It bears no order: one that was completed online is stored before its order is placed. */
export const documentUse = (sha256: string): BlobUse => ({ kind: "document", owner: "", sha256 });
