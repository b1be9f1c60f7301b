import { type Blank, endOf, isInside, isValue } from "./blanks.ts";
import type { Rect } from "./content.ts";
import { type Found, isExplicit, type PageWords, read } from "./labels.ts";
import { measures } from "./patterns.ts";

/**
 * The heading of a cell's column: the nearest words above the cell. The search goes up from cell to cell of the column.
 */
export function headingOf({ box }: Blank, page: PageWords): Found | null {
  if (!box) return null;
  const { boxes } = page.content;
  let cell: Rect = box;
  for (let steps = 0; steps < 40; steps++) {
    const top = cell;
    const above = boxes.find((each) => isBelow(each, top));
    const words = above && page.words.find((run) => isInside(run, above));
    if (words) return read(words.text, page, words.y, false);
    if (!above) break;
    cell = above;
  }
  const first = cell;
  const heading = page.words.find(
    (run) => run.y < first.y && run.y > first.y - 18 && run.x >= first.x - 2 && endOf(run) <= endOf(first) + 2,
  );
  return heading ? read(heading.text, page, heading.y, false) : null;
}

export function labelInside(blank: Blank, page: PageWords): Found | null {
  const { box } = blank;
  const first = box && page.words.filter((run) => isInside(run, box)).sort((a, b) => a.y - b.y || a.x - b.x)[0];
  if (!first || !box) return null;
  // If the next cell is empty or has an amount, the words are its label.
  const next = page.content.boxes.find((each) => Math.abs(each.x - endOf(box)) < 3 && Math.abs(each.y - box.y) < 3);
  if (next && !page.words.some((run) => isInside(run, next) && !isValue(run.text))) return { label: "", kind: "other" };
  // If the cell below is empty too, the words are the heading of a column.
  const lower = page.content.boxes.find((each) => isBelow(box, each));
  if (box.height < 36 && lower && !page.words.some((run) => isInside(run, lower))) return { label: "", kind: "other" };
  const found = read(first.text, page, first.y, false);
  const isHeading = box.height < measures.leastLabeledBox && !isExplicit(first.text) && !/:\s*$/.test(first.text);
  return found.kind === "signature" && isHeading ? { ...found, kind: "other" } : found;
}

/** Whether the second cell follows the first in a column. */
const isBelow = (upper: Rect, lower: Rect): boolean =>
  Math.abs(lower.x - upper.x) < 3 &&
  Math.abs(lower.width - upper.width) < 6 &&
  Math.abs(upper.y + upper.height - lower.y) < 3;
