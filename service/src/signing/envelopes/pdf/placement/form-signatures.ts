import { formFields } from "../../../../kernel/pdf/form-fields.ts";
import { resolve } from "../../../../kernel/pdf/objects.ts";
import { type Place, pageBox, rectangle, shownPlace } from "../../../../kernel/pdf/pages/page-box.ts";
import { pages } from "../../../../kernel/pdf/pages/page-tree.ts";
import { stringBytes, textOfBytes } from "../../../../kernel/pdf/strings.ts";
import { asInteger, asRef, type Dict, elements, entry, isArray, isString } from "../../../../kernel/pdf/values.ts";
import type { PdfLookup } from "../../../../kernel/pdf/xref/lookup.ts";

/** An empty signature field of a document, at the place where readers show it. */
export type FormSignature = {
  readonly object: number;
  /** The fully qualified name. */
  readonly name: string;
  /** The number of the page, counted from 0. */
  readonly page: number;
  readonly place: Place;
};

/** Flags of widgets that readers do not show (ISO 32000-1 table 165): invisible, hidden and no-view. */
const UNSEEN = 1 | 2 | 32;

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
export function formSignatures(look: PdfLookup): FormSignature[] {
  const { file, acroForm } = look;
  if (!acroForm || file.encryption) return [];
  const untouched = look.signatures === 0 && look.docMdp === null;
  const candidates = new Map<number, { name: string; dict: Dict }>();
  for (const { ref, dict, type, above } of formFields(file, acroForm.dict)) {
    if (type !== "Sig" || ref.gen !== 0 || entry(dict, "V") || entry(dict, "Kids")) continue;
    if (!untouched && (entry(dict, "Lock") || entry(dict, "SV"))) continue;
    if ((asInteger(resolve(file, entry(dict, "F"))) ?? 0) & UNSEEN) continue;
    const names = [...above, dict].map((node) => partialName(look, node));
    if (names.every((name) => name)) candidates.set(ref.num, { name: names.join("."), dict });
  }
  return candidates.size === 0 ? [] : onPages(look, candidates);
}

/**
 * The partial name of a field. Null when the name has characters that can't be decoded for certain: the check of acts
 * might decode them differently.
 */
function partialName({ file }: PdfLookup, node: Dict): string | null {
  const value = resolve(file, entry(node, "T"));
  return value && isString(value) ? textOfBytes(stringBytes(value), "exact") : null;
}

function onPages(look: PdfLookup, candidates: Map<number, { name: string; dict: Dict }>): FormSignature[] {
  const { file, root } = look;
  const found: FormSignature[] = [];
  let number = 0;
  for (const page of pages(file, root.dict)) {
    const annotations = resolve(file, entry(page.dict, "Annots"));
    const here = annotations && isArray(annotations) ? [...elements(annotations)] : [];
    const placed = here.flatMap((annotation): FormSignature[] => {
      const object = asRef(annotation)?.num ?? -1;
      const candidate = candidates.get(object);
      const rect = candidate && rectangle(file, entry(candidate.dict, "Rect"));
      if (!candidate || !rect || rect[0] >= rect[2] || rect[1] >= rect[3]) return [];
      candidates.delete(object);
      return [{ object, name: candidate.name, page: number, place: shownPlace(pageBox(file, page), rect) }];
    });
    found.push(...placed.sort((a, b) => a.place.y - b.place.y || a.place.x - b.place.x));
    if (candidates.size === 0) break;
    number++;
  }
  return found;
}
