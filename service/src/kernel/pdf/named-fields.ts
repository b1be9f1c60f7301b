import { textString } from "./edit.ts";
import type { PdfFile } from "./file.ts";
import { type FormField, formFields } from "./form-fields.ts";
import { resolve } from "./objects.ts";
import { isStream } from "./revision/new-object.ts";
import { stringBytes, textOfBytes } from "./strings.ts";
import { asInteger, type Dict, entry, isDict, isString, readDict } from "./values.ts";
import type { PdfLookup } from "./xref/lookup.ts";

/** A form field that a person can fill in or sign, with its widgets. */
export type NamedField = Pick<FormField, "ref" | "dict" | "type"> & {
  /** The fully qualified name; null when it can't be decoded unambiguously. */
  readonly name: string | null;
  /** The value of Ff, inherited from the nearest ancestor when the field has none. */
  readonly flags: number;
  /**
   * The dictionaries of the field's widgets. The first is the field's own dictionary, which may be a widget too. Then
   * come the dictionaries of the field's children that have no name.
   */
  readonly widgets: readonly Pick<FormField, "ref" | "dict">[];
};

type Open = NamedField & { widgets: Pick<FormField, "ref" | "dict">[]; isGroup: boolean };

/**
 * The form's terminal fields: those that have no fields below them.
 * @throws PdfRefusal `needs_repair`, `too_complex`
 */
export function namedFields({ file, acroForm }: Pick<PdfLookup, "file" | "acroForm">): NamedField[] {
  if (!acroForm) return [];
  const found = new Map<Dict, Open>();
  for (const node of formFields(file, acroForm.dict)) {
    const { ref, dict, type, above } = node;
    const parent = above.findLast((each) => found.has(each));
    const group = parent && found.get(parent);
    if (group && !entry(dict, "T")) {
      group.widgets.push({ ref, dict });
      continue;
    }
    if (group) group.isGroup = true;
    const flags = asInteger(resolve(file, entry(dict, "Ff"))) ?? group?.flags ?? 0;
    const name = joined(group?.name, partialName(file, node));
    found.set(dict, { ref, dict, type, name, flags, widgets: [{ ref, dict }], isGroup: false });
  }
  return [...found.values()].filter(({ isGroup }) => !isGroup);
}

function joined(above: string | null | undefined, own: string | null): string | null {
  if (above === undefined || above === "") return own;
  if (above === null || own === null) return null;
  return own === "" ? above : `${above}.${own}`;
}

function partialName(file: PdfFile, { ref, dict }: FormField): string | null {
  const value = resolve(file, entry(dict, "T"));
  if (!value) return "";
  if (!isString(value)) return null;
  const written = stringBytes(value);
  const cipher = value.bytes === file.bytes ? file.encryption?.strings : null;
  const bytes = cipher ? cipher.decrypt(written, ref) : written;
  return bytes && textOfBytes(bytes, "exact");
}

/**
 * How a widget is drawn. `nothing`: it has no appearance. `stated`: its state (AS) selects an appearance. `drawing`: no
 * state and one appearance. `states`: no state and several appearances.
 *
 * The validator pyHanko needs a state on a widget of a locked field. For a widget without a state, pyHanko reports the
 * appearance as a change after the lock, even if the appearance is older.
 */
export function drawnBy(file: PdfFile, { dict }: Pick<FormField, "dict">): "drawing" | "states" | "stated" | "nothing" {
  const appearance = resolve(file, entry(dict, "AP"));
  if (!appearance) return "nothing";
  if (entry(dict, "AS")) return "stated";
  const normal = isDict(appearance) && resolve(file, entry(readDict(appearance.bytes, appearance.start), "N"));
  return normal && isDict(normal) && isStream(normal) ? "drawing" : normal ? "states" : "nothing";
}

/**
 * The name of the state (AS) for a widget with only one appearance. Any name would do, because readers always show that
 * appearance.
 */
export const ONLY_STATE = "/N";

/**
 * The lock of a signature field: the fields that it locks, and the changes allowed afterwards (ISO 32000-2 table 236).
 */
export const fieldLock = (names: readonly string[], permission: 2 | null): string =>
  `<</Type/SigFieldLock/Action/Include/Fields[${list(names)}]${permission === null ? "" : `/P ${permission}`}>>`;

/** The entry of a signature dictionary that locks these fields: a signature reference (ISO 32000-1 12.8.2.4). */
export const fieldLockReference = (names: readonly string[], { root }: PdfLookup): string =>
  `/Reference[<</Type/SigRef/TransformMethod/FieldMDP/TransformParams` +
  `<</Type/TransformParams/Action/Include/Fields[${list(names)}]/V/1.2>>/Data ${root.ref.num} ${root.ref.gen} R>>]`;

const list = (names: readonly string[]): string => names.map(textString).join("");
