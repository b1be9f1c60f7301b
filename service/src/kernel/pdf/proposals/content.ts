import type { PDFPageProxy } from "../pdf-js.ts";
import { linesIn, type Operators, type Ops, type Rect, type Rule } from "./lines.ts";
import { apply, type Matrix, matrixOf } from "./matrix.ts";
import { joinedRuns, type Run, runsIn } from "./runs.ts";

export type { Rect, Rule } from "./lines.ts";

/** An empty form field that the document already contains. */
export type OwnField = { readonly kind: "signature" | "text" | "checkbox"; readonly name: string; readonly rect: Rect };

export type PageContent = {
  readonly width: number;
  readonly height: number;
  readonly runs: readonly Run[];
  readonly rules: readonly Rule[];
  readonly boxes: readonly Rect[];
  readonly own: readonly OwnField[];
};

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
  const runs = joinedRuns(
    text.items.flatMap((item) => ("str" in item ? runsIn(item, toShown, widths.get(item.fontName)) : [])),
  );
  const { rules, boxes } =
    operators.fnArray.length > mostOperators ? { rules: [], boxes: [] } : linesIn(operators, OPS, toShown);
  const own = annotations.flatMap((annotation) => ownField(annotation, toShown));
  return { width: viewport.width, height: viewport.height, runs, rules, boxes, own };
}

/**
 * The widths of the characters that a page shows, by font. pdf.js gives a run of text only one width for all of its
 * characters.
 */
export function widthsByFont({ fnArray, argsArray }: Operators, OPS: Ops): Map<string, Map<string, number>> {
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
