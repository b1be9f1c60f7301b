import type { PDFPageProxy } from "../pdf-js.ts";
import { glyphsIn } from "./glyphs.ts";
import { linesIn, type Rect, type Rule } from "./lines.ts";
import { apply, type Matrix, matrixOf } from "./matrix.ts";
import { type Run, runsIn } from "./runs.ts";
import type { Operators, Ops } from "./walk.ts";

export type { Rect, Rule } from "./lines.ts";

/**
 * An option of a dropdown or a radio group. `rect` is the rectangle of a radio button; null for an option of a
 * dropdown.
 */
export type OwnOption = { readonly label: string; readonly rect: Rect | null };

/**
 * A form field that the document already contains: an empty, visible field that is not read-only. For a radio group,
 * `rect` is the rectangle of its first option.
 */
export type OwnField = {
  readonly kind: "signature" | "text" | "checkbox" | "dropdown" | "radio";
  readonly name: string;
  readonly rect: Rect;
  readonly options: readonly OwnOption[];
};

export type PageContent = {
  readonly width: number;
  readonly height: number;
  readonly runs: readonly Run[];
  readonly rules: readonly Rule[];
  readonly boxes: readonly Rect[];
  readonly own: readonly OwnField[];
};

/** A page with more operators than this counts as a drawing, whose lines are not places to sign. */
const maxOperators = 60_000;

/** Reads the words, lines and form fields of a page with pdf.js. */
export async function readContent(page: PDFPageProxy, OPS: Ops): Promise<PageContent> {
  const viewport = page.getViewport({ scale: 1 });
  const [operators, annotations] = await Promise.all([page.getOperatorList(), page.getAnnotations()]);
  const toShown = matrixOf(viewport.transform);
  const scaleOf = (font: string): number =>
    (page.commonObjs.has(font) && page.commonObjs.get(font).fontMatrix?.[0]) || 0.001;
  const runs = runsIn(glyphsIn(operators, OPS, toShown, scaleOf));
  const { rules, boxes } =
    operators.fnArray.length > maxOperators ? { rules: [], boxes: [] } : linesIn(operators, OPS, toShown);
  const own = [
    ...annotations.flatMap((annotation) => ownField(annotation, toShown)),
    ...radiosIn(annotations, toShown),
  ];
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
  readonly radioButton?: boolean;
  readonly buttonValue?: string | null;
  readonly combo?: boolean;
  readonly options?: readonly { readonly displayValue?: string; readonly exportValue?: string }[];
  readonly hidden?: boolean;
  readonly readOnly?: boolean;
  readonly alternativeText?: string;
};

/**
 * The least and the most options of a choice. With fewer or more, a dropdown becomes a text field, and a radio group is
 * left out.
 */
const optionCount = { min: 2, max: 50 } as const;
const maxOptionLength = 200;

/** Some form editors store spaces as the value of a field that nobody filled in. */
const isEmpty = (value: unknown): boolean =>
  [value].flat().every((each) => each === null || each === undefined || each === "Off" || `${each}`.trim() === "");

function placeOf({ rect }: Annotation, toShown: Matrix): Rect | null {
  if (!rect) return null;
  const [[x1, y1], [x2, y2]] = [apply(toShown, rect[0] ?? 0, rect[1] ?? 0), apply(toShown, rect[2] ?? 0, rect[3] ?? 0)];
  const place = { x: Math.min(x1, x2), y: Math.min(y1, y2), width: Math.abs(x2 - x1), height: Math.abs(y2 - y1) };
  return place.width < 6 || place.height < 6 ? null : place;
}

const isOpen = ({ subtype, hidden, readOnly, fieldValue }: Annotation): boolean =>
  subtype === "Widget" && !hidden && !readOnly && isEmpty(fieldValue);

function ownField(annotation: Annotation, toShown: Matrix): OwnField[] {
  const { fieldType, fieldName = "", alternativeText, combo } = annotation;
  const place = placeOf(annotation, toShown);
  if (!place || !isOpen(annotation)) return [];
  const field = { name: alternativeText || fieldName, rect: place };
  if (fieldType === "Ch" && combo) {
    const options = choices((annotation.options ?? []).map((each) => ({ label: optionLabel(each), rect: null })));
    return [{ ...field, kind: options ? "dropdown" : "text", options: options ?? [] }];
  }
  const kind = kindOf(annotation);
  return kind === null ? [] : [{ ...field, kind, options: [] }];
}

function kindOf({ fieldType, checkBox }: Annotation): "signature" | "text" | "checkbox" | null {
  if (fieldType === "Sig") return "signature";
  if (fieldType === "Tx") return "text";
  return checkBox ? "checkbox" : null;
}

const optionLabel = ({ displayValue, exportValue }: { displayValue?: string; exportValue?: string }): string =>
  displayValue || exportValue || "";

/** The options with a label. @returns null if they are too few or too many, if one is too long, or if two are equal */
function choices(all: readonly OwnOption[]): readonly OwnOption[] | null {
  const options = all
    .map(({ label, rect }) => ({ label: label.replace(/\s+/g, " ").trim(), rect }))
    .filter(({ label }) => label !== "");
  const labels = new Set(options.map(({ label }) => label));
  const isShort = options.every(({ label }) => label.length <= maxOptionLength);
  const isCounted = options.length >= optionCount.min && options.length <= optionCount.max;
  return isShort && isCounted && labels.size === options.length ? options : null;
}

/** The radio groups of a page. pdf.js returns an annotation per button; the buttons of a group share a `fieldName`. */
function radiosIn(annotations: readonly Annotation[], toShown: Matrix): OwnField[] {
  const byName = new Map<string, Annotation[]>();
  for (const annotation of annotations) {
    const { radioButton, fieldName = "" } = annotation;
    if (radioButton) byName.set(fieldName, [...(byName.get(fieldName) ?? []), annotation]);
  }
  return [...byName].flatMap(([fieldName, all]): OwnField[] => {
    if (!all.every(isOpen)) return [];
    const buttons = all.map((each) => ({ label: each.buttonValue ?? "", rect: placeOf(each, toShown) }));
    const options = choices(buttons.filter(({ rect }) => rect !== null));
    const rect = options?.[0]?.rect;
    const name = all.find(({ alternativeText }) => alternativeText)?.alternativeText ?? fieldName;
    return options && rect ? [{ kind: "radio", name, rect, options }] : [];
  });
}
