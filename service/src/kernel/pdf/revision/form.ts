import { withEntries } from "../edit.ts";
import { resolve } from "../objects.ts";
import { asInteger, type Dict, entry } from "../values.ts";
import type { PdfLookup } from "../xref/lookup.ts";
import type { RevisionWriter } from "./writer.ts";

/** Both flags of ISO 32000-1 table 219: SignaturesExist and AppendOnly. */
export const SIG_FLAGS = 3;

/** The change that sets both flags in a form; empty if they are set. */
export function missingSigFlags({ file }: PdfLookup, form: Dict): Readonly<Record<string, string>> {
  const flags = asInteger(resolve(file, entry(form, "SigFlags"))) ?? 0;
  return (flags & SIG_FLAGS) === SIG_FLAGS ? {} : { SigFlags: String(flags | SIG_FLAGS) };
}

/**
 * Adds references of new fields to the document's form, which is added if there is none.
 * @param defaults further entries of a new form
 */
export function addToForm(look: PdfLookup, writer: RevisionWriter, fields: readonly string[], defaults = ""): void {
  const { root, acroForm } = look;
  if (!acroForm) {
    const form = `<</Fields[${fields.join(" ")}]/SigFlags ${SIG_FLAGS}${defaults}>>`;
    writer.set(root.ref, root.dict, { AcroForm: writer.add(form) });
    return;
  }
  const { ref, dict } = acroForm;
  const changes: Record<string, string> = {};
  if (fields.length > 0) writer.append(dict, "Fields", fields, (Fields) => Object.assign(changes, { Fields }));
  Object.assign(changes, missingSigFlags(look, dict));
  if (Object.keys(changes).length === 0) return;
  if (ref) writer.set(ref, dict, changes);
  else writer.set(root.ref, root.dict, { AcroForm: withEntries(dict, changes) });
}
