import { type Matrix, matrixOf, times } from "./matrix.ts";

/**
 * Words on one line that read upright on the page as shown. In points from the upper left corner; `y` is the baseline.
 */
export type Run = {
  readonly text: string;
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly size: number;
};

type Item = { readonly str: string; readonly transform: number[]; readonly width: number; readonly fontName: string };

/** Splits a run into words and blanks, by the widths of its font's characters. */
export function runsIn(
  { str, transform, width }: Item,
  toShown: Matrix,
  widths: ReadonlyMap<string, number> | undefined,
): Run[] {
  const [a, b, c, d, x, y] = times(toShown, matrixOf(transform));
  // Upright text runs to the right: its line does not rise, and its letters are not rotated.
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
    });
  }
  return found;
}

const isBlankMark = (character: string | undefined): boolean =>
  character !== undefined && /[_.…‗﹍–—-]/u.test(character);

/**
 * Finds the words and the blanks of a run, each as the range of its characters; a wide gap also separates two of them.
 */
function pieces(characters: readonly string[]): { from: number; to: number }[] {
  const found: { from: number; to: number }[] = [];
  let at = 0;
  while (at < characters.length) {
    if (characters[at]?.trim() === "") {
      at++;
      continue;
    }
    let end = at;
    const marks = markLength(characters, at);
    if (marks >= 4) end = at + marks;
    else
      while (end < characters.length && !isGap(characters, end) && (end === at || markLength(characters, end) < 4))
        end++;
    found.push({ from: at, to: trimmed(characters, at, end) });
    at = Math.max(end, at + 1);
  }
  return found;
}

/**
 * How many characters form one blank: the same mark repeated, with single spaces allowed. "_ _ _" is one blank, and
 * "____ ____" are two.
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

const isGap = (characters: readonly string[], at: number): boolean =>
  [0, 1, 2].every((step) => characters[at + step]?.trim() === "");

function trimmed(characters: readonly string[], from: number, to: number): number {
  let end = to;
  while (end > from && characters[end - 1]?.trim() === "") end--;
  return end;
}
