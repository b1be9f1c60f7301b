import { textString } from "../../../kernel/pdf/edit.ts";
import { ONLY_STATE } from "../../../kernel/pdf/named-fields.ts";
import type { RevisionWriter } from "../../../kernel/pdf/revision/writer.ts";
import { isButton, OFF, type PreparedField, preparedValue } from "./fields.ts";

/** Flags of form fields (ISO 32000-2 tables 227 and 233). */
const READ_ONLY = 1;
const COMBO = 1 << 17;

const defaultAppearance = "(/Helv 0 Tf 0 g)";

/**
 * The dictionary entries for a field's type and the sender's value. A radio's options are checkboxes with names of
 * their own, because pyHanko reports a change of an unnamed option as a change of another field. A dropdown has no /I,
 * because pyHanko doesn't accept a changed /I as form filling.
 */
export function valueEntries(field: PreparedField): Record<string, string> {
  const { kind, readOnly, options = [] } = field;
  const value = preparedValue(field);
  const flags = (kind === "dropdown" ? COMBO : 0) | (readOnly ? READ_ONLY : 0);
  const ff = flags === 0 ? {} : { Ff: String(flags) };
  if (isButton(field)) return { FT: "/Btn", ...ff, V: `/${value ?? OFF}`, AS: `/${value ?? OFF}` };
  const own = { ...(value !== undefined && { V: textString(value) }), DA: defaultAppearance };
  if (kind !== "dropdown") return { AS: ONLY_STATE, FT: "/Tx", ...ff, ...own };
  return { AS: ONLY_STATE, FT: "/Ch", ...ff, Opt: `[${options.map(textString).join("")}]`, ...own };
}

/**
 * The parent fields of the options of radios. A parent has a name but no type, so that each option is a separate
 * checkbox.
 */
export type Radios = {
  /** Adds an option to its radio. @returns the reference of the radio */
  readonly add: (name: string, label: string | null, option: string) => string;
  readonly write: () => void;
  readonly refs: () => string[];
};

export function openRadios(writer: RevisionWriter): Radios {
  const radios = new Map<string, ReturnType<RevisionWriter["reserve"]> & { label: string | null; options: string[] }>();
  return {
    add(name, label, option) {
      const radio = radios.get(name) ?? { ...writer.reserve(), label, options: [] };
      radios.set(name, radio);
      radio.options.push(option);
      return radio.ref;
    },
    write() {
      for (const [name, { fill, label, options }] of radios)
        fill(`<</T(${name})${label === null ? "" : `/TU${textString(label)}`}/Kids[${options.join(" ")}]>>`);
    },
    refs: () => [...radios.values()].map(({ ref }) => ref),
  };
}

/** The widget flag Print. The widget of a signature also has the flag Locked (table 165). */
export const PRINT = 4;
export const LOCKED = 128;

/** The partial name of a radio's option, as a PDF string. */
export const titleOf = (name: string): string => `(${name.slice(name.lastIndexOf(".") + 1)})`;

export const rectangleOf = (rect: readonly number[]): string =>
  `[${rect.map((value) => Math.round(value * 1000) / 1000).join(" ")}]`;

/** By how many degrees the field is rotated on its page, counterclockwise (table 189). */
export const turnOf = ([a = 0, b = 0]: readonly number[]): number => (b === 1 ? 90 : a === -1 ? 180 : 270);
