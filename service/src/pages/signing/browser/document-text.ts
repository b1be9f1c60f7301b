import type { PDFPageProxy } from "pdfjs-dist";
import { textWithValues } from "../../../kernel/pdf/field-values.ts";
import { linesOf } from "../text-lines.ts";

/** The lines of a page, with the values of its fields. */
async function pageLines(page: PDFPageProxy): Promise<string[]> {
  const [{ items }, annotations] = await Promise.all([page.getTextContent(), page.getAnnotations()]);
  const viewport = page.getViewport({ scale: 1 });
  return linesOf(textWithValues(items, annotations, (x, y) => viewport.convertToViewportPoint(x, y)));
}

// A separate script that is loaded when the signer asks for the text.
Object.assign(window, { pageLines });
