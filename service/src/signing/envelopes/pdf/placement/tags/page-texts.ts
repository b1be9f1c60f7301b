import { openWithPdfJs, TooMuchText, textItems } from "../../../../../kernel/pdf/pdf-js.ts";
import { widthsByFont } from "../../../../../kernel/pdf/proposals/content.ts";
import { textLimits } from "../../../../../kernel/pdf/text-cost.ts";

const maxText = textLimits.characters.toLocaleString("en-US");

/** A run of text on a page, which extends along its line. Lengths are in user space. */
export type TextRun = {
  readonly text: string;
  /** The matrix that moves text space into user space. */
  readonly transform: readonly [number, number, number, number, number, number];
  /** The width of the run along its line. */
  readonly width: number;
  /**
   * The relative widths of the characters in the run's font. Undefined on pages without braces, where they are not
   * needed.
   */
  readonly widths: CharacterWidths | undefined;
};

/** Relative widths by character. */
type CharacterWidths = ReadonlyMap<string, number>;

/**
 * The text of a document by page, as pdf.js finds it, read on demand. Loading pdf.js takes a quarter of a second, so
 * this runs only in a worker, and only for a document that may contain a tag.
 * @throws TooMuchText
 */
export async function* pageTexts(bytes: Buffer): AsyncGenerator<TextRun[], void, undefined> {
  const { opening, OPS } = await openWithPdfJs(bytes);
  let room: number = textLimits.characters;
  try {
    const document = await opening.promise;
    for (let number = 1; number <= document.numPages; number++) {
      const page = await document.getPage(number);
      const items = await textItems(page, room);
      if (!items) throw new TooMuchText(`its text has more than ${maxText} characters`);
      for (const { str } of items) room -= str.length;
      const hasBraces = items
        .map(({ str }) => str)
        .join("")
        .includes("{{");
      const widths = hasBraces ? widthsByFont(await page.getOperatorList(), OPS) : new Map<string, CharacterWidths>();
      yield items.map(({ str, transform, width, fontName }): TextRun => {
        const [a = 1, b = 0, c = 0, d = 1, e = 0, f = 0]: number[] = transform;
        return { text: str, transform: [a, b, c, d, e, f], width, widths: widths.get(fontName) };
      });
      page.cleanup();
    }
  } finally {
    await opening.destroy();
  }
}
