import { type FormField, formFields } from "../../../../kernel/pdf/form-fields.ts";
import { resolve } from "../../../../kernel/pdf/objects.ts";
import { pages } from "../../../../kernel/pdf/page-tree.ts";
import { type Place, pageBox, rectangle, shownPlace, shownSize } from "../../../../kernel/pdf/pages/page-box.ts";
import { PdfRefusal } from "../../../../kernel/pdf/refusal.ts";
import { asRef, type Dict, elements, entry, isArray, isDict } from "../../../../kernel/pdf/values.ts";
import type { PdfLookup } from "../../../../kernel/pdf/xref/lookup.ts";
import {
  type DocumentFieldKind,
  dictIn,
  isSignable,
  isUntouched,
  nameOf,
  radioOptions,
  usableKind,
  usableName,
  usableState,
} from "./usable-kinds.ts";

/** A radio of the document; `options` is the number of its options. */
type DocumentRadio = { readonly object: number; readonly name: string; readonly options: number };

/** An empty field that the document already has, at the place where readers show it. */
export type DocumentField = {
  readonly object: number;
  /** The fully qualified name. */
  readonly name: string;
  readonly kind: DocumentFieldKind;
  /** The number of the page, counted from 0. */
  readonly page: number;
  readonly place: Place;
  /**
   * Set for an option of a radio: that radio. The option's `name` is the radio's name, a period and the name of the
   * option's state. If any of the radio's states has an unusable name, all options have their numbers in that place
   * (`o1`).
   */
  readonly radio?: DocumentRadio;
};

/** A field at its place. `isInside`: the field is completely inside its page. */
type FieldOnPage = DocumentField & { readonly isInside: boolean };

type Candidate = Pick<DocumentField, "name" | "kind" | "radio"> & { readonly dict: Dict };

/**
 * A document's empty signature fields that a signer can sign, page by page from top to bottom. Each must be a field and
 * its widget in one object, and visible on a page. Some fields are left out:
 *
 * - fields with an incomplete or ambiguous name, because acts are checked by name;
 * - in a signed or certified document, fields that already have a lock, because it can't be changed any more, and
 *   fields with requirements (a seed value) for their signature;
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
    const firstSeen = here.filter(({ object }) => candidates.has(object));
    for (const { object } of firstSeen) candidates.delete(object);
    found.push(...firstSeen.map(({ isInside: _, ...field }) => field));
    if (candidates.size === 0) break;
  }
  return found;
}

/**
 * The empty fields that can be assigned to a signer, each with its own widget, visible on one page. Each must have a
 * unique object, name and place. So every PDF reader finds it exactly once and under the same name. Empty for a
 * document that is encrypted, signed or certified, or whose form is ambiguous or has an XFA part.
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
      // A radio is left out if another field has the name of one of its options. That field could be mistaken for the
      // option.
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

/**
 * Removes radios that an annotation names as its parent, although the radio doesn't list this annotation in /Kids.
 * Readers differ on whether such an annotation is an option of the radio.
 */
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
 * Leaves out fields that two pages list, because their value would also appear in a place that the sender didn't
 * choose. Also leaves out fields that are not completely inside their page.
 */
function shownOnce(fields: readonly FieldOnPage[]): DocumentField[] {
  const times = new Map<number, number>();
  for (const { object } of fields) times.set(object, (times.get(object) ?? 0) + 1);
  return fields.flatMap(({ isInside, ...field }) => (isInside && times.get(field.object) === 1 ? [field] : []));
}

/**
 * True if the form lists each of its fields exactly once, as an indirect object, so that every reader finds the same
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

/** Yields, for each page, those candidate fields that the page lists, from top to bottom. */
function* placesByPage(look: PdfLookup, candidates: ReadonlyMap<number, Candidate>): Generator<FieldOnPage[]> {
  const { file, root } = look;
  let number = 0;
  for (const page of pages(file, root.dict)) {
    const annotations = resolve(file, entry(page.dict, "Annots"));
    const here = annotations && isArray(annotations) ? [...elements(annotations)] : [];
    const fields = here.flatMap((annotation): FieldOnPage[] => {
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
    yield fields.sort((a, b) => a.place.y - b.place.y || a.place.x - b.place.x);
    number++;
  }
}
