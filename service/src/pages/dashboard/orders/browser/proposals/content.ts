import type { PDFPageProxy } from "pdfjs-dist";
import type { Rect } from "../places/field.ts";
import { apply, type Matrix, matrixOf, times } from "./matrix.ts";
import { type Run, runsIn } from "./runs.ts";

/** A horizontal line that the page draws, at height `y`. */
export type Rule = { readonly x: number; readonly y: number; readonly width: number };
/** An empty field of the document's own form. */
export type OwnField = { readonly kind: "signature" | "text" | "checkbox"; readonly name: string; readonly rect: Rect };

export type PageContent = {
  readonly width: number;
  readonly height: number;
  readonly runs: readonly Run[];
  readonly rules: readonly Rule[];
  readonly boxes: readonly Rect[];
  readonly own: readonly OwnField[];
};

type Ops = typeof import("pdfjs-dist")["OPS"];
/** In points: a filled rectangle that is lower than this is a rule. */
const thin = 2.5;
/** A page with more operators than a form has is a drawing: its lines are not for signing. */
const mostOperators = 60_000;

/** Reads the words, lines and form fields of a page with pdf.js. */
export async function readContent(page: PDFPageProxy, OPS: Ops): Promise<PageContent> {
  const viewport = page.getViewport({ scale: 1 });
  const [text, operators, annotations] = await Promise.all([
    page.getTextContent(),
    page.getOperatorList(),
    page.getAnnotations(),
  ]);
  const widths = widthsByFont(operators, OPS);
  const toShown = matrixOf(viewport.transform);
  const runs = text.items.flatMap((item) => ("str" in item ? runsIn(item, toShown, widths.get(item.fontName)) : []));
  const { rules, boxes } =
    operators.fnArray.length > mostOperators ? { rules: [], boxes: [] } : linesIn(operators, OPS, toShown);
  const own = annotations.flatMap((annotation) => ownField(annotation, toShown));
  return { width: viewport.width, height: viewport.height, runs, rules, boxes, own };
}

type Operators = Awaited<ReturnType<PDFPageProxy["getOperatorList"]>>;

/**
 * The widths of the characters that a page shows, by font. pdf.js gives a run of text only one width for all of its
 * characters.
 */
function widthsByFont({ fnArray, argsArray }: Operators, OPS: Ops): Map<string, Map<string, number>> {
  const found = new Map<string, Map<string, number>>();
  let font = new Map<string, number>();
  for (const [index, operator] of fnArray.entries()) {
    const [first]: unknown[] = argsArray[index] ?? [];
    if (operator === OPS.setFont && typeof first === "string") {
      font = found.get(first) ?? new Map();
      found.set(first, font);
    }
    if (operator !== OPS.showText || !Array.isArray(first)) continue;
    for (const glyph of first as (Partial<{ unicode: string; width: number }> | number)[])
      if (typeof glyph === "object" && glyph?.unicode && glyph.width) font.set(glyph.unicode, glyph.width);
  }
  return found;
}

/** Follows the drawing's transformation matrix, and collects horizontal lines and boxes. */
function linesIn({ fnArray, argsArray }: Operators, OPS: Ops, toShown: Matrix) {
  const into: Lines = { rules: [], boxes: [], uprights: [] };
  const stack: Matrix[] = [];
  let matrix = toShown;
  for (const [index, operator] of fnArray.entries()) {
    const args: readonly unknown[] = argsArray[index] ?? [];
    if (operator === OPS.save) stack.push(matrix);
    else if (operator === OPS.restore || operator === OPS.paintFormXObjectEnd) matrix = stack.pop() ?? matrix;
    else if (operator === OPS.transform) matrix = times(matrix, matrixOf(args as number[]));
    else if (operator === OPS.paintFormXObjectBegin) {
      stack.push(matrix);
      const own = args[0] as ArrayLike<number> | null;
      if (own) matrix = times(matrix, matrixOf(own));
    } else if (operator === OPS.constructPath) collect(args, OPS, matrix, into);
  }
  const cells = cellsIn(into.rules, into.uprights);
  const rules = joined(into.rules).filter((rule) => !cells.some((cell) => isEdgeOf(rule, cell)));
  return { rules, boxes: [...into.boxes, ...cells] };
}

type Lines = { readonly rules: Rule[]; readonly boxes: Rect[]; readonly uprights: Upright[] };
type Points = readonly (readonly [number, number])[];

function collect(args: readonly unknown[], OPS: Ops, matrix: Matrix, into: Lines): void {
  const [paint, data] = args as [number, [ArrayLike<number> | null] | null];
  const path = data?.[0];
  if (!path || paint === OPS.endPath) return;
  for (const points of subpaths(path)) {
    const shown = points.map(([x, y]) => apply(matrix, x, y));
    const xs = shown.map(([x]) => x);
    const ys = shown.map(([, y]) => y);
    const [left, right, top, bottom] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
    const [width, height] = [right - left, bottom - top];
    if (width > 1.5 && height <= thin) into.rules.push({ x: left, y: bottom, width });
    else if (width <= thin && height > 6) into.uprights.push({ x: left, top, bottom });
    else if (shown.length >= 4 && width > 8 && height > 6 && isBox(shown))
      into.boxes.push({ x: left, y: top, width, height });
  }
}

const isBox = (points: Points): boolean => {
  const [xs, ys] = [points.map(([x]) => x), points.map(([, y]) => y)];
  const sides = (values: readonly number[]) =>
    values.every((value) => near(value, Math.min(...values)) || near(value, Math.max(...values)));
  return sides(xs) && sides(ys);
};
const near = (a: number, b: number): boolean => Math.abs(a - b) < 1;

/** The points of each part of a path, in the encoding of pdf.js: 0 move, 1 line, 2 cubic, 3 quadratic, 4 close. */
function subpaths(path: ArrayLike<number>): Points[] {
  const found: [number, number][][] = [];
  let points: [number, number][] = [];
  let isCurved = false;
  const end = () => {
    if (points.length > 1 && !isCurved) found.push(points);
    points = [];
    isCurved = false;
  };
  const lengths = [2, 2, 6, 4, 0];
  for (let at = 0; at < path.length; ) {
    const operator = path[at] ?? 4;
    const length = lengths[operator] ?? 0;
    if (operator === 0) end();
    if (operator === 2 || operator === 3) isCurved = true;
    if (length > 0) points.push([path[at + length - 1] ?? 0, path[at + length] ?? 0]);
    at += 1 + length;
  }
  end();
  return found;
}

/** Joins short pieces on one line into one rule, for example dashes that are drawn one by one. */
function joined(rules: readonly Rule[]): Rule[] {
  const found: Rule[] = [];
  for (const rule of [...rules].sort((a, b) => Math.round(a.y) - Math.round(b.y) || a.x - b.x)) {
    const last = found.at(-1);
    if (
      last &&
      Math.abs(last.y - rule.y) < 1 &&
      rule.x - (last.x + last.width) < 5 &&
      rule.width < 12 &&
      rule.x > last.x
    )
      found[found.length - 1] = { ...last, width: Math.max(last.width, rule.x + rule.width - last.x) };
    else found.push(rule);
  }
  return found;
}

/** A vertical line that the page draws. */
type Upright = { readonly x: number; readonly top: number; readonly bottom: number };

/** A page with more lines than the tables of a form have is a drawing. */
const mostLines = 400;
const touch = 2;

type Span = { readonly at: number; readonly from: number; readonly to: number };

/** Joins the pieces of a line that is drawn cell by cell. */
function whole(spans: readonly Span[]): Span[] {
  const found: Span[] = [];
  for (const span of [...spans].sort((a, b) => Math.round(a.at) - Math.round(b.at) || a.from - b.from)) {
    const last = found.at(-1);
    if (last && Math.abs(last.at - span.at) < 1 && span.from - last.to < touch)
      found[found.length - 1] = { ...last, to: Math.max(last.to, span.to) };
    else found.push(span);
  }
  return found;
}

/**
 * The cells of tables that are drawn line by line: each cell is between two vertical lines, from one horizontal line to
 * the next.
 */
function cellsIn(rules: readonly Rule[], uprights: readonly Upright[]): Rect[] {
  if (uprights.length < 2 || rules.length > mostLines || uprights.length > mostLines) return [];
  const across = whole(rules.map(({ x, y, width }) => ({ at: y, from: x, to: x + width })));
  const down = whole(uprights.map(({ x, top, bottom }) => ({ at: x, from: top, to: bottom })));
  const covers = ({ from, to }: Span, start: number, end: number) => from <= start + touch && to >= end - touch;
  return across.flatMap((top) => {
    const sides = down.filter(
      ({ at, from, to }) => covers(top, at, at) && from <= top.at + touch && to > top.at + touch * 3,
    );
    return sides.slice(1).flatMap((right, index): Rect[] => {
      const left = sides[index];
      if (!left) return [];
      const below = across.filter(
        ({ at, from, to }) => at > top.at + touch * 3 && covers({ at, from, to }, left.at, right.at),
      );
      const bottom = below[0];
      if (!bottom || !covers(left, top.at, bottom.at) || !covers(right, top.at, bottom.at)) return [];
      return [{ x: left.at, y: top.at, width: right.at - left.at, height: bottom.at - top.at }];
    });
  });
}

/** Whether a rule is the upper or lower edge of a box. Such a rule is not a line to write on. */
const isEdgeOf = ({ x, y, width }: Rule, box: Rect): boolean =>
  (Math.abs(y - box.y) < touch || Math.abs(y - box.y - box.height) < touch) &&
  Math.min(x + width, box.x + box.width) - Math.max(x, box.x) > 0.5 * Math.min(width, box.width);

type Annotation = {
  readonly subtype?: string;
  readonly fieldType?: string;
  readonly fieldName?: string;
  readonly fieldValue?: unknown;
  readonly rect?: readonly number[];
  readonly checkBox?: boolean;
  readonly hidden?: boolean;
  readonly readOnly?: boolean;
  readonly alternativeText?: string;
};

function ownField(annotation: Annotation, toShown: Matrix): OwnField[] {
  const {
    subtype,
    fieldType,
    fieldName = "",
    alternativeText,
    fieldValue,
    rect,
    checkBox,
    hidden,
    readOnly,
  } = annotation;
  if (subtype !== "Widget" || !rect || hidden || readOnly) return [];
  const kind = fieldType === "Sig" ? "signature" : fieldType === "Tx" ? "text" : checkBox ? "checkbox" : null;
  const isEmpty = fieldValue === null || fieldValue === undefined || fieldValue === "" || fieldValue === "Off";
  if (kind === null || !isEmpty) return [];
  const [[x1, y1], [x2, y2]] = [apply(toShown, rect[0] ?? 0, rect[1] ?? 0), apply(toShown, rect[2] ?? 0, rect[3] ?? 0)];
  const place = { x: Math.min(x1, x2), y: Math.min(y1, y2), width: Math.abs(x2 - x1), height: Math.abs(y2 - y1) };
  return place.width < 6 || place.height < 6 ? [] : [{ kind, name: alternativeText || fieldName, rect: place }];
}
