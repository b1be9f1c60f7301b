import type { PdfFile } from "./file.ts";
import { formFields } from "./form-fields.ts";
import type { Span } from "./lexer.ts";
import { LIMITS } from "./limits.ts";
import { resolve, resolveDict } from "./objects.ts";
import { PdfRefusal } from "./refusal.ts";
import { asInteger, asName, type Dict, elements, entry, isArray, isDict, readDict, unambiguous } from "./values.ts";

type Allowed = 2 | 3 | null;

/**
 * The changes that the document's certification still allows (P in ISO 32000-2 12.8.2.2): 2 allows forms and
 * signatures, 3 also allows annotations. Null without a certification, or if it restricts nothing.
 * @throws PdfRefusal `docmdp_forbids_changes` for 1, which allows no changes, and for a malformed certification
 */
export function certification(file: PdfFile, catalog: Dict): Allowed {
  const permissions = resolveDict(file, entry(catalog, "Perms"), "Perms");
  if (permissions) unambiguous(permissions.dict, "Perms");
  const signature = permissions && resolveDict(file, entry(permissions.dict, "DocMDP"), "the certifying signature");
  if (signature) unambiguous(signature.dict, "the certifying signature");
  return signature ? statedIn(file, signature.dict) : null;
}

/**
 * The number of signed fields of a form, and the changes that the strictest of their signatures still allows. A
 * signature's transform parameters and the lock of its field (ISO 32000-2 12.7.5.5) state these changes. They apply
 * even when the catalog no longer refers to the signature.
 * @throws PdfRefusal `docmdp_forbids_changes` when a signature locked the document (P 1), and for a malformed Reference
 * or lock
 */
export function signaturesIn(file: PdfFile, acroForm: Dict): { count: number; allows: Allowed } {
  let count = 0;
  let allows: Allowed = null;
  for (const { dict, type } of formFields(file, acroForm)) {
    if (!entry(dict, "V")) continue;
    const value = resolve(file, entry(dict, "V"));
    const signature = value && isDict(value) ? readDict(value.bytes, value.start) : null;
    // A signature counts even in a field that is not a signature field, because some readers don't check the field's
    // type.
    if (type !== "Sig" && !signature?.entries.has("ByteRange")) continue;
    count++;
    if (signature) allows = stricter(allows, statedIn(file, unambiguous(signature, "a signature")));
    const lock = entry(dict, "Lock");
    if (lock) allows = stricter(allows, lockIn(file, lock, "the lock of a signature field"));
  }
  return { count, allows };
}

const stricter = (one: Allowed, other: Allowed): Allowed => (one === 2 || other === 2 ? 2 : (one ?? other));

/**
 * The changes that the Reference array of a signature allows. A certification states them in DocMDP, a lock in FieldMDP
 * with /P.
 */
function statedIn(file: PdfFile, signature: Dict): Allowed {
  const stated = entry(signature, "Reference");
  if (!stated) return null;
  const references = resolve(file, stated);
  if (!references || !isArray(references)) throw forbids(signature, "its Reference is not an array");
  let allows: Allowed = null;
  let count = 0;
  for (const element of elements(references)) {
    if (++count > LIMITS.nesting) throw new PdfRefusal("too_complex", "a signature with too many references");
    const value = resolve(file, element);
    if (!value || !isDict(value)) throw forbids(signature, "a reference is not a dictionary");
    const reference = unambiguous(readDict(value.bytes, value.start), "a signature reference");
    const method = asName(entry(reference, "TransformMethod"));
    if (method === undefined) throw forbids(signature, "a reference has no TransformMethod");
    const parameters = entry(reference, "TransformParams");
    if (method === "DocMDP")
      allows = stricter(allows, parameters ? (lockIn(file, parameters, "TransformParams") ?? 2) : 2);
    if (method !== "FieldMDP") continue;
    if (!parameters) throw forbids(signature, "a lock has no TransformParams");
    allows = stricter(allows, lockIn(file, parameters, "TransformParams"));
  }
  return allows;
}

/**
 * The /P of a lock or of transform parameters; null without /P. The standard allows /P to be an indirect reference, but
 * some readers don't follow it. So a reference is refused like /P 1.
 * @throws PdfRefusal `docmdp_forbids_changes`
 */
function lockIn(file: PdfFile, value: Span, what: string): Allowed {
  const found = resolve(file, value);
  if (!found || !isDict(found))
    throw new PdfRefusal("docmdp_forbids_changes", `${what} at ${value.start} is not a dictionary`);
  const dict = unambiguous(readDict(found.bytes, found.start), what);
  const stated = dict.entries.get("P");
  if (!stated) return null;
  const level = asInteger(stated);
  if (level === 2 || level === 3) return level;
  throw forbids(dict, level === 1 ? "it has P 1" : "its P is not one of 1, 2 and 3");
}

const forbids = ({ start }: Dict, why: string): PdfRefusal =>
  new PdfRefusal("docmdp_forbids_changes", `the certification or lock at ${start} permits nothing: ${why}`);
