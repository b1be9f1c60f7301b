import { type FormField, formFields } from "../../../../kernel/pdf/form-fields.ts";
import { resolve } from "../../../../kernel/pdf/objects.ts";
import { type Place, pageBox, rectangle, shownPlace, shownSize } from "../../../../kernel/pdf/pages/page-box.ts";
import { pages } from "../../../../kernel/pdf/pages/page-tree.ts";
import { PdfRefusal } from "../../../../kernel/pdf/refusal.ts";
import { isStream } from "../../../../kernel/pdf/revision/new-object.ts";
import { stringBytes, textOfBytes } from "../../../../kernel/pdf/strings.ts";
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
  unambiguous,
} from "../../../../kernel/pdf/values.ts";
import type { PdfLookup } from "../../../../kernel/pdf/xref/lookup.ts";

/**
 * The kind of one of the document's own fields. A box is a checkbox, a list is a dropdown, and `radio` is one option of
 * a radio.
 */
export type DocumentFieldKind = "signature" | "text" | "checkbox" | "dropdown" | "radio";

/** A radio of the document; `options` is the number of its options. */
export type DocumentRadio = { readonly object: number; readonly name: string; readonly options: number };

/** An empty field that the document already has, at the place where readers show it. */
export type DocumentField = {
  readonly object: number;
  /** The fully qualified name. */
  readonly name: string;
  readonly kind: DocumentFieldKind;
  /** The number of the page, counted from 0. */
  readonly page: number;
  readonly place: Place;
  /** For an option of a radio. The option's own name in the document is its radio's name and the name of its state. */
  readonly radio?: DocumentRadio;
};

/** A field at its place. `isInside`: its page shows all of it. */
type Placed = DocumentField & { readonly isInside: boolean };

type Candidate = Pick<DocumentField, "name" | "kind" | "radio"> & { readonly dict: Dict };

/** Flags of widgets that readers do not show (ISO 32000-1 table 165): invisible, hidden and no-view. */
const UNSEEN = 1 | 2 | 32;

const isUntouched = ({ signatures, docMdp }: PdfLookup): boolean => signatures === 0 && docMdp === null;

/**
 * The empty signature fields of a document that can be signed, page by page from top to bottom. Each must be its own
 * widget and visible on a page. Some fields are left out:
 *
 * - fields with an incomplete or ambiguous name, because acts are checked by name;
 * - in a signed or certified document, fields that name a lock of their own, which can't be changed any more, and
 *   fields that require a certain signature;
 * - in an encrypted document all fields, because their names are encrypted.
 *
 * @throws PdfRefusal
 */
export function formSignatures(look: PdfLookup): DocumentField[] {
  const { file, acroForm } = look;
  if (!acroForm || file.encryption) return [];
  const candidates = new Map<number, Candidate>();
  for (const field of formFields(file, acroForm.dict)) {
    const name = isSignable(look, field) ? nameOf(look, field) : null;
    if (name !== null) candidates.set(field.ref.num, { name, kind: "signature", dict: field.dict });
  }
  const found: DocumentField[] = [];
  if (candidates.size === 0) return found;
  for (const here of placesByPage(look, candidates)) {
    const news = here.filter(({ object }) => candidates.has(object));
    for (const { object } of news) candidates.delete(object);
    found.push(...news.map(({ isInside: _, ...field }) => field));
    if (candidates.size === 0) break;
  }
  return found;
}

/**
 * The empty fields of an untouched document that can be given to a signer, each with its own widget, visible on one
 * page. They are found by object, by name and by place alike, so no field counts that another reader could find twice,
 * elsewhere or under another name. Empty for a document in which that is not certain.
 */
export function usableFields(look: PdfLookup): DocumentField[] {
  const { file, acroForm } = look;
  if (!acroForm || file.encryption || !isUntouched(look) || entry(acroForm.dict, "XFA")) return [];
  try {
    const all = [...formFields(file, acroForm.dict)];
    if (!isTree(look, acroForm.dict, all)) return [];
    const named = Map.groupBy(all, (field) => nameOf(look, field) ?? "");
    const candidates = new Map<number, Candidate>();
    for (const [name, [field, ...others]] of named) {
      const kind = field && others.length === 0 && usableName.test(name) ? usableKind(look, field) : null;
      if (field && kind) candidates.set(field.ref.num, { name, kind, dict: field.dict });
      if (!field || kind || others.length > 0 || !usableName.test(name)) continue;
      const options = radioOptions(look, field, all);
      const isPlain = options.every(({ state }) => usableState.test(state));
      const names = options.map(({ state }, index) => `${name}.${isPlain ? state : `o${index + 1}`}`);
      // A field with the name of an option would be taken for the option.
      if (names.some((each) => named.has(each))) continue;
      const radio = { object: field.ref.num, name, options: options.length };
      for (const [index, { ref, dict }] of options.entries())
        candidates.set(ref.num, { name: names[index] ?? "", kind: "radio", dict, radio });
    }
    if ([...candidates.values()].some(({ radio }) => radio)) withoutAdopted(look, all, candidates);
    return candidates.size === 0 ? [] : shownOnce([...placesByPage(look, candidates)].flat());
  } catch (error) {
    if (error instanceof PdfRefusal) return [];
    throw error;
  }
}

/** Removes radios that an annotation names as its parent without being a kid: readers differ on what belongs to them. */
function withoutAdopted({ file, root }: PdfLookup, all: readonly FormField[], candidates: Map<number, Candidate>) {
  const listed = new Set(all.map(({ ref }) => ref.num));
  const adopting = new Set<number>();
  for (const page of pages(file, root.dict)) {
    const annotations = resolve(file, entry(page.dict, "Annots"));
    for (const annotation of annotations && isArray(annotations) ? elements(annotations) : []) {
      if (listed.has(asRef(annotation)?.num ?? -1)) continue;
      const found = resolve(file, annotation);
      let node = found && isDict(found) ? dictIn(found) : undefined;
      for (let level = 0; node && level < 32; level++) {
        const parent = entry(node, "Parent");
        adopting.add(asRef(parent)?.num ?? -1);
        const above = resolve(file, parent);
        node = above && isDict(above) ? dictIn(above) : undefined;
      }
    }
  }
  for (const [object, { radio }] of candidates)
    if (radio && (adopting.has(object) || adopting.has(radio.object))) candidates.delete(object);
}

/**
 * Without the fields that pages list twice, whose value would be shown where the signer was not asked for it, and those
 * outside their page.
 */
function shownOnce(placed: readonly Placed[]): DocumentField[] {
  const times = new Map<number, number>();
  for (const { object } of placed) times.set(object, (times.get(object) ?? 0) + 1);
  return placed.flatMap(({ isInside, ...field }) => (isInside && times.get(field.object) === 1 ? [field] : []));
}

/**
 * Whether the form lists each of its fields exactly once, as an indirect object, so that every reader finds the same
 * fields under the same names.
 */
function isTree({ file }: PdfLookup, acroForm: Dict, all: readonly FormField[]): boolean {
  const lists = [entry(acroForm, "Fields"), ...all.map(({ dict }) => entry(dict, "Kids"))];
  const listed = lists.flatMap((list) => {
    const array = resolve(file, list);
    return array && isArray(array) ? [...elements(array)].map((each) => asRef(each)?.num ?? null) : [];
  });
  return !listed.includes(null) && new Set(listed).size === listed.length && listed.length === all.length;
}

function isSignable(look: PdfLookup, { ref, dict, type }: FormField): boolean {
  if (type !== "Sig" || ref.gen !== 0 || entry(dict, "V") || entry(dict, "Kids")) return false;
  if (!isUntouched(look) && (entry(dict, "Lock") || entry(dict, "SV"))) return false;
  return !isHidden(look, dict);
}

const isHidden = ({ file }: PdfLookup, dict: Dict): boolean =>
  ((asInteger(resolve(file, entry(dict, "F"))) ?? 0) & UNSEEN) !== 0;

/** Flags of fields (ISO 32000-1 tables 221, 226, 228 and 230). */
const READ_ONLY = 1;
const RADIO = 1 << 15;
const PUSH = 1 << 16;
const PASSWORD_FILE_OR_RICH = (1 << 13) | (1 << 20) | (1 << 25);
const MULTI_SELECT = 1 << 21;

/** Names of plain characters, which pages and certificates show as they are, and none that our own fields have. */
const usableName = /^(?!SignSealShip-)[\w .,()[\]#/-]{1,100}$/;
/** The keys that an ancestor of a usable field may have. Others, such as a value, would be inherited by the field. */
const ofAncestors: ReadonlySet<string> = new Set(["T", "TU", "TM", "FT", "Ff", "Kids", "Parent", "Type"]);

/** States whose names can become parts of the options' own names. */
const usableState = /^[A-Za-z0-9_-]{1,40}$/;

type RadioOption = Pick<FormField, "ref" | "dict"> & { readonly state: string };

/**
 * The options of an empty radio that can be given to a signer, in the order of the form; none for any other field. Each
 * option must have a state of its own: otherwise two options are one choice, which readers show in two places.
 */
function radioOptions(look: PdfLookup, field: FormField, all: readonly FormField[]): RadioOption[] {
  const { ref, dict, type, above } = field;
  const flags = flagsOf(look, field);
  const isRadio = type === "Btn" && (flags & RADIO) !== 0 && (flags & (PUSH | READ_ONLY)) === 0;
  const isOdd = ref.gen !== 0 || entry(dict, "Subtype") || (above.length === 0 && entry(dict, "Parent"));
  if (!isRadio || isOdd || inheritsMore(above) || !isEmpty(look, dict)) return [];
  const kids = all.filter((each) => each.above.at(-1) === dict);
  const options = kids.flatMap((kid) => {
    const state = stateOf(look, kid);
    return state === null ? [] : [{ ref: kid.ref, dict: kid.dict, state }];
  });
  const states = new Set(options.map(({ state }) => state));
  return kids.length > 1 && options.length === kids.length && states.size === kids.length ? options : [];
}

/** The state of a radio's option while it is chosen; null for an option that no signer can be given. */
function stateOf(look: PdfLookup, { ref, dict }: FormField): string | null {
  const { file } = look;
  const isNamed = ["T", "Kids", "V", "OC"].some((key) => entry(dict, key));
  if (ref.gen !== 0 || isNamed || isHidden(look, dict)) return null;
  if (asName(resolve(file, entry(dict, "Subtype"))) !== "Widget") return null;
  if ((asName(resolve(file, entry(dict, "AS"))) ?? "Off") !== "Off") return null;
  const appearance = resolve(file, entry(dict, "AP"));
  const normal = appearance && isDict(appearance) && resolve(file, entry(dictIn(appearance), "N"));
  if (!normal || !isDict(normal) || isStream(normal)) return null;
  const [state, ...more] = [...dictIn(normal).entries.keys()].filter((key) => key !== "Off");
  return more.length === 0 ? (state ?? null) : null;
}

const dictIn = ({ bytes, start }: { bytes: Buffer; start: number }): Dict =>
  unambiguous(readDict(bytes, start), "an appearance");

/** The flags of a field, inherited from the nearest ancestor when the field has none. */
const flagsOf = ({ file }: PdfLookup, { dict, above }: Pick<FormField, "dict" | "above">): number =>
  [dict, ...above.toReversed()]
    .map((node) => asInteger(resolve(file, entry(node, "Ff"))))
    .find((value) => value !== undefined) ?? 0;

const inheritsMore = (above: readonly Dict[]): boolean =>
  above.some(({ entries }) => [...entries.keys()].some((key) => !ofAncestors.has(key)));

/** The kind of a field that can be given to a signer; null for any other field. */
function usableKind(look: PdfLookup, { ref, dict, type, above }: FormField): DocumentFieldKind | null {
  const { file } = look;
  // A field with an optional layer may be hidden, and the parent that a top field names is not of the form.
  const isOdd = entry(dict, "OC") || (above.length === 0 && entry(dict, "Parent"));
  const hasActions = entry(dict, "A") || entry(dict, "AA");
  if (ref.gen !== 0 || entry(dict, "Kids") || isHidden(look, dict) || isOdd) return null;
  if (asName(resolve(file, entry(dict, "Subtype"))) !== "Widget") return null;
  if (type === "Sig") return !hasActions && isSignable(look, { ref, dict, type, above }) ? "signature" : null;
  if (inheritsMore(above)) return null;
  const flags = flagsOf(look, { dict, above });
  const has = (flag: number) => (flags & flag) !== 0;
  if (has(READ_ONLY) || !isEmpty(look, dict)) return null;
  if (type === "Tx") return has(PASSWORD_FILE_OR_RICH) ? null : "text";
  if (type === "Btn") return has(RADIO | PUSH) ? null : "checkbox";
  return type === "Ch" && !has(MULTI_SELECT) ? "dropdown" : null;
}

/** Whether a field has no value: none at all, an empty text, or a box that is not checked. */
function isEmpty({ file }: PdfLookup, dict: Dict): boolean {
  const value = resolve(file, entry(dict, "V"));
  if (!value) return !entry(dict, "V");
  if (isString(value)) return textOfBytes(stringBytes(value), "exact")?.trim() === "";
  return asName(value) === "Off";
}

/** The fully qualified name; null when a part is missing or can't be decoded for certain. */
function nameOf(look: PdfLookup, { dict, above }: FormField): string | null {
  const names = [...above, dict].map((node) => partialName(look, node));
  return names.every((name) => name) ? names.join(".") : null;
}

/**
 * The partial name of a field. Null when the name has characters that can't be decoded for certain: the check of acts
 * might decode them differently.
 */
function partialName({ file }: PdfLookup, node: Dict): string | null {
  const value = resolve(file, entry(node, "T"));
  return value && isString(value) ? textOfBytes(stringBytes(value), "exact") : null;
}

/** For each page, the candidates that it lists, from top to bottom. */
function* placesByPage(look: PdfLookup, candidates: ReadonlyMap<number, Candidate>): Generator<Placed[]> {
  const { file, root } = look;
  let number = 0;
  for (const page of pages(file, root.dict)) {
    const annotations = resolve(file, entry(page.dict, "Annots"));
    const here = annotations && isArray(annotations) ? [...elements(annotations)] : [];
    const placed = here.flatMap((annotation): Placed[] => {
      const object = asRef(annotation)?.num ?? -1;
      const candidate = candidates.get(object);
      const rect = candidate && rectangle(file, entry(candidate.dict, "Rect"));
      if (!candidate || !rect || rect[0] >= rect[2] || rect[1] >= rect[3]) return [];
      const { name, kind, radio } = candidate;
      const box = pageBox(file, page);
      const place = shownPlace(box, rect);
      const { width, height } = shownSize(box);
      const isInside =
        place.x >= 0 && place.y >= 0 && place.x + place.width <= width && place.y + place.height <= height;
      return [{ object, name, kind, page: number, place, isInside, ...(radio && { radio }) }];
    });
    yield placed.sort((a, b) => a.place.y - b.place.y || a.place.x - b.place.x);
    number++;
  }
}
