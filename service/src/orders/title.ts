import type { DocumentNames } from "../platform/document-name.ts";
import type { VersionedPricing } from "../pricing/pricing.ts";

/** What an order keeps of what its document is called. */
export type Titled = { code: string; documentName: Buffer | null; docSlug: string | null };

/** What an order's document is called: as its file was, or as the catalog says; null when neither does. */
export type TitleOf = (order: Titled) => string | null;

export const titleReader =
  ({ names, pricing }: { names: DocumentNames; pricing: Pick<VersionedPricing, "catalog"> }): TitleOf =>
  ({ code, documentName, docSlug }) =>
    names.open(documentName, code) ?? pricing.catalog.find(({ slug }) => slug === docSlug)?.title ?? null;
