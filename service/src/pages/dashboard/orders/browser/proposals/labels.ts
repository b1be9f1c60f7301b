import type { Rect } from "../places/field.ts";
import { type Blank, endOf, isInside, isValue, overlap } from "./blanks.ts";
import type { PageContent } from "./content.ts";
import { executionWords, kindOfLabel, measures, reservedParts } from "./patterns.ts";
import type { Run } from "./runs.ts";

export type PageWords = {
  readonly words: readonly Run[];
  readonly blanks: readonly Blank[];
  readonly content: PageContent;
  /** Whether the text at this height follows words which say that people sign the document there. */
  readonly isExecution: (y: number) => boolean;
};

export type Found = {
  readonly label: string;
  readonly kind: ReturnType<typeof kindOfLabel>;
  readonly isHeading?: boolean;
};

/** A party's name means `signature` only where the document is signed. */
export function read(text: string, { isExecution }: PageWords, y: number, isCaption: boolean): Found {
  const kind = kindOfLabel(text);
  const label = text.replace(/[\s:_]+$/u, "").trim();
  if (kind === "signature" && !isExplicit(text) && !isExecution(y)) return { label, kind: null };
  // A person's name below a line: "Jane Q. Public", "Name: Jane Public", or "JOHN ROE, an unmarried man".
  const person = label.replace(/^(?:name|nombre):\s*/i, "");
  if (
    (kind === null || person !== label) &&
    isCaption &&
    isExecution(y) &&
    /^\p{Lu}[\p{L}.'’-]*(?: \p{Lu}[\p{L}.'’-]*){1,3}(?:,.*)?$/u.test(person)
  )
    return { label, kind: "signature" };
  return { label, kind };
}

export const isExplicit = (text: string): boolean =>
  /\bsign|\binitial|^by\b|\bby$|^x\b|firma|iniciales|^recib[ií]|conform/i.test(text);

/** The heading of a cell's column: the first words above the cell, through the cells of the same column. */
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

/** The words to the left of a blank, on its line, without another blank between them. */
export function labelBeside(blank: Blank, page: PageWords): Found | null {
  const { words, blanks } = page;
  const isOnLine = (run: Run) =>
    blank.box
      ? run.y > blank.box.y && run.y < blank.box.y + blank.box.height + 2
      : Math.abs(run.y - blank.y) < Math.max(5, run.size * 0.4);
  const left = words.filter((run) => isOnLine(run) && endOf(run) <= blank.x + 4).sort((a, b) => endOf(b) - endOf(a))[0];
  if (left && blanks.some((other) => other !== blank && isTagOf(left, other))) return null;
  if (!left || blank.x - endOf(left) > measures.labelBeside) return null;
  const isFar = blank.x - endOf(left) > measures.labelNear && !/:\s*$/.test(left.text);
  if (isFar && captionsBelow(blank, page).some(({ text }) => kindOfLabel(text))) return null;
  const between = blanks.filter(
    (other) =>
      other !== blank && Math.abs(other.y - blank.y) < 6 && other.x >= endOf(left) - 2 && endOf(other) <= blank.x + 2,
  );
  const before = between.sort((a, b) => endOf(b) - endOf(a))[0];
  if (before) {
    // One label may precede the blanks for several people's initials.
    const shared = blank.x - endOf(before) < 20 && before.width < blank.width * 1.5 ? labelBeside(before, page) : null;
    return shared?.kind === "initials" ? shared : null;
  }
  const label = lastPart(left.text);
  if (label === null) return { label: "", kind: "other" };
  const follows = words.some(
    (run) => run !== left && isOnLine(run) && endOf(run) <= left.x + 2 && left.x - endOf(run) < 150,
  );
  const marks = blanks.some(
    (other) =>
      other !== blank && Math.abs(other.y - left.y) < 6 && endOf(other) <= left.x + 2 && left.x - endOf(other) < 12,
  );
  // "acknowledged on ____ by ____" is a sentence: such a word counts as a label only at the start of its line or cell.
  if (/^(?:by|on|x)\b/i.test(label) && (marks || (follows && !/:\s*$/.test(left.text))))
    return { label, kind: "other" };
  const isAtFoot = blank.y > measures.foot * page.content.height;
  if (isAtFoot && blank.width < measures.leastBlank && kindOfLabel(label) === "signature" && !isExplicit(label))
    return { label: "", kind: "initials" };
  const found = read(label, page, left.y, false);
  // Words without a colon that are far from the blank label something else.
  if (found.kind === null)
    return /:\s*$/.test(left.text) || blank.x - endOf(left) < 12 ? { ...found, kind: "other" } : null;
  return found;
}

/** The label at the end of a run: the text after its last sentence. Null for a sentence. */
function lastPart(text: string): string | null {
  const part =
    text
      .replace(/[\s:]+$/u, "")
      .split(/[.;:]\s+|\s{3,}/u)
      .at(-1)
      ?.trim() ?? "";
  return part.split(/\s+/).length > 6 ? null : part;
}

/** The text that continues below a blank, at the start of the blank's line, unless the text is a long label. */
const isSentence = (text: string): boolean => {
  const count = text.split(/\s+/).length;
  return (
    (count >= measures.wordsOfSentence || (count > 3 && text.endsWith("."))) &&
    !/^\W*(?:sign|firma|name|print)/i.test(text)
  );
};

/** The words directly below a blank, unless they are the label of a blank next to them. */
export function captionsBelow(blank: Blank, { words, blanks }: PageWords): Run[] {
  const near = words.filter((run) => {
    const gap = run.y - run.size * 0.75 - blank.y;
    return (
      gap > -3 &&
      gap < measures.labelBelow + (blank.box ? 4 : 0) &&
      overlap(run, blank) > Math.min(run.width, blank.width) * 0.5 &&
      !isSentence(run.text)
    );
  });
  const nearest = Math.min(...near.map(({ y }) => y));
  const line = near.filter(({ y }) => y - nearest < 3).sort((a, b) => a.x - b.x);
  return line.filter(
    (run) =>
      !blanks.some(
        (other) =>
          other !== blank && Math.abs(other.y - run.y) < 6 && other.x >= endOf(run) - 4 && other.x - endOf(run) < 60,
      ),
  );
}

/** Finds the label of short blanks before the items of a list, below words that ask for initials. */
export function initialsBefore(blank: Blank, { words }: PageWords): Found | null {
  if (blank.box || blank.width > measures.mostInitials) return null;
  const isOnLine = (run: Run) => Math.abs(run.y - blank.y) < Math.max(5, run.size * 0.4);
  const item = words.some((run) => isOnLine(run) && run.x >= endOf(blank) - 2 && run.x - endOf(blank) < 24);
  const isFirst = !words.some((run) => isOnLine(run) && run.x < blank.x);
  const isAsked = words.some(
    (run) => run.y < blank.y && run.y > blank.y - measures.initialsAbove && kindOfLabel(run.text) === "initials",
  );
  return item && isFirst && isAsked ? { label: "", kind: "initials" } : null;
}

/** Words right behind a line that belong to it: "____, Seller", "____ (date)" and "____ (Seal)". */
const isTagOf = (run: Run, blank: Blank): boolean =>
  Math.abs(run.y - blank.y) < 6 &&
  run.x >= endOf(blank) - 2 &&
  run.x - endOf(blank) < 24 &&
  /^(?:, ?\p{Lu}.{0,40}|\(.{1,20}\))$/u.test(run.text);

export function labelBehind(blank: Blank, page: PageWords): Found | null {
  const run = page.words.find((each) => isTagOf(each, blank));
  if (!run) return null;
  if (/^\(?(?:l\.?\s?s\.?|seal)\)?/i.test(run.text)) return { label: "", kind: "signature" };
  return read(run.text.replace(/^,\s*/, ""), page, run.y, false);
}

export function labelAbove(blank: Blank, page: PageWords): Found | null {
  if (blank.box) return null;
  const run = page.words.find(
    ({ x, y, width }) =>
      y < blank.y - 5 && y > blank.y - measures.labelAbove && Math.abs(x - blank.x) < 14 && width < blank.width + 20,
  );
  if (!run || run.text.split(/\s+/).length > (isExplicit(run.text) ? measures.wordsAbove : 4)) return null;
  return read(run.text, page, run.y, false);
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
  return read(first.text, page, first.y, false);
}

/** Whether the second cell follows the first in a column. */
const isBelow = (upper: Rect, lower: Rect): boolean =>
  Math.abs(lower.x - upper.x) < 3 &&
  Math.abs(lower.width - upper.width) < 6 &&
  Math.abs(upper.y + upper.height - lower.y) < 3;

/**
 * Returns a test of whether the document is signed at a height: below words that say so, or below the last sentence of
 * the page.
 */
export function executionAbove(words: readonly Run[]): (y: number) => boolean {
  const first = Math.min(...words.filter(({ text }) => executionWords.test(text)).map(({ y }) => y));
  const sentences = words.filter(({ text }) => text.split(/\s+/).length >= measures.wordsOfSentence);
  const last = sentences.length > 1 ? Math.max(...sentences.map(({ y }) => y)) : Number.POSITIVE_INFINITY;
  // A party's line next to a line for a date is for a signature.
  const dates = words.filter(({ text }) => kindOfLabel(text) === "date").map(({ y }) => y);
  return (y) => y >= first - 4 || y > last || dates.some((date) => Math.abs(date - y) < 4);
}

export type Part = { readonly top: number; readonly bottom: number };

/**
 * The parts of a page that a notary, a judge or an office fills in: from the words that begin such a part to the words
 * that end it.
 */
export function partsOfOthers({ height }: PageContent, words: readonly Run[]): Part[] {
  const sorted = [...words].sort((a, b) => a.y - b.y);
  const found: Part[] = [];
  for (const { text, y } of sorted) {
    if (found.some(({ bottom }) => y < bottom)) continue;
    const part = reservedParts.find(
      ({ opens, needs, unless }) =>
        opens.test(text) &&
        (!needs || sorted.some((run) => run.y > y && needs.test(run.text))) &&
        !(unless && sorted.some((run) => run.y > y + 20 && unless.test(run.text))),
    );
    if (!part) continue;
    const close = sorted.find((run) => run.y > y + 4 && part.closes?.test(run.text));
    const end = Math.min(height, y + (part.height ?? height));
    found.push({ top: y - 14, bottom: close ? Math.min(close.y + 20, end) : end });
  }
  return found;
}
