import { sealFieldName } from "@signsealship/certificate/pdf-file";
import { byteString, dateString, textString, withElements, withEntries } from "../../../kernel/pdf/edit.ts";
import { formFields } from "../../../kernel/pdf/form-fields.ts";
import type { Ref, Span } from "../../../kernel/pdf/lexer.ts";
import { drawnBy, fieldLock, fieldLockReference, namedFields } from "../../../kernel/pdf/named-fields.ts";
import { resolve } from "../../../kernel/pdf/objects.ts";
import { PdfRefusal } from "../../../kernel/pdf/refusal.ts";
import { missingSigFlags, SIG_FLAGS } from "../../../kernel/pdf/revision/form.ts";
import { type NewObject, refuseStream } from "../../../kernel/pdf/revision/new-object.ts";
import { stringBytes } from "../../../kernel/pdf/strings.ts";
import { asRef, type Dict, entry, isArray, isString } from "../../../kernel/pdf/values.ts";
import type { PdfLookup } from "../../../kernel/pdf/xref/lookup.ts";

/** The entries of the signature dictionary, except the signature itself. */
export type SealDescription = {
  /** The instant of signing as claimed by the sealer; UTC, whole seconds. */
  readonly at: Date;
  /** The length of the CMS placeholder in bytes. */
  readonly reserve: number;
  /**
   * The number of random spaces after the numbers of /ByteRange. They make the length of the appended revision
   * unpredictable.
   */
  readonly padding?: number;
  readonly name?: string;
  readonly reason?: string;
  /** True if the service made the document itself. If such a document has a field for the seal, that field is used. */
  readonly isOwn?: boolean;
  /** The newest checkpoint of the transparency log. It shows which history of the log the sealer accepted. */
  readonly checkpoint?: string;
  /** The lock that the seal sets; none by default. */
  readonly locks?: SealLock;
};

/**
 * `fields`: the values of the fields that `lockParts` names can't change any more. `document`: in addition, no visible
 * signature can be added. Further seals are always allowed.
 */
export type SealLock = "fields" | "document";

/**
 * The lock's text for the seal's field, and its text for the signature dictionary. Both are empty for a seal without a
 * lock.
 */
export type LockParts = { readonly field: string; readonly reference: string };

/**
 * The most characters in all field names of one lock. A seal contains the names twice, and the size of the appended
 * revision is limited. If the names are longer in total, the lock leaves out all of them.
 */
const maxNamed = 64 * 1024;

/**
 * The lock of a seal, with the names of the fields that it locks. Leaves out a field with an appearance that no state
 * (AS) selects. PyHanko would report such a field as changed after any later revision. A lock of the `fields` kind also
 * leaves out unsigned signature fields.
 * @throws PdfRefusal
 */
export function lockParts(look: PdfLookup, locks: SealLock | undefined): LockParts {
  if (!locks) return { field: "", reference: "" };
  const names = namedFields(look).flatMap(({ name, type, dict, widgets }) => {
    const mayLock =
      type === "Sig"
        ? locks === "document" || entry(dict, "V")
        : widgets.every((widget) => ["nothing", "stated"].includes(drawnBy(look.file, widget)));
    return mayLock && name !== null && name !== sealFieldName ? [name] : [];
  });
  const all = names.reduce((sum, { length }) => sum + length, 0) > maxNamed ? [] : names;
  if (all.length === 0 && locks === "fields") return { field: "", reference: "" };
  return {
    field: fieldLock(all, locks === "document" ? 2 : null),
    reference: all.length === 0 ? "" : fieldLockReference(all, look),
  };
}

/**
 * The field that the document reserves for the seal, with the seal in it. Null without such a field. Only a document
 * that the service made may have one.
 */
export function filledField(look: PdfLookup, signature: Ref, lock: LockParts): NewObject | null {
  if (!look.acroForm) return null;
  for (const { ref, dict } of formFields(look.file, look.acroForm.dict)) {
    const name = resolve(look.file, entry(dict, "T"));
    if (!name || !isString(name) || stringBytes(name).toString("latin1") !== sealFieldName || entry(dict, "V"))
      continue;
    const entries = { V: `${signature.num} ${signature.gen} R`, ...(lock.field !== "" && { Lock: lock.field }) };
    return { ref, body: withEntries(dict, entries), clear: false };
  }
  return null;
}

/**
 * The dictionary of the signature field, merged with its widget annotation: invisible, printable, locked, and on the
 * first page.
 */
export function fieldObject(
  look: PdfLookup,
  field: Ref,
  signature: Ref,
  docSha256: string,
  lock: LockParts,
): NewObject {
  const { num, gen } = look.firstPage.ref;
  // The field's name contains the SHA-256 of the document without the seal, so no field of that document can have the
  // same name.
  const name = `SignSealShip-Seal-${docSha256.slice(0, 32)}`;
  const body =
    `<</Type/Annot/Subtype/Widget/FT/Sig/T(${name})/F 132/Rect[0 0 0 0]` +
    `/P ${num} ${gen} R/V ${signature.num} ${signature.gen} R${lock.field && `/Lock ${lock.field}`}>>`;
  return { ref: field, body, clear: true };
}

/** The signature dictionary in two parts: up to the `<` of Contents, and after the ByteRange. */
export function signatureParts(description: SealDescription, originalLength: number, lock: LockParts) {
  const name = description.name === undefined ? "" : `/Name${textString(description.name)}`;
  const reason = description.reason === undefined ? "" : `/Reason${textString(description.reason)}`;
  const { checkpoint } = description;
  const carried = checkpoint === undefined ? "" : `/SSSLogCheckpoint${byteString(Buffer.from(checkpoint))}`;
  const head =
    `<</Type/Sig/Filter/Adobe.PPKLite/SubFilter/ETSI.CAdES.detached/M${dateString(description.at)}` +
    `${name}${reason}${lock.reference}${carried}/SSSOriginalLength ${originalLength}/Contents `;
  return { head, end: ">>" };
}

/**
 * New versions of the objects that refer to the field: the page or its Annots, the form or its Fields, and the catalog.
 * @throws PdfRefusal `needs_repair`
 */
export function changedObjects(look: PdfLookup, field: Ref): NewObject[] {
  const changed = new Map<number, NewObject>();
  const change: Change = (ref, body, old) => {
    const other = changed.get(ref.num);
    // One array may be both the page's Annots and the form's Fields. It is then changed only once. If an object would
    // have to change in two different ways, the document is refused.
    if (other && other.body !== body) throw new PdfRefusal("needs_repair", `object ${ref.num} is two things at once`);
    refuseStream(old, ref);
    changed.set(ref.num, { ref, body, clear: old.bytes !== look.file.bytes });
  };
  const { ref, dict } = look.firstPage;
  const annots = added(look, dict, "Annots", field, change);
  if (annots) change(ref, withEntries(dict, { Annots: annots }), dict);
  changeForm(look, field, change);
  return [...changed.values()];
}

/** Records the new version of an object, given the old one. */
type Change = (ref: Ref, body: string, old: Span) => void;

function changeForm(look: PdfLookup, field: Ref, change: Change): void {
  const { root, acroForm } = look;
  if (!acroForm) {
    const form = `<</Fields[${field.num} ${field.gen} R]/SigFlags ${SIG_FLAGS}>>`;
    change(root.ref, withEntries(root.dict, { AcroForm: form }), root.dict);
    return;
  }
  const fields = added(look, acroForm.dict, "Fields", field, change);
  const changes = { ...(fields && { Fields: fields }), ...missingSigFlags(look, acroForm.dict) };
  if (Object.keys(changes).length === 0) return;
  const form = withEntries(acroForm.dict, changes);
  if (acroForm.ref) change(acroForm.ref, form, acroForm.dict);
  else change(root.ref, withEntries(root.dict, { AcroForm: form }), root.dict);
}

/**
 * Adds the field to an array in a dictionary. Returns the entry's new value. If the array is a separate object, changes
 * that object and returns null.
 */
function added(look: PdfLookup, dict: Dict, key: string, field: Ref, change: Change): string | null {
  const value = entry(dict, key);
  const array = resolve(look.file, value);
  if (!array) return `[${field.num} ${field.gen} R]`;
  if (!isArray(array))
    throw new PdfRefusal("needs_repair", `/${key} of the dictionary at ${dict.start} is not an array`);
  const ref = asRef(value);
  if (!ref) return withElements(array, [`${field.num} ${field.gen} R`]);
  change(ref, withElements(array, [`${field.num} ${field.gen} R`]), array);
  return null;
}
