import { textString } from "../../../kernel/pdf/edit.ts";
import { formFields } from "../../../kernel/pdf/form-fields.ts";
import type { RevisionWriter } from "../../../kernel/pdf/revision/writer.ts";
import type { Dict } from "../../../kernel/pdf/values.ts";
import type { PdfLookup } from "../../../kernel/pdf/xref/lookup.ts";
import type { PlannedField } from "./fields.ts";
import { partialName } from "./placement/usable-kinds.ts";

/**
 * Renames the document's own fields whose partial names contain periods, which ISO 32000-2 12.7.4.2 forbids. Without
 * the new name, pyHanko could not validate later signatures. Changes nothing in a document that is encrypted, signed or
 * certified.
 * @returns the planned fields, with the new names
 */
export function withoutPeriods(
  look: PdfLookup,
  writer: Pick<RevisionWriter, "set">,
  planned: readonly PlannedField[],
): readonly PlannedField[] {
  const { file, acroForm } = look;
  if (!acroForm || file.encryption || look.signatures > 0 || look.docMdp !== null) return planned;
  const all = [...formFields(file, acroForm.dict)];
  const partial = new Map<Dict, string | null>(all.map(({ dict }) => [dict, partialName(look, dict)]));
  const usedNames = new Set(partial.values());
  // The next suffix to try for each name. A form can have thousands of fields with the same name, so the search must
  // not restart at 2.
  const next = new Map<string, number>();
  const renamed = new Map(partial);
  for (const { dict, ref } of all) {
    const name = partial.get(dict);
    if (!name?.includes(".")) continue;
    const plain = name.replaceAll(".", "_");
    let free = plain;
    for (let n = next.get(plain) ?? 2; usedNames.has(free); n++) {
      free = `${plain}_${n}`;
      next.set(plain, n + 1);
    }
    usedNames.add(free);
    renamed.set(dict, free);
    writer.set(ref, dict, { T: textString(free) });
  }
  // Keyed by object, because two fields can have the same full name: a field `A.B`, and the child `B` of a group `A`.
  const changed = new Map<number, string>();
  for (const { dict, ref, above } of all)
    changed.set(ref.num, [...above, dict].flatMap((node) => renamed.get(node) ?? []).join("."));
  const nameOf = ({ object, name }: { object: number; name: string }): string => changed.get(object) ?? name;
  return planned.map((field) => {
    const { existing } = field;
    if (!existing) return field;
    const { radio } = existing;
    // The name of a radio's option is the radio's name, a period and the option's own name.
    const name = radio ? nameOf(radio) + existing.name.slice(radio.name.length) : nameOf(existing);
    return {
      ...field,
      existing: { ...existing, name, ...(radio && { radio: { ...radio, name: nameOf(radio) } }) },
    };
  });
}
