/** A run of text on a page, from its start along its line; lengths in user space. */
export type TextRun = {
  readonly text: string;
  /** By which text space is turned and moved into user space. */
  readonly transform: readonly [number, number, number, number, number, number];
  /** Along its line. */
  readonly width: number;
  readonly monospaced: boolean;
};

/**
 * The text of a document, page for page, as pdf.js finds it; read as it is asked for. Loading it takes a quarter of a second: only for a document
 * that may hold a tag, and only in a worker.
 */
export async function* pageTexts(bytes: Buffer): AsyncGenerator<TextRun[], void, undefined> {
  const { getDocument } = await pdfJs();
  const opening = getDocument({
    data: new Uint8Array(bytes),
    cMapUrl: new URL("cmaps/", packageFolder()).pathname,
    verbosity: 0,
    disableFontFace: true,
    useSystemFonts: false,
    useWasm: false,
    enableXfa: false,
    isOffscreenCanvasSupported: false,
    isImageDecoderSupported: false,
  });
  try {
    const document = await opening.promise;
    for (let number = 1; number <= document.numPages; number++) {
      const page = await document.getPage(number);
      const { items, styles } = await page.getTextContent();
      yield items.flatMap((item): TextRun[] => {
        if (!("str" in item) || item.str === "") return [];
        const [a = 1, b = 0, c = 0, d = 1, e = 0, f = 0]: number[] = item.transform;
        const monospaced = styles[item.fontName]?.fontFamily === "monospace";
        return [{ text: item.str, transform: [a, b, c, d, e, f], width: item.width, monospaced }];
      });
      page.cleanup();
    }
  } finally {
    await opening.destroy();
  }
}

const packageFolder = (): URL => new URL("./", import.meta.resolve("pdfjs-dist/package.json"));

/** It warns that it has nothing to draw with: text needs no drawing. */
async function pdfJs() {
  const { warn } = console;
  console.warn = () => {};
  try {
    return await import("pdfjs-dist/legacy/build/pdf.mjs");
  } finally {
    console.warn = warn;
  }
}
