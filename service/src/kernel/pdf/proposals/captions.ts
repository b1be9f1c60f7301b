import { type Blank, endOf, isInside, overlap } from "./blanks.ts";
import { type Found, isExplicit, isOnLine, isPerson, type PageWords, read } from "./labels.ts";
import { kindOfLabel, measures } from "./patterns.ts";
import { joinedWith, type Run } from "./runs.ts";

/** True if the words below a blank continue a sentence of the document, instead of labeling the blank. */
const isSentence = (words: string): boolean => {
  const text = words.replace(/(?<=\bsignature )\(.*\)$/i, "").trim();
  const count = text.split(/\s+/).length;
  return (
    /^\p{Ll}.*[,;]$/u.test(text) ||
    (count > 4 && /\b(?:is|are|was|were|shall|that)\b/.test(text)) ||
    ((count >= measures.wordsOfSentence ||
      // These abbreviations end a name, such as "Acme Inc.", and not a sentence.
      (count > 3 && text.endsWith(".") && !/\b(?:co|inc|corp|ltd|jr|sr|esq|l\.\s?s)\.$/i.test(text))) &&
      !/^\W*(?:sign|firma|name|print)/i.test(text) &&
      !isPerson(text))
  );
};

const isBelow = (run: Run, blank: Blank): boolean => {
  const gap = run.y - run.size * 0.75 - blank.y;
  return gap > -3 && gap < measures.labelBelow + (blank.box ? 4 : 0);
};

/**
 * The words directly below a blank. If such words have another blank to their right, they label that other blank and
 * are left out.
 */
export function captionsBelow(blank: Blank, { words, blanks, content }: PageWords): Run[] {
  const inOther = (run: Run) => content.boxes.some((box) => box.y >= blank.y - 4 && isInside(run, box));
  const near = words.filter(
    (run) =>
      isBelow(run, blank) &&
      overlap(run, blank) > Math.min(run.width, blank.width) * 0.5 &&
      isAligned(run, blank) &&
      !isSentence(run.text) &&
      !/['’]s?$/.test(run.text) &&
      // Words in another box, such as the next cell of a table, belong to that box.
      !(blank.box && inOther(run)),
  );
  const nearest = Math.min(...near.map(({ y }) => y));
  const line = near.filter(({ y }) => y - nearest < 3).sort((a, b) => a.x - b.x);
  return joinedCaptions(line).filter(
    (run) =>
      !blanks.some(
        (other) => other !== blank && isOnLine(run, other) && other.x >= endOf(run) - 4 && other.x - endOf(run) < 60,
      ),
  );
}

/** True if words are not wider than a blank, or begin where the blank begins, or are centered below the blank. */
const isAligned = (run: Run, blank: Blank): boolean =>
  run.width <= blank.width + captionOff ||
  Math.abs(run.x - blank.x) < captionOff ||
  Math.abs(run.x + run.width / 2 - blank.x - blank.width / 2) < captionOff;

/** Joins two captions of one blank that are in different fonts, such as "Borrower" and "Jane Roe". */
function joinedCaptions(line: readonly Run[]): Run[] {
  const found: Run[] = [];
  for (const run of line) {
    const last = found.at(-1);
    if (last && run.x - endOf(last) < captionsApart) found[found.length - 1] = joinedWith(last, run);
    else found.push(run);
  }
  return found;
}

/** In points. Runs with a smaller gap between them are one caption. */
const captionsApart = 12;

/**
 * Splits words that pdf.js joined, although they are the captions of several blanks in a row. Each blank's start is a
 * place to split.
 */
export function cutAtBlanks(words: readonly Run[], blanks: readonly Blank[]): Run[] {
  return words.flatMap((run) => {
    const starts = blanks
      .filter((blank) => !blank.box && isBelow(run, blank) && overlap(run, blank) > 8)
      .map(({ x }) => x)
      .sort((a, b) => a - b);
    return starts.length < 2 ? [run] : cutAt(run, starts.slice(1));
  });
}

/** In points. The greatest horizontal distance between the start of a blank and the start of its caption. */
const captionOff = 14;

function cutAt(run: Run, places: readonly number[]): Run[] {
  const at = places.flatMap((place) => {
    const near = run.starts
      .map((start, index) => ({ index, off: Math.abs(start - place) }))
      .filter(({ index, off }) => off < captionOff && run.text[index - 1] === " ")
      .sort((a, b) => a.off - b.off)[0];
    return near ? [near.index] : [];
  });
  const cuts = [0, ...new Set(at), run.starts.length];
  return cuts.slice(1).flatMap((to, index): Run[] => {
    const from = cuts[index] ?? 0;
    const text = [...run.text].slice(from, to).join("").trimEnd();
    const x = run.starts[from] ?? run.x;
    const end = to < run.starts.length ? (run.starts[to - 1] ?? endOf(run)) : endOf(run);
    return text === "" ? [] : [{ ...run, text, x, width: end - x, starts: run.starts.slice(from, from + text.length) }];
  });
}

/**
 * Reads an unlabeled line as a place to sign if words below it ask for the signer's name, title or date; otherwise
 * null.
 */
export function signerBlock(blank: Blank, page: PageWords): Found | null {
  if (blank.box || blank.width < measures.minSignature || !page.isExecution(blank.y)) return null;
  const below = page.words
    .filter(
      ({ x, y }) =>
        y > blank.y + 4 && y < blank.y + measures.blockBelow && Math.abs(x - blank.x) < measures.blockIndent,
    )
    .sort((a, b) => a.y - b.y)[0];
  if (!below || !/^(?:print|typed?|name|nombre|title|its|date)\b.*:|^(?:printed )?name\b/i.test(below.text))
    return null;
  return hasWords(blank, page) ? null : { label: "", kind: "signature" };
}

/** True if there are words on the line of a blank, before or after the blank. */
export const hasWords = (blank: Blank, { words }: PageWords): boolean =>
  words.some((run) => isOnLine(run, blank) && endOf(run) > blank.x - 160 && run.x < endOf(blank) + 40);

/**
 * True if a caption may name the party who signs. It has at most five words, begins with a capital letter, and is not
 * any other kind of label.
 */
export const isShortName = ({ text }: Run): boolean =>
  /^\(?\p{Lu}/u.test(text) && text.split(/\s+/).length <= 5 && !/[\d$€:?]/.test(text) && kindOfLabel(text) === null;

/** The label above a blank, for a blank without words on its line. */
export function labelAbove(blank: Blank, page: PageWords): Found | null {
  const top = blank.box ? blank.box.y : blank.y;
  const run = page.words
    .filter(
      (each) =>
        each.y < top - (blank.box ? 0 : 5) &&
        each.y > top - measures.labelFarAbove &&
        overlap(each, blank) > -6 &&
        each.x < endOf(blank),
    )
    .sort((a, b) => b.y - a.y)[0];
  if (!run || Math.abs(run.x - blank.x) >= 14 || run.width >= blank.width + measures.labelWider) return null;
  if (hasBlank(run, blank, page)) return null;
  const count = run.text.split(/\s+/).length;
  const maxWords = run.text.startsWith("(") ? measures.wordsOfRemark : measures.wordsAbove;
  if (count > (isExplicit(run.text) ? maxWords : 4)) return null;
  const found = read(run.text, page, run.y, false);
  // A label that asks for a signature may be further up, because people sign in the space between the label and the
  // line.
  const max = found.kind === "signature" ? measures.labelFarAbove : measures.labelAboveDate;
  return run.y > top - max ? found : null;
}

/** True if the words are the label of another blank, which follows them on the same line. */
const hasBlank = (run: Run, blank: Blank, { blanks }: PageWords): boolean =>
  blanks.some(
    (other) =>
      other !== blank && !other.box && isOnLine(run, other) && other.x >= endOf(run) - 2 && other.x < endOf(run) + 40,
  );

/**
 * True if each label in the column of this blank is above its blank. That is so if the last blank of the column has no
 * words below it.
 */
export function isLabeledAbove(blank: Blank, page: PageWords): boolean {
  let last = blank;
  for (let steps = 0; steps < 20; steps++) {
    const [caption] = captionsBelow(last, page);
    if (!caption) return true;
    const next = page.blanks
      .filter(
        (other) =>
          other.y > caption.y && other.y - caption.y < measures.labelFarAbove && Math.abs(other.x - blank.x) < 14,
      )
      .sort((a, b) => a.y - b.y)[0];
    if (!next) return false;
    last = next;
  }
  return false;
}
