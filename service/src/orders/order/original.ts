import { countPagesIn } from "../pdf/pages/count-pages.ts";
import type { Workers } from "../platform/workers/task.ts";

const header = Buffer.from("%PDF-");
// Readers accept a header anywhere in the first 1024 bytes (PDF 32000-1, Annex H.3.4.1 of ISO 32000-1).
const headerWithin = 1024;
const estimatedBytesPerPage = 50 * 1024;

export const looksLikePdf = (bytes: Buffer): boolean => bytes.subarray(0, headerWithin).includes(header);

/** Pages for the postage; a document whose page tree can't be read is weighed by its size. */
export async function pagesOf(workers: Workers, holder: string, bytes: Buffer): Promise<number> {
  return (await countPagesIn(workers, holder, bytes)) ?? estimatedPages(bytes);
}

export const estimatedPages = (bytes: Buffer): number => Math.ceil(bytes.length / estimatedBytesPerPage);
