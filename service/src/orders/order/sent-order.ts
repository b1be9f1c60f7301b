import type { Principal } from "../../kernel/identity/identity.ts";
import type { Blobs } from "../../kernel/platform/blobs/blobs.ts";
import { memoryHolder } from "../../kernel/platform/bounds/memory-budget.ts";
import { invalid } from "../../kernel/platform/errors.ts";
import { documentUse } from "./documents.ts";
import type { FilledDocument } from "./fill.ts";
import type { OriginalDocument } from "./store.ts";
import type { TemplateUse } from "./template-use.ts";

/** A form as sent: its text fields, its file, and the document's name when no file has one. */
export type SentOrder = {
  fields: ReadonlyMap<string, string>;
  upload: SentDocument | null;
  documentName?: string | undefined;
  /** Whether signers may sign on a page that is added, where the document has no place for them; true by default. */
  mayAddPage?: boolean;
  /** Fills the form in from a template that it names. */
  withTemplate?: WithTemplate | undefined;
};

/** A template's own document, and its name for people. */
export type TemplateDocument = FilledDocument & { readonly name: string };

/** An order form after the template that it names was filled in. */
export type Expanded = {
  readonly fields: ReadonlyMap<string, string>;
  readonly use: TemplateUse;
  /** The template's own document, where the form has none. */
  readonly document?: TemplateDocument;
};

/**
 * Fills an order form in from the template that it names; undefined for a form that names none.
 * @throws ServiceError naming the field and the rule
 */
export type WithTemplate = (principal: Principal, sent: SentOrder) => Promise<Expanded | undefined>;

/** A file as sent, and its sender's name for it. */
export type SentDocument = { bytes: Buffer; sha256: string; filename?: string | undefined };

type ToStore = {
  upload: SentDocument | null;
  own: TemplateDocument | undefined;
  filled: FilledDocument | undefined;
  pages: number;
};

/** Stores the document that came with the form, or a copy of its template's, which outlives what is deleted of the order. */
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
