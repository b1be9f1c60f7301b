import { createHash } from "node:crypto";
import { openWithinBounds, textItems } from "../../kernel/pdf/pdf-js.ts";

/** A fingerprint of a page. It recognizes the same form when other entries are filled in. */
export type PagePrint = {
  /** The size of the displayed page, in whole points. */
  readonly width: number;
  readonly height: number;
  /** 32-bit hashes, one for each run of five words in a row, in ascending order. */
  readonly shingles: readonly number[];
};

/** How many pages get a fingerprint. Of further pages, only the number is compared. */
const mostPrinted = 50;
const mostCharacters = 1_000_000;
const inShingle = 5;

/** Makes the fingerprints of at most `mostPrinted` pages. @returns null for a document that pdf.js can't read */
export async function run(bytes: Buffer): Promise<PagePrint[] | null> {
  const opened = await openWithinBounds(bytes);
  if (!opened) return null;
  const { opening } = opened;
  try {
    const document = await opening.promise;
    const prints: PagePrint[] = [];
    let room = mostCharacters;
    while (prints.length < Math.min(document.numPages, mostPrinted)) {
      const page = await document.getPage(prints.length + 1);
      const items = await textItems(page, room);
      page.cleanup();
      if (!items) return null;
      const text = items.map((item) => item.str + (item.hasEOL ? "\n" : " ")).join("");
      room -= text.length;
      const { width, height } = page.getViewport({ scale: 1 });
      prints.push({ width: Math.round(width), height: Math.round(height), shingles: shinglesOf(text) });
    }
    return prints;
  } catch {
    return null;
  } finally {
    await opening.destroy();
  }
}

/**
 * Makes the hashes from letters only. Digits and underscores are entries, or space for entries, so they differ between
 * copies of a form.
 */
export function shinglesOf(text: string): number[] {
  const words = text
    .normalize("NFKC")
    .toLowerCase()
    .split(/\s+/u)
    .map((word) => word.replace(/[^\p{L}]/gu, ""))
    .filter((word) => word !== "");
  const found = new Set<number>();
  for (let index = 0; index + inShingle <= words.length; index++) {
    const shingle = words.slice(index, index + inShingle).join(" ");
    found.add(createHash("sha256").update(shingle).digest().readUInt32BE());
  }
  return [...found].sort((a, b) => a - b);
}
