import { EvidenceError } from "../errors.ts";
import { COST, spend } from "./budget.ts";
import { dictionaryIn, itemsIn, loadRevisions, type PdfDocument, resolve } from "./document.ts";
import { stringText } from "./text.ts";
import { type PdfDictionary, type PdfValue, unambiguous } from "./values.ts";

const MAX_FIELDS = 200_000;
const MAX_FIELD_DEPTH = 32;

/**
 * What the fields of the newest revision's form hold, by their fully qualified names (ISO 32000-2 section 12.7.4.2): "" for
 * nothing, and null for what is not one plain text that every reader shows alike (rich text beside it, several widgets,
 * two fields of one name, another kind of value).
 *
 * @throws EvidenceError when the way to a field is broken, says two things or is past the bounds
 */
export function fieldTexts(document: PdfDocument): ReadonlyMap<string, string | null> {
  loadRevisions(document);
  const texts = new Map<string, string | null>();
  let count = 0;
  const walk = (value: PdfValue, parent: { name: string; held: PdfValue | undefined }, depth: number): void => {
    if (++count > MAX_FIELDS || depth > MAX_FIELD_DEPTH) throw new EvidenceError("limit", "too many form fields");
    spend(document.budget, COST.value);
    const found = resolve(document, value);
    if (found?.kind !== "dictionary") return;
    const field = unambiguous(found, "a form field");
    const title = resolve(document, field.entries.get("T"));
    // A widget of its parent is no field of its own.
    if (title?.kind !== "string") return;
    const name = parent.name === "" ? stringText(title) : `${parent.name}.${stringText(title)}`;
    const held = field.entries.get("V") ?? parent.held;
    texts.set(name, texts.has(name) ? null : textOf(document, field, held));
    for (const kid of itemsIn(document, field, "Kids")) walk(kid, { name, held }, depth + 1);
  };
  const catalog = dictionaryIn(document, document.trailer, "Root");
  const form = catalog && dictionaryIn(document, catalog, "AcroForm");
  for (const field of form ? itemsIn(document, form, "Fields") : []) walk(field, { name: "", held: undefined }, 0);
  return texts;
}

function textOf(document: PdfDocument, { entries }: PdfDictionary, held: PdfValue | undefined): string | null {
  if (entries.has("Kids") || entries.has("RV")) return null;
  if (held === undefined || held.kind === "null") return "";
  const value = resolve(document, held);
  return value?.kind === "string" ? stringText(value) : null;
}
