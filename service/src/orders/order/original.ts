import type { RequireStorage } from "../../firms/partners/partners.ts";
import { countPagesIn } from "../../kernel/pdf/pages/count-pages.ts";
import type { Workers } from "../../kernel/platform/workers/task.ts";
import type { TrySigning } from "./try-signing.ts";

const header = Buffer.from("%PDF-");
// PDF readers accept a header anywhere in the first 1024 bytes (ISO 32000-1, annex H.3.4.1).
const headerWithin = 1024;
const estimatedBytesPerPage = 50 * 1024;

export const looksLikePdf = (bytes: Buffer): boolean => bytes.subarray(0, headerWithin).includes(header);

/**
 * The number of pages, from which the postage is calculated. It is estimated from the size when the page tree can't be
 * read.
 */
export async function pagesOf(workers: Workers, holder: string, bytes: Buffer): Promise<number> {
  return (await countPagesIn(workers, holder, bytes)) ?? estimatedPages(bytes);
}

/** Receives the documents that orders are placed with. */
export type Originals = {
  requireStorage: RequireStorage;
  pagesOf: (holder: string, bytes: Buffer) => Promise<number>;
  trySigning: TrySigning;
};

export const openOriginals = (workers: Workers, requireStorage: RequireStorage, trySigning: TrySigning): Originals => ({
  requireStorage,
  pagesOf: (holder, bytes) => pagesOf(workers, holder, bytes),
  trySigning,
});

export const estimatedPages = (bytes: Buffer): number => Math.ceil(bytes.length / estimatedBytesPerPage);
