import { createHash } from "node:crypto";
import { openWithinBounds, textItems } from "../../kernel/pdf/pdf-js.ts";

/** A fingerprint of a page, which recognizes the same form with other entries. */
export type PagePrint = {
  /** The size of the page as shown, in whole points. */
  readonly width: number;
  readonly height: number;
  /** 32-bit hashes of every five consecutive words, ascending. */
  readonly shingles: readonly number[];
};

/** The pages after this one are not compared; only their number counts. */
const mostPrinted = 50;
const mostCharacters = 1_000_000;
const inShingle = 5;

/** Null for a document that pdf.js can't read. Reads at most `mostPrinted` pages; the others have no fingerprint. */
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
 * Ignores digits, blanks and runs of underscores, because they are entries or space for entries, and differ between
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
