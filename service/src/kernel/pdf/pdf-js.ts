import { fileURLToPath } from "node:url";
import type { PDFPageProxy } from "pdfjs-dist";
import { tooMuchText } from "./text-cost.ts";

export type PdfJs = typeof import("pdfjs-dist");

/** A document whose text is more than is read. */
export class TooMuchText extends Error {}

/**
 * Begins to open a document with pdf.js, for its text. Loading it takes a quarter of a second: only in a worker, and only for what
 * needs it. Who opens it destroys `opening` in the end.
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
    // None is decoded: it is all about text.
    maxImageSize: 1,
    useSystemFonts: false,
    useWasm: false,
    enableXfa: false,
    isOffscreenCanvasSupported: false,
    isImageDecoderSupported: false,
  });
  return { opening, OPS };
}

/** As `openWithPdfJs`; null for a document whose text is more than is read. */
export const openWithinBounds = (bytes: Buffer) =>
  openWithPdfJs(bytes).catch((error: unknown) => {
    if (error instanceof TooMuchText) return null;
    throw error;
  });

/** It warns that it has nothing to draw with: text needs no drawing. */
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

/** The runs of text of a page, read as they are found; null where they have more characters than `room`. */
export async function textItems(page: PDFPageProxy, room: number): Promise<TextItem[] | null> {
  const found: TextItem[] = [];
  let left = room;
  const reader = page.streamTextContent().getReader();
  for (;;) {
    const { value, done } = (await reader.read()) as ReadableStreamReadResult<TextContent>;
    if (done) return found;
    for (const item of value.items) {
      if (!("str" in item)) continue;
      // A run of nothing takes memory, too.
      left -= item.str.length + 1;
      found.push(item);
    }
    if (left < 0) {
      await reader.cancel(new Error("more text than is read"));
      return null;
    }
  }
}
