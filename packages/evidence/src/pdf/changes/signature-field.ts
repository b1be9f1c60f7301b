import { readByteRange } from "../byte-range.ts";
import { stringText } from "../text.ts";
import { nameOf, type PdfDictionary, type PdfValue } from "../values.ts";
import { type Level, worst } from "./levels.ts";
import type { Step } from "./step.ts";
import { itemsOf, plainDictionary, storedOf, type View } from "./view.ts";

/** The keys that an invisible field and its widget may have. The values of /Rect, /MK and /AP are tested separately. */
const INVISIBLE_KEYS = new Set(
  "Type Subtype FT T TU TM F Ff Rect P V Lock SV DA Q M NM AP Kids StructParent MK".split(" "),
);
const VISIBLE_KEYS = new Set([...INVISIBLE_KEYS, "BS", "Border", "H", "DR", "Lang"]);
const WIDGET_KEYS = new Set("Type Subtype F Rect P Parent M NM AP StructParent MK".split(" "));
const MAX_WIDGETS = 16;

/** A signature field that a revision adds. */
export type AddedField = {
  readonly level: Level;
  readonly name: string;
  /**
   * True if the field is permitted even if a lock covers all fields. True for a field that shows nothing and that is
   * empty or has a document time stamp.
   */
  readonly whenLocked: boolean;
  /**
   * True if the new field shows nothing on the page. The locks in signatures (FieldMDP) apply to such a field, but the
   * /Lock entries of signature fields don't.
   */
  readonly isNew: boolean;
  /** The number of the object that is the field's value, for a signature in an invisible field. */
  readonly invisible: number | null;
  /** The numbers of the objects that pages may list as this field's widgets: the field itself and its widgets. */
  readonly widgets: readonly number[];
};

/** Classifies a new object in the form's list of fields; null when the object is not a new signature field. */
export function addedField(earlier: View, later: View, item: PdfValue): AddedField | null {
  const dictionary = plainDictionary(later, item);
  if (item.kind !== "reference" || earlier.inUse(item.number) || dictionary === undefined) return null;
  const title = dictionary.entries.get("T");
  if (title?.kind !== "string" || nameOf(dictionary, "FT") !== "Sig") return null;
  const name = stringText(title);
  if (name === "" || name.includes(".")) return null;
  const kids = itemsOf(later, dictionary.entries.get("Kids"));
  const parts = widgetsOf(earlier, later, item.number, dictionary, kids);
  if (parts === null) return null;
  const value = dictionary.entries.get("V");
  const signed = valueLevel(earlier, later, value);
  if (signed === null) return null;
  const shows = parts.some((part) => part.shows);
  const widgets = [item.number, ...parts.map((part) => part.number)];
  if (!shows) {
    const isSignature = value?.kind === "reference" && signed === "signatures";
    const level = isSignature ? "invisible" : signed;
    const whenLocked = value === undefined || signed === "validation";
    return { level, name, whenLocked, isNew: true, invisible: isSignature ? value.number : null, widgets };
  }
  // An unsigned field with an appearance is only a picture on the page, so its level is that of annotations.
  const isPicture = !isSigned(later, value) && parts.some(({ dictionary }) => dictionary.entries.has("AP"));
  return {
    level: isPicture ? "annotations" : "fields",
    name,
    whenLocked: false,
    isNew: false,
    invisible: null,
    widgets,
  };
}

/** True if a value is a real signature. A value that only has the type of a signature is not. */
function isSigned(later: View, value: PdfValue | undefined): boolean {
  const signature = plainDictionary(later, value);
  const contents = signature?.entries.get("Contents");
  if (signature === undefined || contents?.kind !== "string") return false;
  return readByteRange(contents.source, signature, storedOf(later, value)?.start !== undefined, "foreign").ok;
}

type Part = { readonly number: number; readonly dictionary: PdfDictionary; readonly shows: boolean };

function widgetsOf(
  earlier: View,
  later: View,
  number: number,
  field: PdfDictionary,
  kids: readonly PdfValue[],
): Part[] | null {
  if (kids.length === 0) return partOf(later, number, field, field.entries.has("Rect") || field.entries.has("Subtype"));
  if (kids.length > MAX_WIDGETS || field.entries.has("Subtype")) return null;
  if (![...field.entries.keys()].every((key) => INVISIBLE_KEYS.has(key))) return null;
  const parts: Part[] = [];
  for (const kid of kids) {
    const widget = plainDictionary(later, kid);
    if (kid.kind !== "reference" || earlier.inUse(kid.number) || widget === undefined) return null;
    if (nameOf(widget, "Subtype") !== "Widget" || ![...widget.entries.keys()].every((key) => WIDGET_KEYS.has(key))) {
      return null;
    }
    const visible = shows(later, widget);
    if (!visible && couldShow(later, widget)) return null;
    parts.push({ number: kid.number, dictionary: widget, shows: visible });
  }
  return parts;
}

function partOf(later: View, number: number, field: PdfDictionary, isWidget: boolean): Part[] | null {
  if (isWidget && nameOf(field, "Subtype") !== "Widget") return null;
  const visible = shows(later, field);
  if (!visible && couldShow(later, field)) return null;
  const keys = visible ? VISIBLE_KEYS : INVISIBLE_KEYS;
  return [...field.entries.keys()].every((key) => keys.has(key))
    ? [{ number, dictionary: field, shows: visible }]
    : null;
}

/**
 * True if a widget's rectangle has an area, so that readers may show the widget. Also true for a malformed rectangle.
 */
function shows(view: View, widget: PdfDictionary): boolean {
  const corners = itemsOf(view, widget.entries.get("Rect")).map((item) =>
    item.kind === "number" ? item.value : Number.NaN,
  );
  const [left, bottom, right, top] = corners;
  return corners.length > 0 && !(corners.length === 4 && (left === right || bottom === top));
}

/**
 * True if a widget has a border, a background, or an appearance that may paint something. Some readers might paint
 * these even if the widget's rectangle has no area.
 */
function couldShow(view: View, widget: PdfDictionary): boolean {
  const [style, appearance] = [widget.entries.get("MK"), widget.entries.get("AP")];
  if (style !== undefined && plainDictionary(view, style)?.entries.size !== 0) return true;
  return appearance !== undefined && !paintsNothing(view, appearance);
}

/**
 * The level of a change in a signature field's value. The value may be empty, a new signature or a new document time
 * stamp; null for any other value.
 */
function valueLevel(earlier: View, later: View, value: PdfValue | undefined): Level | null {
  if (value === undefined || value.kind === "null") return "signatures";
  if (value.kind !== "reference" || earlier.inUse(value.number)) return null;
  const signature = plainDictionary(later, value);
  if (signature === undefined) return null;
  const isTimeStamp = nameOf(signature, "Type") === "DocTimeStamp" && nameOf(signature, "SubFilter") === "ETSI.RFC3161";
  return isTimeStamp ? "validation" : "signatures";
}

/** The level of the change when an existing, empty signature field gets a signature; null for any other change. */
export function filledLevel({ earlier, later }: Step, field: number): Level | null {
  const [old, now] = [earlier, later].map((view) => {
    const stored = view.get(field);
    return stored?.value.kind === "dictionary" && stored.data === undefined ? stored.value : undefined;
  });
  const held = old?.entries.get("V");
  const value = now?.entries.get("V");
  if (now === undefined || (held !== undefined && held.kind !== "null") || value === undefined) return null;
  const level = valueLevel(earlier, later, value);
  const widgets = itemsOf(later, now.entries.get("Kids")).map((kid) => plainDictionary(later, kid));
  const visible = [now, ...widgets].some((widget) => widget !== undefined && shows(later, widget));
  return level === null ? null : worst([level, visible ? "signatures" : level]);
}

const MAX_CONTENT = 4096;

/**
 * True if an /AP has only a normal appearance and that appearance paints nothing. Its content may be comments, `q` and
 * `Q`.
 */
function paintsNothing(view: View, value: PdfValue | undefined): boolean {
  const appearance = plainDictionary(view, value);
  if (appearance === undefined || [...appearance.entries.keys()].some((key) => key !== "N")) return false;
  const normal = storedOf(view, appearance.entries.get("N"));
  if (normal?.decode === undefined || !normal.closed) return false;
  const content = normal.decode(MAX_CONTENT);
  const text = Array.from(content, (byte) => String.fromCharCode(byte)).join("");
  return /^(?:\s|%[^\r\n]*(?=[\r\n]|$)|[qQ](?=\s|$))*$/.test(text);
}
