import { type Blank, endOf, overlap } from "./blanks.ts";
import { captionsBelow } from "./captions.ts";
import {
  beforeArrow,
  type Found,
  follows,
  isArrow,
  isExplicit,
  isOnLine,
  linesOfLabel,
  type PageWords,
  read,
  wrapped,
} from "./labels.ts";
import { endMarks, kindOfLabel, measures } from "./patterns.ts";
import type { Run } from "./runs.ts";

/** The label of a blank, from the words to its left, on its line. Another blank between them hides these words. */
export function labelToTheLeft(blank: Blank, page: PageWords): Found | null {
  const { words, blanks } = page;
  // Item marks such as "4." are not labels. The line numbers of a pleading look like item marks too.
  const nearest = words
    .filter((run) => isOnLine(run, blank) && endOf(run) <= blank.x + 4 && !isItemMark(run))
    .sort((a, b) => endOf(b) - endOf(a))[0];
  const left = nearest && isArrow(nearest) ? beforeArrow(nearest, page) : nearest;
  const isColon = left && /:\s*$/.test(left.text);
  if (!left || blank.x - endOf(left) > (isColon ? measures.labelFarBeside : measures.labelBeside)) return null;
  if (blanks.some((other) => other !== blank && isTagOf(left, other)) || isBehind(left, page)) return null;
  const isFar = blank.x - endOf(left) > measures.labelNear && !isColon;
  if (isFar && captionsBelow(blank, page).some(({ text }) => kindOfLabel(text))) return null;
  const between = blanks.filter(
    (other) =>
      other !== blank && Math.abs(other.y - blank.y) < 6 && other.x >= endOf(left) - 2 && endOf(other) <= blank.x + 2,
  );
  const before = between.sort((a, b) => endOf(b) - endOf(a))[0];
  if (before) {
    // One "Initials:" label may apply to several blanks in a row, one for each person.
    const shared =
      blank.x - endOf(before) < 24 && before.width < blank.width * 1.5 ? labelToTheLeft(before, page) : null;
    return shared?.kind === "initials" ? shared : null;
  }
  const label = lastPart(wrapped(left, page)) ?? lastPart(left.text);
  const isAdjacent = isColon || blank.x - endOf(left) < 12;
  // Words that are too many for a label may be a sentence that continues in the blank. If there is a gap between the
  // words and the blank, the words belong to another column.
  if (label === null) return isAdjacent ? { label: "", kind: kindOfClause(left, blank) } : null;
  const isInSentence = words.some(
    (run) => run !== left && isOnLine(run, blank) && endOf(run) <= left.x + 2 && left.x - endOf(run) < nextWord,
  );
  const marks = blanks.find((other) => other !== blank && follows(left, other, 12));
  // In "Accepted by ____ on ____", one signer fills both blanks, so the second blank is the date.
  if (marks && /^on$/i.test(label) && labelToTheLeft(marks, page)?.kind === "signature") return { label, kind: "date" };
  // In "acknowledged on ____ by ____", the words "on" and "by" are parts of a sentence. Such a word is a label only at
  // the start of its line or cell.
  const mayFollow = !/:\s*$/.test(left.text) && !/^x$/i.test(label);
  if (/^(?:by|on|x)\b/i.test(label) && (marks || (isInSentence && mayFollow))) return { label, kind: "other" };
  const isAtFoot = blank.y > measures.foot * page.content.height;
  if (isAtFoot && blank.width < measures.minBlank && kindOfLabel(label) === "signature" && !isExplicit(label))
    return { label: "", kind: "initials" };
  const found = read(label, page, left.y, false);
  // "... the Executrix, the sum of ____" is a sentence that only mentions a party.
  if (found.kind === "signature" && !isExplicit(label) && /,.* (?:of|to|for|by|from)$/.test(label))
    return { label, kind: "other" };
  // If words match no pattern, they label a blank only if the blank follows them directly, or if they end with a colon.
  if (found.kind === null) return isAdjacent ? { ...found, kind: "other" } : null;
  return found;
}

/**
 * In points. Words on a line with a smaller gap between them belong to one sentence; a larger gap separates columns.
 */
const nextWord = 40;

/**
 * The kind of field that a sentence asks for: "... have set their hands on ____" ends with the date of signing,
 * "Signed by the testator in our presence: ____" is a signature line, and "Initials of the client on each page: ____"
 * asks for initials.
 */
function kindOfClause({ text }: Run, { width }: Blank): "date" | "signature" | "initials" | "other" {
  if (width < measures.minBlank) return asksInitials(text) ? "initials" : "other";
  if (/\b(?:signed|executed|set (?:my|our|their|his|her) hands?)\b.*\bon$/i.test(text)) return "date";
  const isSigned = /^(?:signed|executed|subscribed)\b.*\bby\b.*:$/i.test(text) && !/\bpresence of\b/i.test(text);
  return isSigned ? "signature" : "other";
}

/**
 * The label at the end of a run: the words after its last sentence, colon or wide gap. Null when these words are too
 * many for a label.
 */
function lastPart(text: string): string | null {
  const part =
    text
      .replace(/[\s([]+$/, "")
      .replace(endMarks, "")
      .split(/(?<=[\p{L}\d]{4}|\))[.;]\s+|:\s+|\s{3,}/u)
      .at(-1)
      ?.trim() ?? "";
  return part.split(/\s+/).length > 6 ? null : part;
}

/**
 * The label in the cell before a line. The label may be higher than the line: in the middle or at the top of the
 * label's cell.
 */
export function labelOnRow(blank: Blank, page: PageWords): Found | null {
  if (blank.box) return null;
  const left = page.words
    .filter(
      (run) =>
        run.y < blank.y &&
        blank.y - run.y < measures.rowHeight &&
        endOf(run) <= blank.x + 4 &&
        blank.x - endOf(run) < measures.labelNear,
    )
    .sort((a, b) => b.y - a.y || endOf(b) - endOf(a))[0];
  if (!left) return null;
  const isBetween = (other: Blank) => other.x >= endOf(left) - 2 && other.x < blank.x && isOnLine(left, other);
  if (page.blanks.some(isBetween)) return null;
  const isFull = page.words.some(
    (run) => run.y < blank.y && run.y > left.y - left.size && overlap(run, blank) > 0.2 * blank.width,
  );
  const label = lastPart(wrapped(left, page));
  return isFull || label === null ? null : read(label, page, left.y, false);
}

/**
 * Recognizes a short blank for initials: before an item of a list that asks for initials, or at the start of a line
 * below "Initials:".
 */
export function initialsBefore(blank: Blank, { words, blanks }: PageWords): Found | null {
  if (blank.width > measures.maxInitials) return null;
  if (isAfterWrap(blank, words)) return { label: "", kind: "initials" };
  // Several people may initial one item: "____ ____ Primary Residence". So the item may follow a later blank of the
  // row.
  let end = endOf(blank);
  const onLine = blanks.filter(({ x, y }) => Math.abs(y - blank.y) < 3 && x > blank.x).sort((a, b) => a.x - b.x);
  for (const { x, width } of onLine) if (x > end - 2 && x - end < 12 && width <= measures.maxInitials) end = x + width;
  const item = words.some((run) => follows(run, { ...blank, width: end - blank.x }, 24) && !/^\p{Ll}/u.test(run.text));
  const isFirst = !words.some((run) => isOnLine(run, blank) && run.x < blank.x && !isItemMark(run));
  // True if a blank of the same size is right above or below. This identifies the blanks in the second column of a
  // list.
  const isNext = blanks.some(
    ({ x, y, width }) =>
      Math.abs(x - blank.x) < 2 && Math.abs(width - blank.width) < 2 && y !== blank.y && Math.abs(y - blank.y) < 24,
  );
  const isAsked = words.some(
    (run) => run.y < blank.y && run.y > blank.y - measures.initialsAbove && kindOfLabel(run.text) === "initials",
  );
  return item && (isFirst || isNext) && isAsked ? { label: "", kind: "initials" } : null;
}

/** True for the mark of a list item: "(c)", "(ii)", "4." and the like. */
const isItemMark = ({ text }: Run): boolean => /^(?:\(?\d{1,2}[.)]?|\([a-z]{1,4}\)|[a-z][.)])$/i.test(text);

/** True if the line above ends with "Initials:". The blank is then for initials; a line break parted it from its label. */
const isAfterWrap = ({ x, y }: Blank, words: readonly Run[]): boolean =>
  words.some(
    (run) =>
      run.y < y &&
      y - run.y < linesOfLabel.apart * run.size &&
      x > run.x - 2 &&
      x < run.x + measures.maxInitials &&
      asksInitials(run.text),
  );

const asksInitials = (text: string): boolean =>
  text.endsWith(":") && kindOfLabel(lastPart(text) ?? text.slice(-maxEndLength)) === "initials";

/** In characters. If a label is too long, only this many characters at its end are read. */
const maxEndLength = 40;

/** True if words right after a line label that line: "____, Seller", "____ (date)" and "____ (Seal)". */
const isTagOf = (run: Run, blank: Blank): boolean =>
  Math.abs(run.y - blank.y) < 6 &&
  run.x >= endOf(blank) - 2 &&
  run.x - endOf(blank) < 24 &&
  /^(?:, ?\p{Lu}.{0,40}|\(.{1,20}\))$/u.test(run.text);

export function labelBehind(blank: Blank, page: PageWords): Found | null {
  const run = page.words.find((each) => isTagOf(each, blank)) ?? follower(blank, page);
  if (!run) return null;
  if (/^\(?(?:l\.?\s?s\.?|seal)\)?/i.test(run.text)) return { label: "", kind: "signature" };
  if (!isTagOf(run, blank) && !isBehind(run, page)) return null;
  const label = run.text.replace(/^,\s*/, "");
  const found = read(label, page, run.y, true);
  // In minutes of a meeting, each director's line is followed by the director's surname. So a single capitalized word
  // after a line means a signature.
  const isName = found.kind === null && blank.width >= measures.minSignature && /^\p{Lu}[\p{L}'’-]+$/u.test(label);
  return isName && page.isExecution(blank.y, true) ? { ...found, kind: "signature" } : found;
}

const follower = (blank: Blank, { words }: PageWords): Run | undefined => words.find((run) => follows(run, blank, 16));

/** True if words label the blank before them, in a row that begins with a blank: "____ Contractor  ____ Date". */
function isBehind(run: Run, page: PageWords): boolean {
  if (run.text.split(/\s+/).length > 4 || (kindOfLabel(run.text) === null && !/^\p{Lu}/u.test(run.text))) return false;
  const row = page.blanks.filter((blank) => !blank.box && isOnLine(run, blank)).sort((a, b) => a.x - b.x);
  const [first] = row;
  if (!first || !row.every((blank) => follower(blank, page))) return false;
  return !page.words.some(
    (other) =>
      isOnLine(other, first) && other.x < first.x && first.x - endOf(other) < 150 && kindOfLabel(other.text) !== null,
  );
}
