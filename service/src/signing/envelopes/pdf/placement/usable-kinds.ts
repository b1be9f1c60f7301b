/** Decides which of a document's own fields can be assigned to a signer, and as which kind of field. */
import type { FormField } from "../../../../kernel/pdf/form-fields.ts";
import { resolve } from "../../../../kernel/pdf/objects.ts";
import { isStream } from "../../../../kernel/pdf/revision/new-object.ts";
import { stringBytes, textOfBytes } from "../../../../kernel/pdf/strings.ts";
import {
  asInteger,
  asName,
  type Dict,
  entry,
  isDict,
  isString,
  readDict,
  unambiguous,
} from "../../../../kernel/pdf/values.ts";
import type { PdfLookup } from "../../../../kernel/pdf/xref/lookup.ts";

/**
 * The kind of one of the document's own fields, in the terms of an order. A PDF choice field is a `dropdown`, and
 * `radio` is one option of a radio.
 */
export type DocumentFieldKind = "signature" | "text" | "checkbox" | "dropdown" | "radio";

/** Flags of widgets that readers do not show (ISO 32000-1 table 165): invisible, hidden and no-view. */
const UNSEEN = 1 | 2 | 32;

export const isUntouched = ({ signatures, docMdp }: PdfLookup): boolean => signatures === 0 && docMdp === null;

export function isSignable(look: PdfLookup, { ref, dict, type }: FormField): boolean {
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

/**
 * Allows names of plain characters, which pages and certificates can show. Rejects the prefix of the fields that this
 * service adds.
 */
export const usableName = /^(?!SignSealShip-)[\w .,()[\]#/-]{1,100}$/;
/** The keys that an ancestor of a usable field may have. The field would inherit any other key, such as a value. */
const ofAncestors: ReadonlySet<string> = new Set(["T", "TU", "TM", "FT", "Ff", "Kids", "Parent", "Type"]);

/** Matches the names of appearance states that can become part of the field name of a radio's option. */
export const usableState = /^[A-Za-z0-9_-]{1,40}$/;

type RadioOption = Pick<FormField, "ref" | "dict"> & { readonly state: string };

/**
 * For an empty radio that can be assigned to a signer: its options, in the order of the form. Empty for any other
 * field. Each option must have its own appearance state: readers show two options with one state as a single choice in
 * two places.
 */
export function radioOptions(look: PdfLookup, field: FormField, all: readonly FormField[]): RadioOption[] {
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

/**
 * The name of the appearance state that shows a radio's option as chosen. Null for an option that can't be assigned to
 * a signer.
 */
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

export const dictIn = ({ bytes, start }: { bytes: Buffer; start: number }): Dict =>
  unambiguous(readDict(bytes, start), "an appearance");

/** The flags of a field, inherited from the nearest ancestor when the field has none. */
const flagsOf = ({ file }: PdfLookup, { dict, above }: Pick<FormField, "dict" | "above">): number =>
  [dict, ...above.toReversed()]
    .map((node) => asInteger(resolve(file, entry(node, "Ff"))))
    .find((value) => value !== undefined) ?? 0;

const inheritsMore = (above: readonly Dict[]): boolean =>
  above.some(({ entries }) => [...entries.keys()].some((key) => !ofAncestors.has(key)));

/** The kind of a field that can be assigned to a signer; null for any other field. */
export function usableKind(look: PdfLookup, { ref, dict, type, above }: FormField): DocumentFieldKind | null {
  const { file } = look;
  // A field in an optional layer may be hidden. A top-level field with a parent is malformed, because the form doesn't
  // list that parent.
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

/** True if a field has no value: no entry, an empty text, or an unchecked box. */
function isEmpty({ file }: PdfLookup, dict: Dict): boolean {
  const value = resolve(file, entry(dict, "V"));
  if (!value) return !entry(dict, "V");
  if (isString(value)) return textOfBytes(stringBytes(value), "exact")?.trim() === "";
  return asName(value) === "Off";
}

/** The fully qualified name; null when a part is missing or can't be decoded unambiguously. */
export function nameOf(look: PdfLookup, { dict, above }: FormField): string | null {
  const names = [...above, dict].map((node) => partialName(look, node));
  return names.every((name) => name) ? names.join(".") : null;
}

/**
 * The partial name of a field; null when the field has none. Also null for a name that can't be decoded unambiguously,
 * because the verifier of acts might decode it differently.
 */
export function partialName({ file }: PdfLookup, node: Dict): string | null {
  const value = resolve(file, entry(node, "T"));
  return value && isString(value) ? textOfBytes(stringBytes(value), "exact") : null;
}
