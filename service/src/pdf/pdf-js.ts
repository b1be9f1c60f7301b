import { fileURLToPath } from "node:url";

export type PdfJs = typeof import("pdfjs-dist");

/**
 * Begins to open a document with pdf.js, for its text. Loading it takes a quarter of a second: only in a worker, and only for what
 * needs it. Who opens it destroys `opening` in the end.
 */
export async function openWithPdfJs(bytes: Buffer) {
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
