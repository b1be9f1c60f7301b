import type { PDFPageProxy } from "pdfjs-dist";
import { textWithValues } from "../../../kernel/pdf/field-values.ts";
import { linesOf } from "../text-lines.ts";

/** The lines of a page, with the values of its fields. */
async function pageLines(page: PDFPageProxy): Promise<string[]> {
  const [{ items }, annotations] = await Promise.all([page.getTextContent(), page.getAnnotations()]);
  const viewport = page.getViewport({ scale: 1 });
  return linesOf(textWithValues(items, annotations, (x, y) => viewport.convertToViewportPoint(x, y)));
}

// This script is separate. It is loaded only when the signer asks for the document's text.
Object.assign(window, { pageLines });
