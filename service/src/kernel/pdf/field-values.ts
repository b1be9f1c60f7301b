/** A run of text on a page, as pdf.js reports it. */
type Run = { readonly str: string; readonly hasEOL: boolean; readonly transform: readonly number[] };
type Item = Run | { readonly type: string };

/** Turns a point of the page into one of the page as shown, with y growing downwards. */
export type AsShown = (x: number, y: number) => number[];

/**
 * A field's value, and the run of text next to which the page shows it. Without text near it, `run` is null and the
 * field's description is in front of the value.
 */
export type PlacedValue = { readonly text: string; readonly run: number | null; readonly side: "before" | "after" };

type Box = { left: number; top: number; right: number; bottom: number };
type Annotation = Readonly<Record<string, unknown>>;

/** The annotation flags Hidden and NoView (ISO 32000-2, table 167). */
const unseen = 2 | 32;
const tick = "\u2611";
/** In points: how far a box's words may be from the box, and words above a field from the field. */
const beside = 40;
const above = 14;

/** Placing compares each value with each run, so that the values of a page with more fields come at its end. */
const mostPlaced = 500;

const runsIn = (items: readonly Item[]): Run[] => items.filter((item) => "str" in item);

/**
 * The values of a page's form fields, which the text of the page does not contain. Each is placed next to the words in
 * front of its field, or behind the field for a box, so that a reader finds it where the page shows it.
 */
export function fieldValues(
  items: readonly Item[],
  annotations: readonly Annotation[],
  asShown: AsShown,
): PlacedValue[] {
  const points = runsIn(items).map(({ str, transform }, index) => {
    const [x = 0, y = 0] = asShown(transform[4] ?? 0, transform[5] ?? 0);
    return { index, x, y, isBlank: str.trim() === "" };
  });
  const words = points.filter(({ isBlank }) => !isBlank);
  const values = annotations.flatMap((annotation) => {
    const text = textIn(annotation);
    const box = boxOf(annotation["rect"], asShown);
    return text === "" || box === null ? [] : [{ text, box, label: labelOf(annotation) }];
  });
  const inReadingOrder = values.toSorted((a, b) => a.box.top - b.box.top || a.box.left - b.box.left);
  return inReadingOrder.map(({ text, box, label }, index) => {
    const alone: PlacedValue = { text: label === "" ? text : `${label}: ${text}`, run: null, side: "after" };
    if (index >= mostPlaced) return alone;
    const onLine = words.filter(({ y }) => y >= box.top - 1 && y <= box.bottom + 2);
    const next = onLine.filter(({ x }) => x >= box.right - 2 && x <= box.right + beside);
    const nearest = next.toSorted((a, b) => a.x - b.x)[0];
    if (text === tick && nearest) return { text, run: nearest.index, side: "before" };
    const left = onLine.filter(({ x }) => x <= box.left + 2).toSorted((a, b) => b.x - a.x)[0];
    const over = words
      .filter(({ x, y }) => y < box.top && y >= box.top - above && x <= box.right)
      .toSorted((a, b) => b.y - a.y || Math.abs(a.x - box.left) - Math.abs(b.x - box.left))[0];
    const near = left ?? over;
    return near ? { text, run: near.index, side: "after" } : alone;
  });
}

/** The text of a page with the values of its form fields. */
export function textWithValues(items: readonly Item[], annotations: readonly Annotation[], asShown: AsShown): string {
  const values = Map.groupBy(fieldValues(items, annotations, asShown), ({ run }) => run);
  const at = (run: number | null, side: PlacedValue["side"]) =>
    (values.get(run) ?? []).filter((each) => each.side === side).map(({ text }) => text);
  const lines = runsIn(items).map(({ str, hasEOL }, index) => {
    const text = [...at(index, "before"), str, ...at(index, "after")].join(" ");
    return hasEOL ? `${text}\n` : text;
  });
  return [lines.join(""), ...at(null, "after")].filter((text) => text !== "").join("\n");
}

/**
 * The text that the page shows in a field. The drawn text counts, because a field's value can differ from it. The value
 * is used for a field that has no drawing, and in the place of a drawing of single letters.
 */
function textIn(annotation: Annotation): string {
  const { fieldType, annotationFlags, textContent, fieldValue } = annotation;
  if (Number(annotationFlags) & unseen) return "";
  if (fieldType === "Btn") return isTicked(annotation) ? tick : "";
  if (fieldType !== "Tx" && fieldType !== "Ch") return "";
  const drawn = textsOf(textContent).join("\n").trim();
  const value = textsOf(fieldValue).join(", ").trim();
  return drawn === "" || bare(drawn) === bare(value) ? value : drawn;
}

/** The field's description for readers who can't see the page (ISO 32000-2, TU). */
const labelOf = ({ alternativeText }: Annotation): string =>
  typeof alternativeText === "string" ? alternativeText.trim() : "";

function isTicked({ checkBox, radioButton, fieldValue, exportValue, buttonValue }: Annotation): boolean {
  if (typeof fieldValue !== "string" || fieldValue === "Off") return false;
  return (checkBox === true && fieldValue === exportValue) || (radioButton === true && fieldValue === buttonValue);
}

const textsOf = (value: unknown): string[] => [value].flat().filter((each) => typeof each === "string");
const bare = (text: string): string => text.replace(/[\s,]/g, "");

function boxOf(rect: unknown, asShown: AsShown): Box | null {
  const [x1, y1, x2, y2] = Array.isArray(rect) ? rect.map(Number) : [];
  if (x1 === undefined || y1 === undefined || x2 === undefined || y2 === undefined) return null;
  const [ax = 0, ay = 0] = asShown(x1, y1);
  const [bx = 0, by = 0] = asShown(x2, y2);
  return { left: Math.min(ax, bx), top: Math.min(ay, by), right: Math.max(ax, bx), bottom: Math.max(ay, by) };
}
