import { pageBox, shownSize } from "../../pdf/pages/page-box.ts";
import { pages } from "../../pdf/pages/page-tree.ts";
import { PdfRefusal } from "../../pdf/refusal.ts";
import { lookUpPdf } from "../../pdf/xref/lookup.ts";
import type { PagesRead } from "./fit.ts";

const [letterWidth, letterHeight] = [612, 792];
// A hundredth of an inch: what a writer's rounding makes of the exact size.
const roundingPoints = 0.72;

/** How many pages a document has, and the first that is not shown as a US letter sheet, upright. */
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
