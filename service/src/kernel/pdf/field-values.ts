/** A run of text on a page, as pdf.js reports it. */
type Run = { readonly str: string; readonly hasEOL: boolean; readonly transform: readonly number[] };
type Item = Run | { readonly type: string };

/** Converts a point in user space to the page as readers show it, with y growing downwards. */
export type AsShown = (x: number, y: number) => number[];

/**
 * A field's value in `text`, and the run of text next to the field on the page. If there is no text near the field,
 * `run` is null. Then `text` begins with the field's description, unless the description equals the value.
 */
export type ValueNextToRun = { readonly text: string; readonly run: number | null; readonly side: "before" | "after" };

type Box = { left: number; top: number; right: number; bottom: number };
type Annotation = Readonly<Record<string, unknown>>;

/** The annotation flags Hidden and NoView (ISO 32000-2, table 167). */
const unseen = 2 | 32;
const tick = "\u2611";
/**
 * In points. `boxReach`: the greatest distance from a checkbox to the words on its right. `above`: the greatest
 * distance from a field up to the words above it.
 */
const boxReach = 40;
const above = 14;

/**
 * The most values taken from a page, and the most characters taken from a value. The rest is dropped, so that a hostile
 * document can't slow the service down.
 */
const maxValues = 2_000;
const maxCharacters = 20_000;
/**
 * The most comparisons between values and words on one page. Values beyond this limit are appended after the text of
 * the page.
 */
const maxComparisons = 1_000_000;

const runsIn = (items: readonly Item[]): Run[] => items.filter((item) => "str" in item);

/**
 * The values of a page's fields, in reading order. Each value has the run of text next to which a screen reader should
 * speak the value. A checkbox's value comes before the words to its right, if there are any. Any other value comes
 * after the words to its left or above it.
 */
export function fieldValues(
  items: readonly Item[],
  annotations: readonly Annotation[],
  asShown: AsShown,
): ValueNextToRun[] {
  const near = finderOf(wordsIn(items, asShown));
  const values = annotations.flatMap((annotation) => {
    const text = textIn(annotation).slice(0, maxCharacters);
    const box = boxOf(annotation["rect"], asShown);
    return text === "" || box === null ? [] : [{ text, box, label: labelOf(annotation).slice(0, maxCharacters) }];
  });
  const inReadingOrder = values.toSorted((a, b) => a.box.top - b.box.top || a.box.left - b.box.left);
  return inReadingOrder.slice(0, maxValues).map(({ text, box, label }) => {
    const { next, left, over } = near(box);
    if (text === tick && next) return { text, run: next.index, side: "before" };
    const before = left ?? over;
    if (before) return { text, run: before.index, side: "after" };
    return { text: label === "" || label === text ? text : `${label}: ${text}`, run: null, side: "after" };
  });
}

/** A run that is not blank: its position on the page, and its index among the page's runs. */
type Word = { readonly index: number; readonly x: number; readonly y: number };

/** The words of a page, from its top to its bottom. */
const wordsIn = (items: readonly Item[], asShown: AsShown): Word[] =>
  runsIn(items)
    .flatMap(({ str, transform }, index) => {
      const [x = 0, y = 0] = asShown(transform[4] ?? 0, transform[5] ?? 0);
      return str.trim() === "" ? [] : [{ index, x, y }];
    })
    .toSorted((a, b) => a.y - b.y);

/** Returns a function that finds the nearest word to the right of a box, to its left, and above it. */
function finderOf(words: readonly Word[]) {
  let comparisons = 0;
  /** The words between two heights; none once `maxComparisons` is exceeded. */
  const between = (top: number, bottom: number): readonly Word[] => {
    const first = firstFrom(words, top);
    const end = firstFrom(words, bottom);
    comparisons += end - first;
    return comparisons > maxComparisons ? [] : words.slice(first, end);
  };
  return (box: Box) => {
    let next: Word | undefined;
    let left: Word | undefined;
    let over: Word | undefined;
    for (const word of between(box.top - 1, box.bottom + 2)) {
      const { x } = word;
      if (x >= box.right - 2 && x <= box.right + boxReach && x < (next?.x ?? Number.POSITIVE_INFINITY)) next = word;
      if (x <= box.left + 2 && x > (left?.x ?? Number.NEGATIVE_INFINITY)) left = word;
    }
    const away = ({ x }: Word) => Math.abs(x - box.left);
    for (const word of between(box.top - above, box.top))
      if (word.x <= box.right && (!over || word.y > over.y || away(word) < away(over))) over = word;
    return { next, left, over };
  };
}

/** The index of the first word at this height or below. */
function firstFrom(words: readonly Word[], top: number): number {
  let low = 0;
  let high = words.length;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if ((words[middle]?.y ?? 0) < top) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The text of a page with the values of its form fields. */
export function textWithValues(items: readonly Item[], annotations: readonly Annotation[], asShown: AsShown): string {
  const values = Map.groupBy(fieldValues(items, annotations, asShown), ({ run }) => run);
  const at = (run: number | null, side: ValueNextToRun["side"]) =>
    (values.get(run) ?? []).filter((each) => each.side === side).map(({ text }) => text);
  const lines = runsIn(items).map(({ str, hasEOL }, index) => {
    const text = [...at(index, "before"), str, ...at(index, "after")].join(" ");
    return hasEOL ? `${text}\n` : text;
  });
  return [lines.join(""), ...at(null, "after")].filter((text) => text !== "").join("\n");
}

/**
 * The text that the page shows in a field; empty if it shows nothing, even if the field has a value.
 *
 * A text field may be drawn letter by letter. So if the drawn letters equal the value's letters, the value is returned.
 * A list or choice also returns its value, because pdf.js does not read its drawing.
 */
function textIn(annotation: Annotation): string {
  const { fieldType, annotationFlags, hasAppearance, password, textContent, fieldValue } = annotation;
  if (Number(annotationFlags) & unseen || password === true) return "";
  if (fieldType === "Btn") return isTicked(annotation) ? tick : "";
  const value = textsOf(fieldValue).join(", ").trim();
  if (fieldType === "Ch") return hasAppearance === true ? value : "";
  if (fieldType !== "Tx") return "";
  const drawn = textsOf(textContent).join("\n").trim();
  return bare(drawn) === bare(value) ? value : drawn;
}

/** The field's description for readers who can't see the page (ISO 32000-2, TU). */
const labelOf = ({ alternativeText }: Annotation): string =>
  typeof alternativeText === "string" ? alternativeText.trim() : "";

/**
 * True if the page shows a checkbox as checked. False for every radio button: pdf.js reports only the value of the
 * group, and the page may show another button as checked.
 */
const isTicked = ({ checkBox, fieldValue, exportValue }: Annotation): boolean =>
  checkBox === true && typeof fieldValue === "string" && fieldValue !== "Off" && fieldValue === exportValue;

const textsOf = (value: unknown): string[] => [value].flat().filter((each) => typeof each === "string");
const bare = (text: string): string => text.replace(/[\s,]/g, "");

function boxOf(rect: unknown, asShown: AsShown): Box | null {
  const [x1, y1, x2, y2] = Array.isArray(rect) ? rect.map(Number) : [];
  if (x1 === undefined || y1 === undefined || x2 === undefined || y2 === undefined) return null;
  const [ax = 0, ay = 0] = asShown(x1, y1);
  const [bx = 0, by = 0] = asShown(x2, y2);
  return { left: Math.min(ax, bx), top: Math.min(ay, by), right: Math.max(ax, bx), bottom: Math.max(ay, by) };
}
