import { textString } from "../../../kernel/pdf/edit.ts";
import type { Ref } from "../../../kernel/pdf/lexer.ts";
import { resolveDict } from "../../../kernel/pdf/objects.ts";
import { PdfRefusal } from "../../../kernel/pdf/refusal.ts";
import { type Dict, entry } from "../../../kernel/pdf/values.ts";
import type { PdfLookup } from "../../../kernel/pdf/xref/lookup.ts";
import type { ExistingField, PreparedField } from "./fields.ts";
import { LOCKED, PRINT, rectangleOf, titleOf, turnOf, valueEntries } from "./values.ts";

/** A field that the uploaded document already has. The preparation either changes it or leaves it unchanged. */
export type OwnField =
  | {
      readonly kind: "changed";
      readonly ref: Ref;
      readonly dict: Dict;
      /** The document's own radio, of which the field is an option. */
      readonly radio?: { readonly ref: Ref; readonly dict: Dict };
    }
  | { readonly kind: "kept" };

type Changed = {
  readonly prepared: PreparedField;
  readonly page: { readonly ref: Ref };
  readonly rect: readonly number[];
  readonly label: string;
};

/** Builds the PDF entry that locks a signer's fields once the signer has signed. */
export type LockOf = (signer: number) => string;

/**
 * Decides whether the preparation may change one of the document's own empty fields. In a signed or certified document,
 * readers allow such a field to be filled in, but not changed.
 */
export function ofDocument(look: PdfLookup, { object, radio }: ExistingField): OwnField {
  if (look.signatures > 0 || look.docMdp !== null) return { kind: "kept" };
  const field = { kind: "changed", ref: { num: object, gen: 0 }, dict: dictOf(look, object) } as const;
  return radio ? { ...field, radio: { ref: { num: radio.object, gen: 0 }, dict: dictOf(look, radio.object) } } : field;
}

function dictOf(look: PdfLookup, object: number): Dict {
  const bytes = Buffer.from(`${object} 0 R`);
  const found = resolveDict(look.file, { bytes, start: 0, end: bytes.length }, "a form field");
  if (!found) throw new PdfRefusal("needs_repair", `the form field ${object} is missing`);
  return found.dict;
}

/**
 * The entries that the preparation keeps in one of the document's own fields: its annotation type, its names, and its
 * links to its parent and to the structure tree.
 */
const preservedEntries: ReadonlySet<string> = new Set(["Type", "Subtype", "T", "TM", "Parent", "NM", "StructParent"]);

/**
 * The changes to one of the document's own fields. A signature field keeps most of its entries. Any other field keeps
 * only the `preservedEntries`: the author's format, look, default value and actions are removed.
 */
export function changesOf(widget: Changed, dict: Dict, lockOf: LockOf, form: string): Record<string, string> {
  const { prepared, page, rect, label } = widget;
  if (prepared.kind === "signature") return signatureChanges(widget, dict, lockOf, form);
  const others = [...dict.entries.keys()].filter((key) => !preservedEntries.has(key));
  return {
    ...Object.fromEntries(others.map(nothing)),
    ...(prepared.group !== undefined && { T: titleOf(prepared.name) }),
    TU: textString(label),
    P: `${page.ref.num} ${page.ref.gen} R`,
    Rect: rectangleOf(rect),
    AP: `<</N ${form}>>`,
    ...(prepared.matrix[0] !== 1 && { MK: `<</R ${turnOf(prepared.matrix)}>>` }),
    F: String(PRINT),
    // Without flags of its own, the field would inherit the flags of its parent.
    Ff: "0",
    ...valueEntries(prepared),
  };
}

/** The document's own radios whose options signers fill in, each with the label of its question. */
export function ownRadios(
  widgets: readonly (Pick<Changed, "prepared"> & { readonly is: { readonly kind: "new" } | OwnField })[],
) {
  const found = new Map<number, [{ readonly ref: Ref; readonly dict: Dict }, string | null]>();
  for (const { is, prepared } of widgets)
    if (is.kind === "changed" && is.radio) found.set(is.radio.ref.num, [is.radio, prepared.label]);
  return found.values();
}

/**
 * The changes that make one of the document's own radios a mere parent without a field type. Each of its options
 * becomes a checkbox, as in the radios that this service adds.
 */
export const radioChanges = (dict: Dict, label: string | null): Record<string, string> => ({
  ...Object.fromEntries(
    [...dict.entries.keys()].filter((key) => !preservedEntries.has(key) && key !== "Kids").map(nothing),
  ),
  ...(label !== null && { TU: textString(label) }),
});

const nothing = (key: string) => [key, "null"] as const;

/**
 * The changes to one of the document's empty signature fields. Removes the seed value (SV), by which the author
 * restricts signatures in the field: a signature of this service may not comply with it.
 */
function signatureChanges({ prepared }: Changed, dict: Dict, lockOf: LockOf, form: string) {
  return {
    AP: `<</N ${form}>>`,
    F: String(PRINT | LOCKED),
    Lock: lockOf(prepared.signer),
    ...(entry(dict, "SV") && { SV: "null" }),
  };
}
