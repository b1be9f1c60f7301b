import type { Span } from "../../../kernel/pdf/lexer.ts";
import { drawnBy, type NamedField, namedFields } from "../../../kernel/pdf/named-fields.ts";
import { resolve } from "../../../kernel/pdf/objects.ts";
import { pages } from "../../../kernel/pdf/page-tree.ts";
import {
  type PageBox,
  pageBox,
  rectangle,
  shownPlace,
  type UserSpaceRect,
} from "../../../kernel/pdf/pages/page-box.ts";
import { PdfRefusal } from "../../../kernel/pdf/refusal.ts";
import { stringBytes, textOfBytes } from "../../../kernel/pdf/strings.ts";
import {
  asInteger,
  asName,
  asRef,
  type Dict,
  elements,
  entry,
  isArray,
  isDict,
  isString,
  readDict,
} from "../../../kernel/pdf/values.ts";
import type { PdfLookup } from "../../../kernel/pdf/xref/lookup.ts";

export type WidgetOnPage = {
  readonly ref: NamedField["ref"];
  readonly dict: Dict;
  /** The number of the page, counted from 1. */
  readonly page: number;
  readonly box: PageBox;
  readonly rect: UserSpaceRect["rect"];
  /** The name of the appearance state of a checked box. `isDrawn`: true if the form has a drawing for this state. */
  readonly state: string;
  readonly isDrawn: boolean;
};

export type AskedField = {
  readonly field: NamedField & { readonly name: string };
  readonly kind: "text" | "checkbox" | "radio" | "choice";
  readonly widgets: readonly WidgetOnPage[];
  /** For radio buttons and choices: each option's stored value, and the text that people read. */
  readonly options: readonly { readonly value: string; readonly label: string }[];
};

/** Flags of fields (ISO 32000-2 tables 227, 229, 231 and 233). */
export const flag = {
  readOnly: 1,
  required: 1 << 1,
  multiline: 1 << 12,
  password: 1 << 13,
  radio: 1 << 15,
  pushButton: 1 << 16,
  combo: 1 << 17,
  fileSelect: 1 << 20,
  multiSelect: 1 << 21,
  comb: 1 << 24,
} as const;

/** Widget flags that make a field invisible on the screen (table 167): invisible, hidden and no-view. */
const unseen = 1 | 2 | 32;

const maxQuestions = 500;
const maxOptions = 500;

export class Unfillable extends Error {
  readonly why: "encrypted" | "signed" | "no_fields" | "secret_fields" | "too_many";

  constructor(why: Unfillable["why"]) {
    super(why);
    this.why = why;
  }
}

/**
 * The fields of a PDF form that people fill in, in reading order. Skips signatures, push buttons, and fields that are
 * hidden, read-only or without a name.
 * @throws PdfRefusal, Unfillable
 */
export function askedFields(look: PdfLookup): AskedField[] {
  if (look.encrypt) throw new Unfillable("encrypted");
  if (look.signatures > 0 || look.docMdp !== null) throw new Unfillable("signed");
  const pageOf = placesOf(look);
  const asked: AskedField[] = [];
  for (const field of namedFields(look)) {
    const { name, flags, type } = field;
    if (type === "Sig" || (flags & flag.readOnly) !== 0) continue;
    if (type === "Btn" && (flags & flag.pushButton) !== 0) continue;
    if (type !== "Tx" && type !== "Btn" && type !== "Ch") continue;
    if (type === "Tx" && (flags & (flag.password | flag.fileSelect)) !== 0) throw new Unfillable("secret_fields");
    const widgets = field.widgets.flatMap((widget) => widgetAt(look, widget, pageOf));
    if (name === null || name === "" || widgets.length === 0) continue;
    asked.push({ field: { ...field, name }, widgets, ...contentOf(look, field, widgets) });
    if (asked.length > maxQuestions) throw new Unfillable("too_many");
  }
  if (asked.length === 0) throw new Unfillable("no_fields");
  const names = new Set(asked.map(({ field }) => field.name));
  // With two fields of the same name, answers by name would be ambiguous.
  if (names.size < asked.length) throw new PdfRefusal("needs_repair", "two fields of the form have one name");
  return asked.sort(inReadingOrder);
}

type NumberedPage = { number: number; box: PageBox };

function placesOf({ file, root }: PdfLookup): Map<number, NumberedPage> {
  const found = new Map<number, NumberedPage>();
  let number = 0;
  for (const page of pages(file, root.dict)) {
    number++;
    const annotations = resolve(file, entry(page.dict, "Annots"));
    if (!annotations || !isArray(annotations)) continue;
    const box = pageBox(file, page);
    for (const annotation of elements(annotations)) {
      const ref = asRef(annotation);
      if (ref && !found.has(ref.num)) found.set(ref.num, { number, box });
    }
  }
  return found;
}

function widgetAt(
  { file }: PdfLookup,
  { ref, dict }: Pick<NamedField, "ref" | "dict">,
  pageOf: ReadonlyMap<number, NumberedPage>,
): WidgetOnPage[] {
  const at = pageOf.get(ref.num);
  const rect = rectangle(file, entry(dict, "Rect"));
  if (!at || !rect || rect[0] >= rect[2] || rect[1] >= rect[3]) return [];
  if (((asInteger(resolve(file, entry(dict, "F"))) ?? 0) & unseen) !== 0) return [];
  const state = onState(file, dict);
  return [{ ref, dict, page: at.number, box: at.box, rect, state: state ?? "", isDrawn: state !== null }];
}

/** The name of a box's checked state, which is any state except /Off; null when the PDF defines none. */
function onState(file: PdfLookup["file"], dict: Dict): string | null {
  if (drawnBy(file, { dict }) === "nothing") return null;
  const appearance = resolve(file, entry(dict, "AP"));
  const normal =
    appearance && isDict(appearance)
      ? resolve(file, entry(readDict(appearance.bytes, appearance.start), "N"))
      : undefined;
  if (!normal || !isDict(normal)) return null;
  return [...readDict(normal.bytes, normal.start).entries.keys()].find((name) => name !== "Off") ?? null;
}

function contentOf(
  look: PdfLookup,
  { type, flags, dict }: NamedField,
  widgets: WidgetOnPage[],
): Pick<AskedField, "kind" | "options"> {
  if (type === "Tx") return { kind: "text", options: [] };
  const listed = optionsIn(look.file, dict);
  if (type === "Ch") return { kind: "choice", options: listed };
  for (const [index, widget] of widgets.entries())
    if (!widget.isDrawn) widgets[index] = { ...widget, state: widgets.length === 1 ? "Yes" : `Choice${index + 1}` };
  const states = [...new Set(widgets.map(({ state }) => state))];
  if ((flags & flag.radio) === 0 && states.length === 1) return { kind: "checkbox", options: [] };
  return {
    kind: "radio",
    options: states.map((value, index) => ({ value, label: listed[index]?.label ?? wordsIn(value) })),
  };
}

/**
 * Reads the options of a field from its `Opt` entry.
 * @throws PdfRefusal `too_complex` when there are too many
 */
function optionsIn(file: PdfLookup["file"], dict: Dict): { value: string; label: string }[] {
  const list = resolve(file, entry(dict, "Opt"));
  if (!list || !isArray(list)) return [];
  const found: { value: string; label: string }[] = [];
  for (const element of elements(list)) {
    if (found.length === maxOptions) throw new PdfRefusal("too_complex", `a choice of more than ${maxOptions}`);
    const value = resolve(file, element);
    const pair = value && isArray(value) ? [...elements(value)].map((each) => resolve(file, each)) : [value];
    const [written = "", shown = written] = pair.map((each) => (each && isString(each) ? textIn(each) : ""));
    if (written !== "" && !found.some((each) => each.value === written)) found.push({ value: written, label: shown });
  }
  return found;
}

const misleading = /[\p{Cc}\p{Cs}\p{Co}\u200B-\u200F\u2028-\u202E\u2060-\u206F\uFEFF\uFFFD]/gu;
const maxTextLength = 200;

/** Text from the PDF that is safe to show on a page, without characters that hide or reorder text. */
export const shownWords = (text: string): string =>
  [...text.replace(misleading, " ").replace(/\s+/gu, " ").trim()].slice(0, maxTextLength).join("");

/** A field's name split into words: `buyer_firstName2` becomes `buyer first Name 2`. */
export const wordsIn = (name: string): string =>
  shownWords(name.replace(/[[\]#_.:/-]+/g, " ").replace(/(?<=\p{Ll})(?=\p{Lu})|(?<=\p{L})(?=\p{N})/gu, " "));

const textIn = (span: Span): string => textOfBytes(stringBytes(span)) ?? "";

/** The text under a key of a PDF dictionary; empty when it is missing. */
export function textAt(file: PdfLookup["file"], dict: Dict, key: string): string {
  const value = resolve(file, entry(dict, key));
  return value && isString(value) ? textIn(value) : "";
}

/** The values that a field has in the PDF form; a list may have several. */
export function valuesAt(file: PdfLookup["file"], dict: Dict): string[] {
  const value = resolve(file, entry(dict, "V"));
  if (!value) return [];
  if (isArray(value))
    return [...elements(value)].slice(0, maxOptions).flatMap((each) => (isString(each) ? [textIn(each)] : []));
  if (isString(value)) return [textIn(value)];
  const name = asName(value);
  return name === undefined || name === "Off" ? [] : [name];
}

/** Compares fields by their place on the displayed page: from top to bottom, and from left to right on one line. */
function inReadingOrder(a: AskedField, b: AskedField): number {
  const [one, other] = [a, b].map(({ widgets: [first] }) =>
    first ? { page: first.page, ...shownPlace(first.box, first.rect) } : { page: 0, x: 0, y: 0, width: 0, height: 0 },
  );
  if (!one || !other) return 0;
  if (one.page !== other.page) return one.page - other.page;
  const isSameLine = Math.abs(one.y + one.height - other.y - other.height) < 6;
  return isSameLine ? one.x - other.x : one.y - other.y;
}
