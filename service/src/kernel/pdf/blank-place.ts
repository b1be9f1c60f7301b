import { withPdf } from "./pdf-js.ts";
import { type Box, overlaps, shownOn, wordsOn } from "./shown.ts";

/** The size of the place to find, in points. */
export type Size = { readonly width: number; readonly height: number };

/** A blank place on a page, in user space. */
export type BlankPlace = {
  /** The index of the page, counted from 0. */
  readonly page: number;
  readonly box: Box;
  /** The upper left corner of `box`, measured from the upper left corner of the page. */
  readonly upperLeft: { readonly x: number; readonly y: number };
};

/**
 * A field that the service will add to the document. Its position is measured from the upper left corner of its page.
 */
export type PlannedBox = { readonly page: number; readonly x: number; readonly y: number } & Size;

function boxOf({ page, x, y, width, height }: PlannedBox, number: number, view: readonly number[]): Box[] {
  const [left = 0, , , top = 0] = view;
  return page === number - 1 ? [[left + x, top - y - height, left + x + width, top - y]] : [];
}

const margin = 36;
const step = 12;
/**
 * The most pages to search, from the last page backward. People expect the signatures near the document's last words.
 */
const maxPages = 5;

/**
 * Finds a blank place of this size at the left or right margin. Searches the last `maxPages` pages, from the last page
 * backward. Returns the lowest blank place of the first page that has one. Null if no page has one, or if pdf.js can't
 * read the document.
 *
 * Skips pages that are shown rotated or scaled. Only words, annotations and planned fields make a place occupied, not
 * lines or pictures. `onPrinted` also skips pages without words, which are probably scans.
 */
export async function blankPlace(
  document: Buffer,
  { width, height }: Size,
  planned: readonly PlannedBox[] = [],
  { onPrinted = false }: { onPrinted?: boolean } = {},
): Promise<BlankPlace | null> {
  return withPdf(document, async (opened) => {
    for (let number = opened.numPages; number > Math.max(0, opened.numPages - maxPages); number--) {
      const page = await opened.getPage(number);
      if (page.rotate !== 0 || page.userUnit !== 1) continue;
      const words = await wordsOn(page);
      if (onPrinted && words.length === 0) continue;
      const shown = [...words, ...(await shownOn(page))].map(({ box }) => box);
      const occupied = [...shown, ...planned.flatMap((each) => boxOf(each, number, page.view))];
      const box = blankOn(page.view, occupied, width, height);
      if (box) {
        const [left = 0, , , top = 0] = page.view;
        return { page: number - 1, box, upperLeft: { x: box[0] - left, y: top - box[3] } };
      }
      page.cleanup();
    }
    return null;
  });
}

function blankOn(view: readonly number[], occupied: readonly Box[], width: number, height: number): Box | null {
  const [left = 0, bottom = 0, right = 0, top = 0] = view;
  for (let y = bottom + margin; y + height <= top - margin; y += step)
    for (const x of [left + margin, right - margin - width]) {
      const box = [x, y, x + width, y + height] as const;
      if (x >= left && box[2] <= right && !occupied.some((each) => overlaps(box, each))) return box;
    }
  return null;
}
