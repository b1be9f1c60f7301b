import { countPagesIn } from "../../kernel/pdf/pages/count-pages.ts";
import type { Workers } from "../../kernel/platform/workers/task.ts";

const header = Buffer.from("%PDF-");
// Readers accept a header anywhere in the first 1024 bytes (PDF 32000-1, Annex H.3.4.1 of ISO 32000-1).
const headerWithin = 1024;
const estimatedBytesPerPage = 50 * 1024;

export const looksLikePdf = (bytes: Buffer): boolean => bytes.subarray(0, headerWithin).includes(header);

/** The number of pages, for the postage. Estimated from the size when the page tree can't be read. */
export async function pagesOf(workers: Workers, holder: string, bytes: Buffer): Promise<number> {
  return (await countPagesIn(workers, holder, bytes)) ?? estimatedPages(bytes);
}

export const estimatedPages = (bytes: Buffer): number => Math.ceil(bytes.length / estimatedBytesPerPage);
