import { type Matrix, matrixOf, times } from "./matrix.ts";
import { spacedOut } from "./patterns.ts";

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

type Item = { readonly str: string; readonly transform: number[]; readonly width: number; readonly fontName: string };

/** Splits a run into words and blanks, by the widths of its font's characters. */
export function runsIn(
  { str, transform, width }: Item,
  toShown: Matrix,
  widths: ReadonlyMap<string, number> | undefined,
): Run[] {
  const [a, b, c, d, x, y] = times(toShown, matrixOf(transform));
  // Whether the text is upright: it runs to the right, its line does not rise or fall, and its letters are not upside
  // down.
  if (str.trim() === "" || a <= 0 || Math.abs(b) > 0.02 * a || d >= 0) return [];
  const size = Math.hypot(c, d);
  const across = Math.hypot(transform[0] ?? 1, transform[1] ?? 0) || 1;
  const shown = width * (a / across);
  const each = [...str].map((character) => widths?.get(character) ?? 500);
  const all = each.reduce((sum, one) => sum + one, 0) || 1;
  const starts: number[] = [];
  let along = 0;
  for (const one of each) {
    starts.push(along);
    along += (one / all) * shown;
  }
  starts.push(along);
  const characters = [...str];
  const found: Run[] = [];
  for (const { from, to } of pieces(characters)) {
    const start = starts[from] ?? 0;
    found.push({
      text: characters.slice(from, to).join(""),
      x: x + start,
      y,
      width: (starts[to] ?? along) - start,
      size,
      starts: starts.slice(from, to).map((at) => x + at),
    });
  }
  return found;
}

/** The widest gap within a run, and the narrowest gap that is a space between words, as shares of the text's size. */
const gaps = { widest: 0.36, blank: 0.09 } as const;

/** Joins runs that a typesetter cut within a word or between words, for example at a ligature. */
export function joinedRuns(runs: readonly Run[]): Run[] {
  const found: Run[] = [];
  for (const run of [...runs].sort((a, b) => Math.round(a.y) - Math.round(b.y) || a.x - b.x)) {
    const last = found.at(-1);
    const joined = last && joinedTo(last, run);
    if (joined) found[found.length - 1] = joined;
    else found.push(run);
  }
  return found.map(withoutGaps);
}

/** Removes the spaces that pdf.js finds between the letters of a word that are set apart. */
function withoutGaps(run: Run): Run {
  const gaps = [...run.text.matchAll(spacedOut)].flatMap(({ 0: word, index }) =>
    [...word.matchAll(/ /g)].map((space) => index + space.index),
  );
  if (gaps.length === 0) return run;
  const isKept = (_: unknown, index: number) => !gaps.includes(index);
  return { ...run, text: [...run.text].filter(isKept).join(""), starts: run.starts.filter(isKept) };
}

function joinedTo(last: Run, run: Run): Run | null {
  const gap = run.x - last.x - last.width;
  // The spaces of a monospaced font are as wide as its letters.
  const widest = Math.max(gaps.widest * Math.min(last.size, run.size), 1.1 * stepOf(last));
  const isNext = Math.abs(run.y - last.y) < 1 && Math.abs(gap) < widest;
  if (!isNext || Math.abs(run.size - last.size) > 0.2 * last.size || isMarks(run) || isMarks(last)) return null;
  return joinedWith(last, run, gap > gaps.blank * run.size ? " " : "");
}

/** Joins two runs on a line into one, with or without a space between them. */
export const joinedWith = (last: Run, run: Run, blank: "" | " "): Run => ({
  ...last,
  text: `${last.text}${blank}${run.text}`,
  width: run.x + run.width - last.x,
  starts: [...last.starts, ...(blank === "" ? [] : [last.x + last.width]), ...run.starts],
});

/** The width of each character of a run, if all characters have the same width; otherwise 0. */
function stepOf({ x, width, starts }: Run): number {
  const step = width / starts.length;
  const isEven = starts.length > 2 && starts.every((start, index) => Math.abs(start - x - index * step) < 0.05 * step);
  return isEven ? step : 0;
}

/** Whether a run is a row of marks that make up a blank. */
export const isMarks = ({ text }: Pick<Run, "text">): boolean => /^[_.…‗﹍–—\-/ ]{3,}$/u.test(text);

const isBlankMark = (character: string | undefined): boolean =>
  character !== undefined && /[_.…‗﹍–—-]/u.test(character);

/** Finds the words and the blanks of a run, each as a range of characters. A wide gap also ends a range. */
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
    else while (end < characters.length && !isGap(characters, end) && (end === at || !isMarkAt(characters, end))) end++;
    found.push({ from: at, to: trimmed(characters, at, end) });
    at = Math.max(end, at + 1);
  }
  return found;
}

/**
 * The number of characters that form one blank. A blank repeats one mark, and single spaces may be between the marks.
 * "_ _ _" is one blank, and "____ ____" are two.
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

const isGap = (characters: readonly string[], at: number): boolean =>
  [0, 1, 2].every((step) => characters[at + step]?.trim() === "");

function trimmed(characters: readonly string[], from: number, to: number): number {
  let end = to;
  while (end > from && characters[end - 1]?.trim() === "") end--;
  return end;
}
