import { EvidenceError } from "../errors.ts";
import { COST, spend } from "./budget.ts";
import { dictionaryIn, itemsIn, loadRevisions, type PdfDocument, resolve } from "./document.ts";
import { stringText } from "./text.ts";
import { nameOf, type PdfDictionary, type PdfValue, unambiguous } from "./values.ts";

const MAX_FIELDS = 200_000;
const MAX_FIELD_DEPTH = 32;

/**
 * The texts of the newest revision's form fields, by fully qualified name (ISO 32000-2 section 12.7.4.2).
 *
 * - "" is an empty field.
 * - The text of a checkbox is the name of its state.
 * - Null is a value that readers may show differently. Examples are rich text, several widgets, two fields with the
 *   same name, and a checkbox that shows another state than its value. A value that is not text is null too.
 *
 * @throws EvidenceError when the path to a field is broken, ambiguous or past the limits
 */
export function fieldTexts(document: PdfDocument): ReadonlyMap<string, string | null> {
  const texts = new Map<string, string | null>();
  walkFields(document, ({ name, field, held }) => {
    texts.set(name, texts.has(name) ? null : textOf(document, field, held));
  });
  return texts;
}

type NamedField = {
  /** The fully qualified name. */
  readonly name: string;
  /** The number of the field's object; undefined for a direct object. */
  readonly number: number | undefined;
  readonly field: PdfDictionary;
  /** The field's own or inherited value. */
  readonly held: PdfValue | undefined;
};

/**
 * Visits the fields that have a name.
 * @throws EvidenceError as `fieldTexts`
 */
export function walkFields(document: PdfDocument, visit: (field: NamedField) => void): void {
  loadRevisions(document);
  let count = 0;
  const walk = (value: PdfValue, parent: { name: string; held: PdfValue | undefined }, depth: number): void => {
    if (++count > MAX_FIELDS || depth > MAX_FIELD_DEPTH) throw new EvidenceError("limit", "too many form fields");
    spend(document.budget, COST.value);
    const found = resolve(document, value);
    if (found?.kind !== "dictionary") return;
    const field = unambiguous(found, "a form field");
    const title = resolve(document, field.entries.get("T"));
    // A child without a name is a widget of its parent, not a separate field.
    if (title?.kind !== "string") return;
    const name = parent.name === "" ? stringText(title) : `${parent.name}.${stringText(title)}`;
    const held = field.entries.get("V") ?? parent.held;
    visit({ name, number: value.kind === "reference" ? value.number : undefined, field, held });
    for (const kid of itemsIn(document, field, "Kids")) walk(kid, { name, held }, depth + 1);
  };
  const catalog = dictionaryIn(document, document.trailer, "Root");
  const form = catalog && dictionaryIn(document, catalog, "AcroForm");
  for (const field of form ? itemsIn(document, form, "Fields") : []) walk(field, { name: "", held: undefined }, 0);
}

function textOf(document: PdfDocument, field: PdfDictionary, held: PdfValue | undefined): string | null {
  const { entries } = field;
  if (entries.has("Kids") || entries.has("RV")) return null;
  if (held === undefined || held.kind === "null") return "";
  const value = resolve(document, held);
  if (value?.kind === "name") {
    const shown = nameOf(field, "FT") === "Btn" ? nameOf(field, "AS") : undefined;
    return shown === value.value ? shown : null;
  }
  return value?.kind === "string" ? stringText(value) : null;
}
