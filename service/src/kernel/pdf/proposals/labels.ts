import { type Blank, endOf } from "./blanks.ts";
import type { PageContent } from "./content.ts";
import { arrows, kindOfLabel, parties } from "./patterns.ts";
import type { Run } from "./runs.ts";

export type PageWords = {
  readonly words: readonly Run[];
  readonly blanks: readonly Blank[];
  readonly content: PageContent;
  /**
   * True if people sign the document at this height of the page (`executionAbove`).
   * @param isCaption true for a caption below a line. Below the page's last sentence, every caption is accepted. Any
   * other label there is accepted only if the page has at least two sentences.
   */
  readonly isExecution: (y: number, isCaption?: boolean) => boolean;
};

export type Found = { readonly label: string; readonly kind: ReturnType<typeof kindOfLabel> };

const person = /^\p{Lu}[\p{L}.'’-]*(?: \p{Lu}[\p{L}.'’-]*){1,3}(?:,.*)?$/u;

const withoutLabel = (text: string): string =>
  text
    .replace(/^\((.*)\)$/, "$1")
    .replace(/^(?:(?:name|nombre):|by\b:?)\s*/i, "")
    .trim();

/** True if a text is a person's name, alone or followed by a description: "JOHN ROE, an unmarried man". */
export const isPerson = (text: string): boolean => person.test(withoutLabel(text));

/** Reads a label. A party's name alone asks for a signature only at a height where people sign. */
export function read(text: string, { isExecution }: PageWords, y: number, isCaption: boolean): Found {
  const kind = kindOfLabel(text);
  const label = text.replace(/[\s:_]+$/u, "").trim();
  // A person's initials in front of a blank ask for that person's initials: "J.R. ____".
  if (kind === null && /^(?:\p{Lu}\. ?){2,3}$/u.test(label)) return { label, kind: "initials" };
  // Below a line, a person's name means that this person signs: "Jane Q. Public", "Name: Jane Public" or "By: Jane
  // Public".
  const isSigner = isNamedParty(label) || /^by\b/i.test(label);
  const isNamed =
    isPerson(label) && (kind === null || kind === "other" || isSigner || /^(?:name|nombre):/i.test(label));
  if (isNamed && isCaption && (isExecution(y, true) || isSigner) && !isFormWords(label))
    return { label, kind: "signature" };
  // A party's name in quotation marks defines that name in the text. Text in lowercase that ends with a period is the
  // end of a sentence. Neither is a label.
  if (kind === "signature" && !isExplicit(text) && (/["“”]|^\p{Ll}.*\.$/u.test(text) || !isExecution(y, isCaption)))
    return { label, kind: null };
  return { label, kind };
}

/** True if a label names a person and that person's role in the document: "Jane Roe, Settlor". */
const isNamedParty = (label: string): boolean => {
  const part = /,\s*(.*)$/.exec(label)?.[1] ?? "";
  return /^individually\b/i.test(part) || parties.some((words) => words.test(part));
};

/**
 * True if the label consists of words that are common in forms, such as "Date". Such words are not a person's name,
 * even if they are capitalized.
 */
const isFormWords = (label: string): boolean => kindOfLabel(withoutLabel(label).split(",")[0] ?? "") === "other";

export const isExplicit = (text: string): boolean =>
  /\bsign|\binitial|^by\b|\bby$|^x\b|^\/s\/|firma|iniciales|^recib[ií]|conform|lu et approuv/i.test(text);

/** True if a run is an arrow that points from a label to its blank. */
export const isArrow = ({ text }: Run): boolean => arrowAlone.test(text);

const arrowAlone = new RegExp(`^[${arrows}]{1,4}$`, "u");

/** The words that an arrow follows: words on the arrow's line or, if there are none, the words right above it. */
export const beforeArrow = (arrow: Run, { words }: Pick<PageWords, "words">): Run | undefined =>
  words.find((run) => Math.abs(run.y - arrow.y) < 3 && endOf(run) <= arrow.x + 1 && arrow.x - endOf(run) < nearArrow) ??
  words.find(
    (run) => Math.abs(run.x - arrow.x) < 3 && run.y < arrow.y && arrow.y - run.y < linesOfLabel.apart * arrow.size,
  );

/** The greatest distance, in points, from an arrow to the words before it. */
const nearArrow = 14;

/**
 * True if words are on the line of a blank. The line may be drawn lower than the baseline of the words before the
 * blank.
 */
export function isOnLine({ y, size }: Run, blank: Blank): boolean {
  if (blank.box) return y > blank.box.y && y < blank.box.y + blank.box.height + 2;
  const below = blank.y - y;
  return below > -Math.max(5, size * 0.4) && below < Math.max(6.5, size * 0.78);
}

/** True if words follow a blank on its line, closer than `gap` points. */
export const follows = (run: Run, blank: Blank, gap: number): boolean =>
  isOnLine(run, blank) && run.x >= endOf(blank) - 2 && run.x - endOf(blank) < gap;

export const linesOfLabel = { max: 4, words: 6, apart: 1.7 } as const;

/** Joins a label of several lines: `last`, and the short lines above it that begin at the same left edge. */
export function wrapped(last: Run, { words, blanks }: PageWords): string {
  const lines = [last];
  while (lines.length < linesOfLabel.max) {
    const [top] = lines;
    const above = top && words.find((run) => isLineAbove(run, top));
    // If the words above have a blank on their own line, they are another label.
    if (!above || blanks.some((blank) => isOnLine(above, blank) && blank.x >= endOf(above) - 2)) break;
    lines.unshift(above);
  }
  return lines.map(({ text }) => text).join(" ");
}

const isLineAbove = (upper: Run, lower: Run): boolean =>
  upper.y < lower.y - 1 &&
  lower.y - upper.y < linesOfLabel.apart * lower.size &&
  Math.abs(upper.x - lower.x) < 2 &&
  Math.abs(upper.size - lower.size) < 1 &&
  upper.text.split(/\s+/).length <= linesOfLabel.words &&
  !/[.:;]$/.test(upper.text) &&
  (/^[\p{Ll}(]/u.test(lower.text) || /(?:\b(?:of|or|and|by|the|for|to|de|del|o|y|du|ou|et)|[&/,-])$/i.test(upper.text));
