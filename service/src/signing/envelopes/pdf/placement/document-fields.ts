import { formFields } from "../../../../kernel/pdf/form-fields.ts";
import { resolve } from "../../../../kernel/pdf/objects.ts";
import { type Place, pageBox, rectangle, shownPlace } from "../../../../kernel/pdf/pages/page-box.ts";
import { pages } from "../../../../kernel/pdf/pages/page-tree.ts";
import { stringBytes, textOfBytes } from "../../../../kernel/pdf/strings.ts";
import {
  asInteger,
  asName,
  asRef,
  type Dict,
  elements,
  entry,
  isArray,
  isString,
} from "../../../../kernel/pdf/values.ts";
import type { PdfLookup } from "../../../../kernel/pdf/xref/lookup.ts";

/** The kind of one of the document's own fields. A box is a checkbox, and a list is a dropdown. */
export type DocumentFieldKind = "signature" | "text" | "checkbox" | "dropdown";

/** An empty field that the document already has, at the place where readers show it. */
export type DocumentField = {
  readonly object: number;
  /** The fully qualified name. */
  readonly name: string;
  readonly kind: DocumentFieldKind;
  /** The number of the page, counted from 0. */
  readonly page: number;
  readonly place: Place;
};

/** Flags of widgets that readers do not show (ISO 32000-1 table 165): invisible, hidden and no-view. */
const UNSEEN = 1 | 2 | 32;

/**
 * The empty fields of a document that the order's signers can fill in and sign, page by page from top to bottom. Each
 * must be its own widget and visible on a page. Some fields are left out:
 *
 * - fields with an incomplete or ambiguous name, because acts are checked by name;
 * - in a signed or certified document, all fields but signatures, which alone may still be changed;
 * - there also signature fields that name a lock of their own, and those that require a certain signature;
 * - in an encrypted document all fields, because their names are encrypted.
 *
 * @throws PdfRefusal
 */
export function documentFields(look: PdfLookup): DocumentField[] {
  const { file, acroForm } = look;
  if (!acroForm || file.encryption) return [];
  const candidates = new Map<number, Candidate>();
  const ofName = new Map<string, number>();
  for (const { ref, dict, type, above } of formFields(file, acroForm.dict)) {
    const names = [...above, dict].map((node) => partialName(look, node));
    const name = names.join(".");
    ofName.set(name, (ofName.get(name) ?? 0) + 1);
    if (ref.gen !== 0 || entry(dict, "Kids") || !names.every((each) => each)) continue;
    if ((asInteger(resolve(file, entry(dict, "F"))) ?? 0) & UNSEEN) continue;
    const kind = type === "Sig" ? signatureKind(look, dict) : fillableKind(look, { dict, type, above, name });
    if (kind) candidates.set(ref.num, { name, kind, dict });
  }
  for (const [object, { name }] of candidates) if ((ofName.get(name) ?? 0) > 1) candidates.delete(object);
  return candidates.size === 0 ? [] : onPages(look, candidates);
}

type Candidate = Pick<DocumentField, "name" | "kind"> & { readonly dict: Dict };

const isUntouched = ({ signatures, docMdp }: PdfLookup): boolean => signatures === 0 && docMdp === null;

function signatureKind(look: PdfLookup, dict: Dict): "signature" | null {
  if (entry(dict, "V")) return null;
  return isUntouched(look) || !(entry(dict, "Lock") || entry(dict, "SV")) ? "signature" : null;
}

/** Flags of fields (ISO 32000-1 tables 221, 226, 228 and 230). */
const READ_ONLY = 1;
const RADIO_OR_PUSH = (1 << 15) | (1 << 16);
const PASSWORD_FILE_OR_RICH = (1 << 13) | (1 << 20) | (1 << 25);
const MULTI_SELECT = 1 << 21;

/** Pages of the service use these names in ids and addresses. Names of other characters could be taken for others. */
const usableName = /^[\w .,()[\]#/-]{1,100}$/;
/** The keys that an ancestor of a usable field may have. Others, such as a value, would be inherited by the field. */
const ofAncestors: ReadonlySet<string> = new Set(["T", "TU", "TM", "FT", "Ff", "Kids", "Parent", "Type"]);

type Fillable = {
  readonly dict: Dict;
  readonly type: string | undefined;
  readonly above: readonly Dict[];
  readonly name: string;
};

/** The kind of a field other than a signature; null for a field that can't be given to a signer. */
function fillableKind(look: PdfLookup, { dict, type, above, name }: Fillable): DocumentFieldKind | null {
  const { file, acroForm } = look;
  if (!isUntouched(look) || (acroForm && entry(acroForm.dict, "XFA")) || !usableName.test(name)) return null;
  if (above.some(({ entries }) => [...entries.keys()].some((key) => !ofAncestors.has(key)))) return null;
  const flags = [dict, ...above.toReversed()]
    .map((node) => asInteger(resolve(file, entry(node, "Ff"))))
    .find((value) => value !== undefined);
  const has = (flag: number) => ((flags ?? 0) & flag) !== 0;
  if (has(READ_ONLY) || !isEmpty(look, dict)) return null;
  if (type === "Tx") return has(PASSWORD_FILE_OR_RICH) ? null : "text";
  if (type === "Btn") return has(RADIO_OR_PUSH) ? null : "checkbox";
  return type === "Ch" && !has(MULTI_SELECT) ? "dropdown" : null;
}

/** Whether a field has no value: none at all, an empty text, or a box that is not checked. */
function isEmpty({ file }: PdfLookup, dict: Dict): boolean {
  const value = resolve(file, entry(dict, "V"));
  if (!value) return !entry(dict, "V");
  if (isString(value)) return textOfBytes(stringBytes(value), "exact")?.trim() === "";
  return asName(value) === "Off";
}

/**
 * The partial name of a field. Null when the name has characters that can't be decoded for certain: the check of acts
 * might decode them differently.
 */
function partialName({ file }: PdfLookup, node: Dict): string | null {
  const value = resolve(file, entry(node, "T"));
  return value && isString(value) ? textOfBytes(stringBytes(value), "exact") : null;
}

/** Finds the place of each field. Leaves out a field that pages show at two places: its signer would be asked at one. */
function onPages(look: PdfLookup, candidates: ReadonlyMap<number, Candidate>): DocumentField[] {
  const { file, root } = look;
  const found: DocumentField[] = [];
  const listed = new Map<number, number>();
  let number = 0;
  for (const page of pages(file, root.dict)) {
    const annotations = resolve(file, entry(page.dict, "Annots"));
    const here = annotations && isArray(annotations) ? [...elements(annotations)] : [];
    const placed = here.flatMap((annotation): DocumentField[] => {
      const object = asRef(annotation)?.num ?? -1;
      const candidate = candidates.get(object);
      listed.set(object, (listed.get(object) ?? 0) + 1);
      const rect = candidate && rectangle(file, entry(candidate.dict, "Rect"));
      if (!candidate || !rect || rect[0] >= rect[2] || rect[1] >= rect[3]) return [];
      const { name, kind } = candidate;
      return [{ object, name, kind, page: number, place: shownPlace(pageBox(file, page), rect) }];
    });
    found.push(...placed.sort((a, b) => a.place.y - b.place.y || a.place.x - b.place.x));
    number++;
  }
  return found.filter(({ object }) => listed.get(object) === 1);
}
