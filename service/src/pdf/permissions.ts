import type { PdfFile } from "./file.ts";
import { formFields } from "./form-fields.ts";
import type { Span } from "./lexer.ts";
import { LIMITS } from "./limits.ts";
import { resolve, resolveDict } from "./objects.ts";
import { PdfRefusal } from "./refusal.ts";
import { asInteger, asName, type Dict, elements, entry, isArray, isDict, readDict, unambiguous } from "./values.ts";

/**
 * What the certification of a document (ISO 32000-1 12.8.2.2) still allows: 2 forms and signatures, 3 annotations
 * too; null when the document is not certified.
 * @throws PdfRefusal `docmdp_forbids_changes` for P 1
 */
export function certification(file: PdfFile, catalog: Dict): 2 | 3 | null {
  const permissions = resolveDict(file, entry(catalog, "Perms"), "Perms");
  const signature = permissions && resolveDict(file, entry(permissions.dict, "DocMDP"), "the certifying signature");
  const references = signature && resolve(file, entry(signature.dict, "Reference"));
  if (permissions) unambiguous(permissions.dict, "Perms");
  if (signature) unambiguous(signature.dict, "the certifying signature");
  if (!references) return null;
  if (!isArray(references))
    throw new PdfRefusal("needs_repair", `the Reference of the signature at ${signature?.dict.start} is not an array`);
  let allowed: 2 | 3 | null = null;
  let count = 0;
  for (const element of elements(references)) {
    if (++count > LIMITS.nesting) throw new PdfRefusal("too_complex", "a signature with too many references");
    const reference = resolveDict(file, element, "a signature reference");
    if (reference) unambiguous(reference.dict, "a signature reference");
    if (!reference || asName(resolve(file, entry(reference.dict, "TransformMethod"))) !== "DocMDP") continue;
    const parameters = resolveDict(file, entry(reference.dict, "TransformParams"), "TransformParams");
    if (parameters) unambiguous(parameters.dict, "TransformParams");
    const p = parameters && asInteger(resolve(file, entry(parameters.dict, "P")));
    if (p === 1)
      throw new PdfRefusal("docmdp_forbids_changes", `the certification at ${parameters?.dict.start} has P 1`);
    allowed = p === 3 && allowed !== 2 ? 3 : 2;
  }
  return allowed;
}

/**
 * Counts the signed signature fields of a form, and finds what the strictest of their locks still allows (ISO 32000-2 12.7.5.5).
 * @throws PdfRefusal `docmdp_forbids_changes` when one of them locked the document (P 1)
 */
export function signaturesIn(file: PdfFile, acroForm: Dict): { count: number; allows: 2 | 3 | null } {
  let signatures = 0;
  let allows: 2 | 3 | null = null;
  for (const { dict, type } of formFields(file, acroForm)) {
    if (type !== "Sig" || !entry(dict, "V")) continue;
    signatures++;
    refuseAmbiguous(file, entry(dict, "V"));
    const allowed = lockOf(file, dict);
    if (allowed !== null) allows = allows === 2 ? 2 : allowed;
  }
  return { count: signatures, allows };
}

function refuseAmbiguous(file: PdfFile, signature: Span | undefined): void {
  const value = resolve(file, signature);
  if (value && isDict(value)) unambiguous(readDict(value.bytes, value.start), "a signature");
}

function lockOf(file: PdfFile, field: Dict): 2 | 3 | null {
  const lock = resolveDict(file, entry(field, "Lock"), "the lock of a signature field");
  const allowed = lock && asInteger(resolve(file, entry(lock.dict, "P")));
  if (allowed === 1) {
    throw new PdfRefusal("docmdp_forbids_changes", `the signature field at ${field.start} locked the document`);
  }
  return allowed === 2 || allowed === 3 ? allowed : null;
}
