import { textWithValues } from "../../../kernel/pdf/field-values.ts";
import { textItems, withPdf } from "../../../kernel/pdf/pdf-js.ts";

/**
 * The text of a document by page, in the order of the file. `isWhole` is false when the document has more pages or more
 * text than the service reads.
 */
export type DocumentText = { readonly pages: readonly string[]; readonly isWhole: boolean };

const maxPages = 500;
const maxCharacters = 1_000_000;

/** Null for a document that pdf.js can't read, or whose text costs too much to read. */
export async function run(bytes: Buffer): Promise<DocumentText | null> {
  return withPdf(bytes, async (document) => {
    const pages: string[] = [];
    let room = maxCharacters;
    while (pages.length < Math.min(document.numPages, maxPages) && room > 0) {
      const page = await document.getPage(pages.length + 1);
      const items = await textItems(page, room);
      const annotations = items ? await page.getAnnotations() : [];
      page.cleanup();
      if (!items) return { pages, isWhole: false };
      const viewport = page.getViewport({ scale: 1 });
      const text = textWithValues(items, annotations, (x, y) => viewport.convertToViewportPoint(x, y));
      pages.push(text.slice(0, room));
      if (text.length > room) return { pages, isWhole: false };
      room -= text.length;
    }
    return { pages, isWhole: pages.length === document.numPages };
  });
}
