import type { PdfJs } from "../../../kernel/pdf/pdf-js.ts";

/** The part of a pdf.js page that is used here. */
type Operated = { readonly getOperatorList: () => Promise<{ fnArray: number[]; argsArray: (unknown[] | null)[] }> };
type Matrix = readonly [number, number, number, number, number, number];
type Box = readonly [left: number, bottom: number, right: number, top: number];
type State = { at: Matrix; mode: number; fill: string; alpha: number };

const identity: Matrix = [1, 0, 0, 1, 0, 0];
/** Text rendering modes that paint nothing (ISO 32000-2, table 104). */
const unpainted: ReadonlySet<number> = new Set([3, 7]);
/** The most drawing operators that are examined on one page. */
const maxOperators = 200_000;

/**
 * The texts of a page that leave no visible ink. They have an invisible rendering mode, are transparent, or are white
 * on white paper. White text on a dark area is visible, so it is not included. Pictures are not decoded here, so white
 * text on a picture counts as hidden.
 * @returns null for a page with too many operators
 */
export async function textWithoutInk(page: Operated, OPS: PdfJs["OPS"]): Promise<string[] | null> {
  const { fnArray, argsArray } = await page.getOperatorList();
  if (fnArray.length > maxOperators) return null;
  const found: string[] = [];
  const dark: Box[] = [];
  const saved: State[] = [];
  let state: State = { at: identity, mode: 0, fill: "#000000", alpha: 1 };
  let text: Matrix = identity;
  let line: Matrix = identity;
  let leading = 0;
  const moveLine = (x: number, y: number) => {
    line = times(line, [1, 0, 0, 1, x, y]);
    text = line;
  };
  for (const [index, operator] of fnArray.entries()) {
    const args: readonly unknown[] = argsArray[index] ?? [];
    const number = (at: number) => (typeof args[at] === "number" ? args[at] : 0);
    if (operator === OPS.save) saved.push(state);
    else if (operator === OPS.restore) state = saved.pop() ?? state;
    else if (operator === OPS.transform) state = { ...state, at: times(state.at, matrixOf(args)) };
    else if (operator === OPS.paintFormXObjectBegin) {
      saved.push(state);
      if (args[0]) state = { ...state, at: times(state.at, matrixOf(args[0])) };
    } else if (operator === OPS.paintFormXObjectEnd) state = saved.pop() ?? state;
    else if (operator === OPS.setTextRenderingMode) state = { ...state, mode: number(0) };
    else if (operator === OPS.setFillRGBColor) state = { ...state, fill: String(args[0]) };
    else if (operator === OPS.setFillColorN) state = { ...state, fill: "pattern" };
    else if (operator === OPS.setGState) state = { ...state, alpha: alphaOf(args[0]) ?? state.alpha };
    else if (operator === OPS.beginText) line = text = identity;
    else if (operator === OPS.setTextMatrix) line = text = matrixOf(args.length === 1 ? args[0] : args);
    else if (operator === OPS.moveText) moveLine(number(0), number(1));
    else if (operator === OPS.setLeading) leading = number(0);
    else if (operator === OPS.setLeadingMoveText) {
      leading = -number(1);
      moveLine(number(0), number(1));
    } else if (operator === OPS.nextLine) moveLine(0, -leading);
    else if (operator === OPS.constructPath || operator === OPS.shadingFill) {
      const box = operator === OPS.shadingFill ? everywhere : boxOf(args, OPS);
      if (box && (operator === OPS.shadingFill || !isWhite(state.fill)) && state.alpha > 0.1)
        dark.push(operator === OPS.shadingFill ? everywhere : moved(box, state.at));
    } else if (operator === OPS.showText) {
      const [, , , , x, y] = times(state.at, text);
      const onDark = dark.some(([l, b, r, t]) => l <= x && x <= r && b <= y && y <= t);
      if (unpainted.has(state.mode) || state.alpha < 0.1 || (isWhite(state.fill) && !onDark))
        found.push(charactersOf(args[0]));
    }
  }
  return found;
}

const everywhere: Box = [
  Number.NEGATIVE_INFINITY,
  Number.NEGATIVE_INFINITY,
  Number.POSITIVE_INFINITY,
  Number.POSITIVE_INFINITY,
];

function times(a: Matrix, b: Matrix): Matrix {
  const [a0, a1, a2, a3, a4, a5] = a;
  const [b0, b1, b2, b3, b4, b5] = b;
  return [
    a0 * b0 + a2 * b1,
    a1 * b0 + a3 * b1,
    a0 * b2 + a2 * b3,
    a1 * b2 + a3 * b3,
    a0 * b4 + a2 * b5 + a4,
    a1 * b4 + a3 * b5 + a5,
  ];
}

function matrixOf(value: unknown): Matrix {
  const [a, b, c, d, e, f] =
    ArrayBuffer.isView(value) || Array.isArray(value) ? Array.from(value as ArrayLike<unknown>) : [];
  const all = [a, b, c, d, e, f];
  return all.every((one) => typeof one === "number") ? (all as unknown as Matrix) : identity;
}

/** True if a color is so close to white that nobody can read it on paper. */
function isWhite(fill: string): boolean {
  const [, red = "", green = "", blue = ""] = /^#(..)(..)(..)$/.exec(fill) ?? [];
  return red !== "" && [red, green, blue].every((part) => Number.parseInt(part, 16) >= 0xf0);
}

function alphaOf(entries: unknown): number | undefined {
  if (!Array.isArray(entries)) return undefined;
  const found = (entries as unknown[]).find((entry) => Array.isArray(entry) && entry[0] === "ca");
  return Array.isArray(found) && typeof found[1] === "number" ? found[1] : undefined;
}

/**
 * The box of the area that a path fills, from the bounds that pdf.js reports. Undefined for a path that is only
 * stroked, or that clips.
 */
function boxOf([operator, , bounds]: readonly unknown[], OPS: PdfJs["OPS"]): Box | undefined {
  const fills: readonly unknown[] = [
    OPS.fill,
    OPS.eoFill,
    OPS.fillStroke,
    OPS.eoFillStroke,
    OPS.closeFillStroke,
    OPS.closeEOFillStroke,
  ];
  if (!fills.includes(operator) || !bounds) return undefined;
  const [l, b, r, t] = Array.from(bounds as ArrayLike<number>);
  return l === undefined || b === undefined || r === undefined || t === undefined ? undefined : [l, b, r, t];
}

function moved([l, b, r, t]: Box, at: Matrix): Box {
  const corners = [
    [l, b],
    [l, t],
    [r, b],
    [r, t],
  ].map(([x = 0, y = 0]) => times(at, [1, 0, 0, 1, x, y]));
  const [xs, ys] = [corners.map(([, , , , x]) => x), corners.map(([, , , , , y]) => y)];
  return [Math.min(...xs), Math.min(...ys), Math.max(...xs), Math.max(...ys)];
}

function charactersOf(glyphs: unknown): string {
  if (!Array.isArray(glyphs)) return "";
  return (glyphs as (Partial<{ unicode: string }> | number | null)[])
    .map((glyph) => {
      if (typeof glyph === "number") return glyph < -200 ? " " : "";
      return glyph?.unicode ?? "";
    })
    .join("");
}
