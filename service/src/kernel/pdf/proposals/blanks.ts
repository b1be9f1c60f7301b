import type { PageContent, Rect, Rule } from "./content.ts";
import { measures } from "./patterns.ts";
import { isMarks, type Run } from "./runs.ts";

/**
 * A place on paper to write on: a line, or the inside of a box. `y` is the height of the line to write on, like a
 * baseline.
 */
export type Blank = { readonly x: number; readonly y: number; readonly width: number; readonly box: Rect | null };

export const endOf = ({ x, width }: { readonly x: number; readonly width: number }): number => x + width;
export const overlap = (a: { x: number; width: number }, b: { x: number; width: number }): number =>
  Math.min(endOf(a), endOf(b)) - Math.max(a.x, b.x);

/**
 * The words of a page: its runs, without marks such as underscores, and without lone punctuation, such as a slash
 * between marks.
 */
export const wordsIn = ({ runs }: PageContent): Run[] =>
  runs.filter((run) => !isMarks(run) && !/^[/|&,;()[\] ]+$/.test(run.text));

/**
 * The blanks of a page; blanks made of marks, such as underscores, come first. A box or a drawn line at the place of
 * such marks is not a second blank. A line in a box is not a second blank either.
 */
export function blanksIn(content: PageContent): Blank[] {
  const words = wordsIn(content);
  const found: Blank[] = [];
  const add = (blank: Blank) => {
    const isDuplicate = found.some(
      (other) => Math.abs(other.y - blank.y) < 8 && overlap(other, blank) > 0.6 * Math.min(other.width, blank.width),
    );
    if (!isDuplicate) found.push(blank);
  };
  // True for dots that lead to a number, as in a table of contents or a price list. Such dots are not a blank.
  const leads = (blank: Blank) =>
    words.some(
      (run) =>
        Math.abs(run.y - blank.y) < 2 && run.x >= endOf(blank) - 2 && run.x - endOf(blank) < 12 && isValue(run.text),
    );
  for (const blank of marksTogether(content.runs.filter(isMarks))) if (!leads(blank)) add(blank);
  const isBlankSize = ({ width }: { width: number }) =>
    width >= measures.minInitials && width <= measures.maxBlank * content.width;
  for (const box of content.boxes.filter((each) => isBlankSize(each) && isBoxSize(each))) {
    const inside = words.filter((run) => isInside(run, box));
    // Words in a box may be its label, if the box has space to write next to them or below them. A low box that is
    // mostly filled with words has no such space.
    const isFull = inside.reduce((sum, run) => sum + run.width, 0) > 0.75 * box.width && box.height < 30;
    if (inside.length > 3 || isFull || inside.some(({ text }) => isValue(text))) continue;
    // If the box contains a line, people write on that line.
    const line = content.rules.find((rule) => isBlankSize(rule) && isLineIn(rule, box));
    add(line ? { ...line, box } : { x: box.x + 2, y: box.y + box.height - 3, width: box.width - 4, box });
  }
  for (const rule of content.rules)
    if (
      isBlankSize(rule) &&
      (rule.width <= measures.maxRule * content.width || isSigned(rule, words)) &&
      !isUnderWords(rule, words)
    )
      add({ ...rule, box: null });
  return found;
}

const isLineIn = ({ x, y, width }: Rule, box: Rect): boolean =>
  x > box.x + 1 && x + width < endOf(box) - 1 && y > box.y + 9 && y < box.y + box.height - 1;

/**
 * True if a frame is a box to write in: neither very low nor very high. Some typesetters draw lines as very low frames.
 * A low frame that is nearly square is a checkbox.
 */
const isBoxSize = ({ width, height }: Rect): boolean =>
  height <= 80 && (height >= 14 || (height >= 9 && width > 2.5 * height));

/** True if a text is an amount, a number or a date. A place with such a text has been filled in. */
export const isValue = (text: string): boolean => /^[$€]?\d[\d.,/%-]*$/.test(text.trim());

/** Joins runs of marks (such as underscores) that follow each other on a line into one blank. */
function marksTogether(marks: readonly Run[]): Blank[] {
  const found: Blank[] = [];
  for (const { x, y, width } of [...marks].sort((a, b) => a.y - b.y || a.x - b.x)) {
    const last = found.at(-1);
    if (last && Math.abs(last.y - y) < 2 && x - endOf(last) < 1.5)
      found[found.length - 1] = { ...last, width: endOf({ x, width }) - last.x };
    else found.push({ x, y, width, box: null });
  }
  return found.filter(({ width }) => width >= measures.minInitials);
}

export const isInside = (run: Run, box: Rect): boolean =>
  run.x >= box.x - 2 && endOf(run) <= endOf(box) + 2 && run.y > box.y && run.y <= box.y + box.height + 1;

/**
 * True if words below or above the left end of a line ask for a signature. Such a line is a line to write on, even if
 * it is long.
 */
const isSigned = (rule: Rule, words: readonly Run[]): boolean =>
  words.some(
    ({ text, x, y }) =>
      Math.abs(x - rule.x) < 4 &&
      (y > rule.y
        ? y - rule.y < measures.labelBelow && /\b(?:signature|firma)\b/i.test(text)
        : rule.y - y < measures.labelFarAbove && /^(?:signature|firma)\b.*:$/i.test(text)),
  );

/** True if words stand on a line. The line then underlines them, or is already filled in. */
const isUnderWords = (rule: Rule, words: readonly Run[]): boolean =>
  words.some(
    (run) =>
      (run.y > rule.y - 6 && run.y <= rule.y + 1 && overlap(run, rule) > Math.min(12, 0.3 * rule.width)) ||
      (run.y > rule.y - 11 && run.y <= rule.y && overlap(run, rule) > 0.6 * rule.width),
  );

/** The height of the empty space above a line, in points: at most `max`. */
export function roomAbove(blank: Blank, others: readonly (Run | Blank)[], max: number): number {
  const { box } = blank;
  const within = box ? others.filter((each) => "text" in each && isInside(each, box)) : others;
  const lines = within.filter((each) => each.y < blank.y - 4 && overlap(each, blank) > 2).map(({ y }) => y + 2);
  const floor = Math.max(box ? box.y : Number.NEGATIVE_INFINITY, ...lines);
  return Math.min(max, blank.y - floor);
}
