import { type Blank, endOf, overlap } from "./blanks.ts";
import type { PageContent } from "./content.ts";
import { isOnLine } from "./labels.ts";
import {
  executionWords,
  kindOfLabel,
  measures,
  parties,
  reservedParts,
  witnessClause,
  witnessHeading,
} from "./patterns.ts";
import type { Run } from "./runs.ts";

/**
 * Returns a function that tells whether people sign at a given height of the page. They sign below words such as "in
 * witness whereof", below the page's last sentence, or next to a date. Sentences of a notary's certificate don't count.
 */
export function executionAbove(
  words: readonly Run[],
  ofOthers: readonly Part[],
): (y: number, isCaption?: boolean) => boolean {
  const first = Math.min(...words.filter(({ text }) => executionWords.test(text)).map(({ y }) => y));
  const sentences = words.filter((run) => isSentence(run) && !isInPart(run, ofOthers));
  const last = Math.max(...sentences.map(({ y }) => y));
  // If a row has a label for a date, a party's name on that row asks for a signature.
  const dates = words.filter(({ text }) => kindOfLabel(text) === "date").map(({ y }) => y);
  return (y, isCaption = false) =>
    y >= first - 4 || ((isCaption || sentences.length > 1) && y > last) || dates.some((date) => Math.abs(date - y) < 4);
}

/** True if a run has so many words that it is a sentence of the document. */
export const isSentence = ({ text }: Run): boolean => text.split(/\s+/).length >= measures.wordsOfSentence;

export type Part = {
  readonly top: number;
  readonly bottom: number;
  readonly left: number;
  readonly right: number;
};

export const isInPart = ({ x, y }: { readonly x: number; readonly y: number }, parts: readonly Part[]): boolean =>
  parts.some(({ top, bottom, left, right }) => y > top && y < bottom && x > left && x < right);

/**
 * The parts of a page that a notary, a judge or an office fills in: from the words that begin such a part to the words
 * that end it.
 */
export function partsOfOthers({ height, width }: PageContent, words: readonly Run[]): Part[] {
  const sorted = [...words].sort((a, b) => a.y - b.y);
  const found: Part[] = [];
  for (const run of sorted) {
    const { text, y } = run;
    if (found.some(({ bottom }) => y < bottom)) continue;
    const part = reservedParts.find(
      ({ opens, needs, unless }) =>
        opens.test(text) &&
        (!needs || sorted.some((run) => run.y > y && needs.test(run.text))) &&
        !(unless && sorted.some((run) => run.y > y + 20 && unless.test(run.text))),
    );
    if (!part) continue;
    const close = sorted.find((other) => other.y > y + 4 && part.closes?.test(other.text) && !isSentence(other));
    // A notary's certificate has few sentences. If more sentences follow, this is an affidavit, and its notary signs on
    // another page.
    if (!part.height && !close && sorted.filter((other) => other.y > y && isSentence(other)).length > maxSentences)
      continue;
    const end = Math.min(height, y + (part.height ?? height));
    const bottom = close ? Math.min(close.y + 20, end) : end;
    // Only a part for an office, such as a recorder, has a fixed height. Such a part is as wide as the page, because
    // gaps between its words don't separate columns.
    const right = part.height === undefined ? columnEnd(run, bottom, sorted, width) : width;
    found.push({ top: y - 14, bottom, left: 0, right });
  }
  return found;
}

/**
 * The right end of a part that begins at the left edge of the page. If other words, such as the signers' lines, are to
 * the right of the part's column, the part ends with its column. Otherwise it ends at the edge of the page.
 */
function columnEnd(opening: Run, bottom: number, words: readonly Run[], width: number): number {
  const inside = words.filter(({ y }) => y >= opening.y - 3 && y <= bottom);
  let end = endOf(opening);
  for (const run of [...inside].sort((a, b) => a.x - b.x)) if (run.x < end + columnGap) end = Math.max(end, endOf(run));
  const right = inside.filter(({ x }) => x >= end + columnGap);
  const isColumn = end < widestColumn * width && right.length > 0;
  return isColumn && right.every(({ text }) => kindOfLabel(text) !== "notary") ? end + 4 : width;
}

/** A notary's certificate has at most this many sentences. */
const maxSentences = 8;

/** The smallest gap between two columns, in points. */
const columnGap = 24;
/** The left column ends at most at this share of the page's width. */
const widestColumn = 0.55;

/** In points. A larger vertical gap between two lines of words ends the part for a witness. */
const apart = 70;
/** Of the headings of witnesses on a page, only this many are read. */
const maxHeadings = 40;
/** The greatest distance, in points, from a line down to its caption. */
const captionGap = 14;
/**
 * In points. `centered`: a heading whose middle is this close to the middle of the page applies to all columns.
 * `column`: the greatest width of one column.
 */
const centered = 20;
const column = 200;

/**
 * The parts of a page below headings such as "First witness" and "Witnesses:". Such a part is as wide as the column of
 * its heading. It ends at a sentence, at a gap larger than `apart`, or at words that name another party.
 */
export function partsOfWitnesses({ width }: PageContent, words: readonly Run[], blanks: readonly Blank[]): Part[] {
  const isHeading = ({ text }: Run) => witnessHeading.test(text) || witnessClause.test(text);
  return words
    .filter(isHeading)
    .slice(0, maxHeadings)
    .flatMap((heading): Part[] => {
      const onRow = words.filter((run) => run.x > heading.x && Math.abs(run.y - heading.y) < 3);
      const next = Math.min(...onRow.map(({ x }) => x));
      const isClause = witnessClause.test(heading.text);
      const isLabel = blanks.some(
        (blank) => isCaption(heading, blank) || (isOnLine(heading, blank) && blank.x > heading.x && blank.x < next),
      );
      if (isLabel && !isClause) return [];
      const isCentered = Math.abs(heading.x + heading.width / 2 - width / 2) < centered;
      const isWide = isClause || (isCentered && onRow.length === 0);
      const [left, right] = isWide ? [0, width] : [heading.x - 8, Math.min(next - 8, heading.x + column)];
      return [{ top: heading.y, bottom: endBelow(heading, { left, right }, words, blanks), left, right }];
    });
}

/** The height at which the part below a heading ends. */
function endBelow(
  heading: Run,
  { left, right }: Pick<Part, "left" | "right">,
  words: readonly Run[],
  blanks: readonly Blank[],
): number {
  const below = words
    .filter((run) => run.y > heading.y + 3 && run.x < right && endOf(run) > left)
    .sort((a, b) => a.y - b.y);
  let last = heading.y;
  for (const run of below) {
    if (isSentence(run) || isOfParty(run)) {
      const captioned = blanks.filter((blank) => isCaption(run, blank)).map(({ y }) => y - 2);
      return Math.min(run.y - run.size, ...captioned);
    }
    if (run.y - last >= apart) break;
    last = run.y;
  }
  return last + apart;
}

const isCaption = (run: Run, blank: Blank): boolean =>
  run.y > blank.y && run.y - run.size * 0.75 - blank.y < captionGap && overlap(run, blank) > 0;

const isOfParty = ({ text }: Run): boolean =>
  kindOfLabel(text) !== "notary" && (parties.some((words) => words.test(text)) || /^approved\b/i.test(text));
