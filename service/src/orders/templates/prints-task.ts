import { createHash } from "node:crypto";
import { textItems, withPdf } from "../../kernel/pdf/pdf-js.ts";

/** A fingerprint of a page. Pages of the same form have similar fingerprints even if other entries are filled in. */
export type PagePrint = {
  /** The size of the displayed page, in whole points. */
  readonly width: number;
  readonly height: number;
  /** 32-bit hashes of the runs of five words in a row, in ascending order. `storedPrints` keeps only some of them. */
  readonly shingles: readonly number[];
  /**
   * Only for the first page: hashes of the runs of three words near the page's beginning, in the page's sequence.
   * Templates from earlier releases have neither `title` nor `words`.
   */
  readonly title?: readonly number[];
  /** Hashes of the page's words, each once, in ascending order. */
  readonly words?: readonly number[];
};

/** At most this many pages of a document get a fingerprint. The later pages are only counted. */
const maxPrinted = 50;
const maxCharacters = 1_000_000;
const inShingle = 5;
const inTitle = 3;
/**
 * At most this many words may precede the title on the first page. They may be filled in, such as the sender's address.
 */
const wordsBeforeTitle = 12;

/** Makes the fingerprints of at most `maxPrinted` pages. @returns null for a document that pdf.js can't read */
export async function run(bytes: Buffer): Promise<PagePrint[] | null> {
  return withPdf(bytes, async (document) => {
    const prints: PagePrint[] = [];
    let room = maxCharacters;
    while (prints.length < Math.min(document.numPages, maxPrinted)) {
      const page = await document.getPage(prints.length + 1);
      const items = await textItems(page, room);
      page.cleanup();
      if (!items) return null;
      const text = items.map((item) => item.str + (item.hasEOL ? "\n" : " ")).join("");
      room -= text.length;
      const { width, height } = page.getViewport({ scale: 1 });
      const size = { width: Math.round(width), height: Math.round(height) };
      prints.push({ ...size, ...hashesOf(text, prints.length === 0) });
    }
    return prints;
  });
}

/**
 * Makes the hashes from letters only. Digits and underscores are entries, or space for entries, so they differ between
 * copies of a form.
 * @param isFirst whether the text is that of the first page
 */
export function hashesOf(text: string, isFirst: boolean): Pick<PagePrint, "shingles" | "title" | "words"> {
  const words = text
    .normalize("NFKC")
    .toLowerCase()
    .split(/\s+/u)
    .map((word) => word.replace(/[^\p{L}]/gu, ""))
    .filter((word) => word !== "");
  const start = words.slice(0, inTitle + wordsBeforeTitle);
  return {
    shingles: inOrder(runsOf(words, inShingle)),
    ...(isFirst && { title: runsOf(start, inTitle).map(hashOf) }),
    words: inOrder(words),
  };
}

/** Every sequence of `length` consecutive words, joined by spaces. */
const runsOf = (words: readonly string[], length: number): string[] =>
  words
    .slice(0, Math.max(words.length - length + 1, 0))
    .map((_, index) => words.slice(index, index + length).join(" "));

const hashOf = (text: string): number => createHash("sha256").update(text).digest().readUInt32BE();

const inOrder = (texts: readonly string[]): number[] => [...new Set(texts.map(hashOf))].sort((a, b) => a - b);
