import { pages } from "../../../kernel/pdf/page-tree.ts";
import { pageBox, shownSize } from "../../../kernel/pdf/pages/page-box.ts";
import { PdfRefusal } from "../../../kernel/pdf/refusal.ts";
import { lookUpPdf } from "../../../kernel/pdf/xref/lookup.ts";
import type { PagesRead } from "./fit.ts";

const [letterWidth, letterHeight] = [612, 792];
// The tolerance for a page's size, in points: a hundredth of an inch. Some programs write rounded page sizes.
const roundingPoints = 0.72;

/** Counts a document's pages, and finds the first that is not an upright US letter sheet. */
export function run(bytes: Buffer): PagesRead {
  try {
    const { file, root, encrypt } = lookUpPdf(bytes);
    let count = 0;
    let odd: PagesRead["odd"] = null;
    for (const page of pages(file, root.dict)) {
      count++;
      const { width, height } = shownSize(pageBox(file, page));
      const isLetter =
        Math.abs(width - letterWidth) <= roundingPoints && Math.abs(height - letterHeight) <= roundingPoints;
      if (!isLetter) odd ??= { page: count, width, height };
    }
    return { count, odd, isEncrypted: encrypt !== null, refused: null };
  } catch (error) {
    if (error instanceof PdfRefusal) return { count: 0, odd: null, isEncrypted: false, refused: error.message };
    throw error;
  }
}
