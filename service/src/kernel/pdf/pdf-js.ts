import { fileURLToPath } from "node:url";
import type { PDFDocumentProxy, PDFPageProxy } from "pdfjs-dist";
import { tooMuchText } from "./text-cost.ts";

export type { PDFPageProxy } from "pdfjs-dist";
export type PdfJs = typeof import("pdfjs-dist");

/** The document has more text than the service reads. */
export class TooMuchText extends Error {}

/**
 * Starts to open a document with pdf.js, to read its text. Loading pdf.js takes a quarter of a second, so only workers
 * that need it call this function. The caller must destroy `opening` when it has finished.
 * @throws TooMuchText
 */
export async function openWithPdfJs(bytes: Buffer) {
  const why = tooMuchText(bytes);
  if (why !== null) throw new TooMuchText(why);
  const { getDocument, OPS } = await pdfJs();
  const opening = getDocument({
    data: new Uint8Array(bytes),
    cMapUrl: fileURLToPath(new URL("./cmaps/", import.meta.resolve("pdfjs-dist/package.json"))),
    verbosity: 0,
    disableFontFace: true,
    // Prevents decoding of images: only text is read.
    maxImageSize: 1,
    useSystemFonts: false,
    useWasm: false,
    enableXfa: false,
    isOffscreenCanvasSupported: false,
    isImageDecoderSupported: false,
  });
  return { opening, OPS };
}

/** Like `openWithPdfJs`, but null for a document with too much text. */
export const openWithinBounds = (bytes: Buffer) =>
  openWithPdfJs(bytes).catch((error: unknown) => {
    if (error instanceof TooMuchText) return null;
    throw error;
  });

/**
 * Opens a document with pdf.js for `work`, and destroys it afterwards.
 * @returns null when the document has too much text, or when pdf.js or `work` throws an error
 */
export async function withPdf<Result>(
  bytes: Buffer,
  work: (document: PDFDocumentProxy, OPS: PdfJs["OPS"]) => Promise<Result>,
): Promise<Result | null> {
  const opened = await openWithinBounds(bytes);
  if (!opened) return null;
  try {
    return await work(await opened.opening.promise, opened.OPS);
  } catch {
    return null;
  } finally {
    await opened.opening.destroy();
  }
}

/** pdf.js warns that no canvas is installed. Reading text doesn't need one, so the warning is suppressed. */
async function pdfJs(): Promise<PdfJs> {
  const { warn } = console;
  console.warn = () => {};
  try {
    return await import("pdfjs-dist/legacy/build/pdf.mjs");
  } finally {
    console.warn = warn;
  }
}

type TextContent = Awaited<ReturnType<PDFPageProxy["getTextContent"]>>;
type TextItem = Extract<TextContent["items"][number], { str: string }>;

/** The runs of text on a page. Null if they have more than `room` characters; then the rest of the page is not read. */
export async function textItems(page: PDFPageProxy, room: number): Promise<TextItem[] | null> {
  const found: TextItem[] = [];
  let left = room;
  const reader = page.streamTextContent().getReader();
  for (;;) {
    const { value, done } = (await reader.read()) as ReadableStreamReadResult<TextContent>;
    if (done) return found;
    for (const item of value.items) {
      if (!("str" in item)) continue;
      // Each run counts one character more than it has, because even an empty run uses memory.
      left -= item.str.length + 1;
      found.push(item);
    }
    if (left < 0) {
      await reader.cancel(new Error("more text than is read"));
      return null;
    }
  }
}
