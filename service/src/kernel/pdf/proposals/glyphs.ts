import { type Matrix, matrixOf, times } from "./matrix.ts";
import { type Operators, type Ops, walk } from "./walk.ts";

/** A character as shown on the page: where it starts on its baseline, in points from the upper left corner. */
export type Glyph = {
  readonly text: string;
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly size: number;
};

/** The state of text in PDF (ISO 32000-2 section 9.3). */
type State = {
  readonly matrix: Matrix;
  readonly font: string;
  readonly size: number;
  readonly spacing: number;
  readonly wordSpacing: number;
  readonly scale: number;
  readonly leading: number;
  readonly rise: number;
};

type Shown = Partial<{ unicode: string; width: number; isSpace: boolean }> | number | null;

/** The most characters that are read from a page. The rest is ignored: a page with more is hardly a form. */
const maxGlyphs = 100_000;

const identity: Matrix = [1, 0, 0, 1, 0, 0];

/**
 * The upright characters of a page, in the order of the page's content.
 * @param scaleOf returns the factor by which the widths of a font's characters are multiplied
 */
export function glyphsIn(operators: Operators, OPS: Ops, toShown: Matrix, scaleOf: (font: string) => number): Glyph[] {
  const found: Glyph[] = [];
  let line = identity;
  let at = identity;
  const place = (matrix: Matrix) => {
    line = matrix;
    at = matrix;
  };
  const move = (x: number, y: number) => place(times(line, [1, 0, 0, 1, x, y]));
  const show = (shown: readonly Shown[], { matrix, font, size, spacing, wordSpacing, scale, rise }: State) => {
    const advance = (by: number) => {
      at = times(at, [1, 0, 0, 1, by * scale, 0]);
    };
    const perWidth = scaleOf(font) * size;
    for (const each of shown.slice(0, maxGlyphs - found.length)) {
      if (typeof each === "number") advance((-each / 1000) * size);
      if (each === null || typeof each === "number") continue;
      const own = (each.width ?? 0) * perWidth;
      const [a, b, , d, x, y] = times(matrix, times(at, [scale, 0, 0, 1, 0, rise]));
      // The text runs to the right, its line does not rise or fall, and its letters are not upside down.
      if (each.unicode && a * size > 0 && Math.abs(b) <= 0.02 * Math.abs(a) && d * size < 0)
        found.push({ text: each.unicode, x, y, width: own * a, size: Math.abs(d * size) });
      advance(own + spacing + (each.isSpace ? wordSpacing : 0));
    }
  };
  const first: State = {
    matrix: toShown,
    font: "",
    size: 1,
    spacing: 0,
    wordSpacing: 0,
    scale: 1,
    leading: 0,
    rise: 0,
  };
  walk<State>(operators, OPS, first, (state, operator, args) => {
    const [x = 0, y = 0] = args as readonly number[];
    if (operator === OPS.setCharSpacing) return { ...state, spacing: x };
    if (operator === OPS.setWordSpacing) return { ...state, wordSpacing: x };
    if (operator === OPS.setHScale) return { ...state, scale: x / 100 };
    if (operator === OPS.setLeading) return { ...state, leading: -x };
    if (operator === OPS.setTextRise) return { ...state, rise: x };
    if (operator === OPS.setFont) return { ...state, font: String(x), size: y };
    if (operator === OPS.beginText) place(identity);
    if (operator === OPS.setTextMatrix) place(matrixOf(args[0] as ArrayLike<number>));
    if (operator === OPS.moveText || operator === OPS.setLeadingMoveText) move(x, y);
    if (operator === OPS.nextLine) move(0, state.leading);
    if (operator === OPS.showText && Array.isArray(args[0])) show(args[0] as Shown[], state);
    return operator === OPS.setLeadingMoveText ? { ...state, leading: y } : state;
  });
  return found;
}
