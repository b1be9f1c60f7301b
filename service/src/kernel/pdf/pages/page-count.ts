import { LIMITS } from "../limits.ts";
import { openPdf } from "../open.ts";
import { countPages } from "../page-tree.ts";
import { PdfRefusal } from "../refusal.ts";
import { catalog, lookUpPdf } from "../xref/lookup.ts";

/**
 * The number of pages of a document, found by walking its page tree in a bounded number of steps. Null when the
 * document can't be read, or when the root of the tree states another number.
 */
export function pageCount(bytes: Buffer, maxBytes: number = LIMITS.fileBytes): number | null {
  try {
    const { file, root } = readable(bytes, maxBytes);
    return countPages(file, root.dict);
  } catch (error) {
    if (error instanceof PdfRefusal) return null;
    throw error;
  }
}

function readable(bytes: Buffer, maxBytes: number) {
  try {
    const file = openPdf(bytes, maxBytes);
    return { file, root: catalog(file) };
  } catch (error) {
    if (error instanceof PdfRefusal && error.reason === "needs_repair") return lookUpPdf(bytes, maxBytes);
    throw error;
  }
}
