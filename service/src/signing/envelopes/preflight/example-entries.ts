import type { Language } from "../../../kernel/platform/languages.ts";
import { applyRules, idsReadBy, textsIn } from "../../../orders/order/form/field-rules.ts";
import { dateText, readFieldValue } from "../../../orders/order/form/field-values.ts";
import { initialsOf, isButton, OFF, ON, type PreparedField, type ReferencedField } from "../pdf/fields.ts";

export type ExampleSigner = { readonly name: string; readonly language: Language };

/**
 * The values of a signer in a preview: those that the sender tried on that signer's page, and examples for the other
 * required fields. An example also replaces a value that the signing page would reject.
 * @param tried what was typed or chosen, by field name; undefined if the sender did not try this page
 */
export function exampleEntries(
  own: readonly PreparedField[],
  referenced: readonly ReferencedField[],
  {
    name,
    language,
    at,
    zone,
    tried,
  }: ExampleSigner & {
    at: Date;
    zone: string;
    tried?: ReadonlyMap<string, string> | undefined;
  },
): Map<string, string> {
  const typedIn = (field: PreparedField) => (tried ? tried.get(field.name) : field.value) ?? "";
  const entries = new Map<string, string>();
  for (const field of own) {
    const { kind, format } = field;
    if (kind === "signature" || kind === "mark") continue;
    const named = kind === "name" ? name : kind === "initials" ? initialsOf(name) : "";
    if (kind === "date") entries.set(field.name, dateText(at, { format, language, zone }));
    else if (isButton(field)) entries.set(field.name, typedIn(field) === ON ? ON : OFF);
    else entries.set(field.name, accepted(field, [typedIn(field).trim(), named, ...examplesFor(field)]));
  }
  chooseOptions(own, entries);
  const rules = applyRules([...own, ...referenced], (field) =>
    "texts" in field ? field.texts : textsIn(field, entries.get(field.name) ?? ""),
  );
  for (const field of own) {
    if (!entries.has(field.name)) continue;
    if (!rules.isShown(field)) entries.set(field.name, isButton(field) ? OFF : "");
    else if (field.formula !== undefined) {
      const result = rules.calculate(field);
      entries.set(field.name, typeof result === "object" && "value" in result ? result.value : "");
    }
  }
  return entries;
}

/**
 * Other people's fields to which the rules of the signer's own fields refer. Each has its signer's value from
 * `entries`, or the sender's value if it is read-only.
 */
export function fieldsReferencedBy(
  own: readonly PreparedField[],
  all: readonly PreparedField[],
  entries: ReadonlyMap<string, string>,
): ReferencedField[] {
  const ids = new Set(own.flatMap(idsReadBy));
  return all
    .filter((field) => field.id !== undefined && ids.has(field.id) && !own.includes(field))
    .map((field) => ({
      kind: field.kind,
      label: field.label,
      ...(field.id !== undefined && { id: field.id }),
      texts: textsIn(field, (field.readOnly ? field.value : entries.get(field.name)) ?? ""),
    }));
}

/** The first of the texts that the field accepts, as the document would show it; empty if it accepts none. */
function accepted({ kind, format, options }: PreparedField, texts: readonly string[]): string {
  for (const text of texts) {
    const read = text === "" ? null : readFieldValue({ kind, format, options }, text);
    if (read && "value" in read) return read.value;
  }
  return "";
}

const textExamples: Readonly<Record<string, string>> = {
  email: "name@example.com",
  phone_us: "(555) 555-0100",
  zip_us: "12345",
  ssn_last4: "1234",
};

/** Texts of which a required field accepts at least one. An optional field stays empty. */
function examplesFor({ kind, format, options = [], required }: PreparedField): readonly string[] {
  if (!required) return [];
  if (kind === "dropdown") return options;
  if (kind === "number") {
    const { min = "0", max = "0" } = typeof format === "object" ? format : {};
    return ["1", min, max];
  }
  return [typeof format === "string" ? (textExamples[format] ?? "Example") : "Example"];
}

/**
 * Sets the required checkboxes to `ON`, and as many options as are required. In a radio, only one option stays chosen.
 */
function chooseOptions(own: readonly PreparedField[], entries: Map<string, string>): void {
  for (const field of own) {
    if (field.kind === "checkbox" && field.required && field.group === undefined) entries.set(field.name, ON);
    const options = own.filter(({ group }) => group !== undefined && group === field.group);
    if (options[0] !== field) continue;
    const min = field.choices ? field.choices.least : field.required ? 1 : 0;
    const chosen = options.filter(({ name }) => entries.get(name) === ON);
    const others = options.filter((option) => !chosen.includes(option));
    for (const { name } of others.slice(0, Math.max(min - chosen.length, 0))) entries.set(name, ON);
    for (const { name } of chosen.slice(field.choices?.most ?? 1)) entries.set(name, OFF);
  }
}
