import type { Glyph } from "./glyphs.ts";

/**
 * Words on one line that read upright on the page as shown. The position is in points from the upper left corner; `y`
 * is the baseline.
 */
export type Run = {
  readonly text: string;
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly size: number;
  /** The position where each character starts. */
  readonly starts: readonly number[];
};

/** Shares of the font size. In letter-spaced text, the usual gap between letters is added to these shares. */
const gaps = {
  /** The least gap between two words. */
  blank: 0.1,
  /** A wider gap ends a run of words. In a justified line, a gap of one or two spaces may be as wide as `justified`. */
  widest: 0.36,
  justified: 1.5,
  /** The gap between letters in spaced-out text: "S I G N E D". */
  spaced: 0.15,
  /** The width of letters and spaces in monospaced text. */
  typed: 0.6,
  /**
   * The least ratio between the font sizes of two neighboring characters of the same words. `smallCapitals` applies
   * between two capitals, `sameSize` otherwise.
   */
  smallCapitals: 0.6,
  sameSize: 0.8,
} as const;

/** A character of a line, the gap between it and the character before it, and the number of spaces in this gap. */
type SpacedGlyph = Glyph & { readonly gap: number; readonly blanks: number };

/** Reads the words and the blanks of a page from its characters. */
export function runsIn(glyphs: readonly Glyph[]): Run[] {
  return linesOf(glyphs)
    .flatMap((line) => split(line, ({ gap, size }) => gap >= gaps.justified * size))
    .flatMap((part) => {
      const [letters, marks] = [usualGap(part, false), usualGap(part, true)];
      const words = split(part, (glyph, last) => isEnd(glyph, last, letters));
      return words.flatMap((each) => runsOf(each, letters, marks));
    });
}

/** The characters of each line from left to right, without spaces and without characters that are drawn twice. */
function linesOf(glyphs: readonly Glyph[]): SpacedGlyph[][] {
  const lines = split(
    [...glyphs].sort((a, b) => a.y - b.y),
    ({ y }, _, first) => y - first.y >= 1,
  );
  return lines.map((line) => {
    const found: SpacedGlyph[] = [];
    let blanks = 0;
    for (const glyph of line.sort((a, b) => a.x - b.x)) {
      const last = found.at(-1);
      if (glyph.text.trim() === "") blanks++;
      else if (!last || last.text !== glyph.text || glyph.x - last.x > 0.25 * glyph.width) {
        found.push({ ...glyph, gap: last ? glyph.x - endOf(last) : 0, blanks });
        blanks = 0;
      }
    }
    return found;
  });
}

/** Splits a list: each item for which `begins` is true starts a new part. */
function split<T>(items: readonly T[], begins: (item: T, last: T, first: T) => boolean): T[][] {
  const found: T[][] = [];
  for (const item of items) {
    const part = found.at(-1);
    const [first] = part ?? [];
    const last = part?.at(-1);
    if (part && first !== undefined && last !== undefined && !begins(item, last, first)) part.push(item);
    else found.push([item]);
  }
  return found;
}

/** The usual gap between the letters, or between the marks, in a part of a line; 0 for text that is not spaced out. */
function usualGap(glyphs: readonly SpacedGlyph[], ofMarks: boolean): number {
  const between = glyphs
    .filter(
      (glyph, index) =>
        index > 0 && isBlankMark(glyph.text) === ofMarks && isBlankMark(glyphs[index - 1]?.text) === ofMarks,
    )
    .map(({ gap }) => gap)
    .sort((a, b) => a - b);
  return between.length < 3 ? 0 : Math.max(0, between[Math.floor(between.length / 2)] ?? 0);
}

function isEnd(glyph: SpacedGlyph, last: SpacedGlyph, usual: number): boolean {
  const size = Math.max(glyph.size, last.size);
  const areLetters = [glyph, last].every(({ text }) => /^\p{Lu}/u.test(text));
  const min = areLetters ? gaps.smallCapitals : gaps.sameSize;
  if (Math.min(glyph.size, last.size) < min * size || glyph.gap < -0.5 * size) return true;
  const isFilled = glyph.blanks === 1 || glyph.blanks === 2 || (isBlankMark(glyph.text) && glyph.text === last.text);
  const isTyped = [glyph, last].every(({ width }) => Math.abs(width - gaps.typed * size) < 0.01 * size);
  return glyph.gap - 2 * usual >= (isFilled ? gaps.justified : isTyped ? 1.1 * gaps.typed : gaps.widest) * size;
}

/** Splits the characters of a part of a line into words and blanks. */
function runsOf(glyphs: readonly SpacedGlyph[], letters: number, marks: number): Run[] {
  const characters: { text: string; x: number; end: number }[] = [];
  for (const [index, { text, x, width, size, gap, blanks }] of glyphs.entries()) {
    const last = characters.at(-1);
    const areMarks = isBlankMark(text) && last?.text === text;
    const usual = areMarks ? marks : letters;
    const isBlank = gap - usual > gaps.blank * size || (blanks > 0 && usual < gaps.spaced * size && !areMarks);
    if (index > 0 && last && isBlank) characters.push({ text: " ", x: last.end, end: x });
    const each = [...text.replace(/[\uFB00-\uFB06]/g, (ligature) => ligature.normalize("NFKC"))];
    for (const [at, character] of each.entries())
      characters.push({
        text: character,
        x: x + (at / each.length) * width,
        end: x + ((at + 1) / each.length) * width,
      });
  }
  const [first] = glyphs;
  return pieces(characters.map(({ text }) => text)).map(({ from, to }) => {
    const its = characters.slice(from, to);
    const x = its[0]?.x ?? 0;
    return {
      text: its.map(({ text }) => text).join(""),
      x,
      y: first?.y ?? 0,
      width: (its.at(-1)?.end ?? x) - x,
      size: first?.size ?? 0,
      starts: its.map((each) => each.x),
    };
  });
}

const endOf = ({ x, width }: Pick<Glyph, "x" | "width">): number => x + width;

/** Joins two runs on a line into one, with a space between them. */
export const joinedWith = (last: Run, run: Run): Run => ({
  ...last,
  text: `${last.text} ${run.text}`,
  width: run.x + run.width - last.x,
  starts: [...last.starts, last.x + last.width, ...run.starts],
});

/** True if a run is a row of marks, such as underscores or dots, that form a blank. */
export const isMarks = ({ text }: Pick<Run, "text">): boolean => /^[_.…‗﹍–—\-/ ]{3,}$/u.test(text);

const isBlankMark = (character: string | undefined): boolean =>
  character !== undefined && /[_.…‗﹍–—-]/u.test(character);

/** Finds the words and the blanks of a run, each as a range of characters. */
function pieces(characters: readonly string[]): { from: number; to: number }[] {
  const found: { from: number; to: number }[] = [];
  let at = 0;
  while (at < characters.length) {
    if (characters[at]?.trim() === "") {
      at++;
      continue;
    }
    let end = at;
    const marks = dateLength(characters, at) || markLength(characters, at);
    if (marks >= 4) end = at + marks;
    else while (end < characters.length && (end === at || !isMarkAt(characters, end))) end++;
    found.push({ from: at, to: trimmed(characters, at, end) });
    at = Math.max(end, at + 1);
  }
  return found;
}

/**
 * The length of one blank, in characters. A blank repeats one mark, possibly with single spaces between the marks. "_ _
 * _" is one blank, and "____ ____" are two.
 */
function markLength(characters: readonly string[], from: number): number {
  const mark = characters[from];
  if (!isBlankMark(mark)) return 0;
  let end = from;
  let together = 0;
  for (;;) {
    if (characters[end] === mark) together++;
    else if (characters[end] === " " && characters[end + 1] === mark && together < 3) together = 0;
    else return end - from;
    end++;
  }
}

const isMarkAt = (characters: readonly string[], at: number): boolean =>
  markLength(characters, at) >= 4 || dateLength(characters, at) > 0;

/** "__/__/____": the places for a day, a month and a year are one blank. */
function dateLength(characters: readonly string[], from: number): number {
  if (characters[from] !== "_" || characters[from - 1] === "_") return 0;
  const rest = characters.slice(from, from + 80).join("");
  return /^_+ ?\/ ?_+ ?\/ ?_+/.exec(rest)?.[0].length ?? 0;
}

function trimmed(characters: readonly string[], from: number, to: number): number {
  let end = to;
  while (end > from && characters[end - 1]?.trim() === "") end--;
  return end;
}
