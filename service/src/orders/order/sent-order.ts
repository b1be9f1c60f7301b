import type { Principal } from "../../kernel/identity/identity.ts";
import type { Blobs } from "../../kernel/platform/blobs/blobs.ts";
import { memoryHolder } from "../../kernel/platform/bounds/memory-budget.ts";
import { invalid } from "../../kernel/platform/errors.ts";
import { documentUse } from "./documents.ts";
import type { FilledDocument } from "./fill.ts";
import type { OriginalDocument } from "./store.ts";
import type { TemplateUse } from "./template-use.ts";

/** A form as sent: its text fields, its file, and a name for a document without a file name. */
export type SentOrder = {
  /** The code of the new order; by default, a random one. */
  code?: string | undefined;
  fields: ReadonlyMap<string, string>;
  upload: SentDocument | null;
  documentName?: string | undefined;
  /** True if a page may be added for signers for whom the document has no place to sign; true by default. */
  mayAddPage?: boolean;
  /**
   * Compares the priced order with what the sender saw, before anything is written. Without this function, the firm's
   * active payment method may be charged.
   * @returns the only method of the firm that may be charged automatically; null for none
   * @throws ServiceError to refuse the order
   */
  agree?: ((order: PricedOrder) => Promise<string | null>) | undefined;
  /** Fills in the order form from the template that the form names. */
  withTemplate?: WithTemplate | undefined;
};

/**
 * The price of an order that is not written yet. `manualQuoteReason`: why a person has to set the price; null if nobody
 * has to.
 */
export type PricedOrder = { totalCents: number; manualQuoteReason: string | null };

/** A template's own document and its display name. */
type TemplateDocument = FilledDocument & { readonly name: string };

/** An order form after it was filled in from its template. */
export type Expanded = {
  readonly fields: ReadonlyMap<string, string>;
  readonly use: TemplateUse;
  /** The template's name. It is the title of a document that has no informative name. */
  readonly name: string;
  /** The template's own document, if the form contains none. */
  readonly document?: TemplateDocument;
};

/**
 * Fills in an order form from the template that it names; undefined when it names none.
 * @throws ServiceError naming the field and the rule
 */
export type WithTemplate = (principal: Principal, sent: SentOrder) => Promise<Expanded | undefined>;

/** A file as uploaded, with the file name that the sender gave it. */
export type SentDocument = { bytes: Buffer; sha256: string; filename?: string | undefined };

type ToStore = {
  upload: SentDocument | null;
  own: TemplateDocument | undefined;
  filled: FilledDocument | undefined;
  pages: number;
};

/**
 * Stores the document that was sent with the form, or a copy of the template's document. Without the copy, deleting the
 * order's documents would delete the template's. A document that was filled in online is already stored.
 */
export async function storedDocument(
  { blobs }: { blobs: Blobs },
  principal: Principal,
  { upload, own, filled, pages }: ToStore,
): Promise<OriginalDocument | undefined> {
  if (upload) return storeUpload(blobs, upload, pages);
  if (!own) return filled;
  const at = { key: own.blobKey, use: documentUse(own.sha256), holder: memoryHolder(principal) };
  return blobs.withBytes(at, async (bytes) => {
    if (!bytes) throw new Error("the document of a template is missing");
    return storeUpload(blobs, { bytes, sha256: own.sha256 }, own.pages);
  });
}

async function storeUpload(blobs: Blobs, { bytes, sha256 }: SentDocument, pages: number): Promise<OriginalDocument> {
  return { sha256, bytes: bytes.length, pages, blobKey: await blobs.put(bytes, documentUse(sha256)) };
}

export const unusableFill = () => invalid("fill_token is unknown, used or expired.");
