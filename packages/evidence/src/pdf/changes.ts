import { EvidenceError } from "../errors.ts";
import { dictionaryIn, itemsIn, loadRevisions, lookUp, type PdfDocument, resolve } from "./document.ts";
import { sameValue } from "./same-value.ts";
import { integerOf, nameOf, type PdfDictionary, type PdfValue } from "./values.ts";
import { entriesOf } from "./xref.ts";

/**
 * The most that later revisions did to a revision, mildest first: nothing; validation data or metadata; signatures that
 * show nothing new; values of form fields; annotations, new fields and visible signatures; anything else.
 */
export const CHANGE_LEVELS = ["none", "validation", "signatures", "forms", "annotations", "other"] as const;
export type ChangeLevel = (typeof CHANGE_LEVELS)[number];

const worse = (one: ChangeLevel, other: ChangeLevel): ChangeLevel =>
  CHANGE_LEVELS.indexOf(one) >= CHANGE_LEVELS.indexOf(other) ? one : other;

/** Whether a certification with /P `docMdp` permits changes of this level (ISO 32000-2 table 257). */
export function permits(docMdp: 1 | 2 | 3, level: ChangeLevel): boolean {
  const most = docMdp === 1 ? "validation" : docMdp === 2 ? "forms" : "annotations";
  return worse(level, most) === most;
}

/**
 * Classifies what the revisions after `earlier` changed. Conservative: what is not understood is `other`.
 *
 * @param document the whole file
 * @param earlier the same bytes cut at the end of a revision, opened on their own
 */
export function changesSince(document: PdfDocument, earlier: PdfDocument): ChangeLevel {
  try {
    return classify(document, earlier);
  } catch (error) {
    if (error instanceof EvidenceError) return "other";
    throw error;
  }
}

type Comparison = { readonly later: PdfDocument; readonly earlier: PdfDocument };

function classify(later: PdfDocument, earlier: PdfDocument): ChangeLevel {
  const comparison = { later, earlier };
  const end = earlier.bytes.length;
  const revisions = loadRevisions(later);
  const newer = revisions.filter(({ main }) => main.offset >= end);
  const base = revisions[newer.length];
  // The chain must run through the earlier revision's own section, or that revision is not the one that was signed.
  if (base?.main.offset !== earlier.revisions[0]?.main.offset) return "other";
  if (!sameValue(later.trailer.entries.get("Root"), earlier.trailer.entries.get("Root"))) return "other";
  const numbers = new Set<number>();
  for (const { main, hybrid } of newer) {
    for (const [number] of entriesOf(main)) numbers.add(number);
    if (hybrid !== undefined) for (const [number] of entriesOf(hybrid)) numbers.add(number);
  }
  let level: ChangeLevel = "none";
  for (const number of numbers) {
    level = worse(level, changeOf(comparison, number));
    if (level === "other") break;
  }
  return level;
}

function changeOf(comparison: Comparison, number: number): ChangeLevel {
  const { later, earlier } = comparison;
  const entry = lookUp(later, number);
  if (lookUp(earlier, number) === undefined) {
    // A number below /Size could be one that the earlier revision refers to and does not have: a shadow.
    return entry === undefined || number >= (integerOf(earlier.trailer, "Size") ?? 0) ? "none" : "other";
  }
  if (entry === undefined) return "other";
  const reference = (document: PdfDocument): PdfValue | undefined => {
    const found = lookUp(document, number);
    const generation = found?.type === "offset" ? found.generation : 0;
    return resolve(document, { kind: "reference", number, generation, start: 0, end: 0 });
  };
  const before = reference(earlier);
  const after = reference(later);
  const root = dictionaryIn(earlier, earlier.trailer, "Root");
  const isAt = (from: PdfDictionary | undefined, key: string): boolean => {
    const value = from?.entries.get(key);
    return value?.kind === "reference" && value.number === number;
  };
  if (before?.kind === "array" && after?.kind === "array") return grownList(comparison, before.items, after.items);
  if (before?.kind !== "dictionary" || after?.kind !== "dictionary") return sameValue(before, after) ? "none" : "other";
  const type = nameOf(before, "Type");
  if (type !== nameOf(after, "Type")) return "other";
  if (isAt(earlier.trailer, "Root")) return catalogChange(comparison, before, after);
  if (isAt(root, "AcroForm")) return formChange(comparison, before, after);
  if (isAt(root, "DSS") || isAt(earlier.trailer, "Info") || type === "Metadata") return "validation";
  if (type === "Page") return pageChange(comparison, before, after);
  if (nameOf(before, "Subtype") === "Widget" || before.entries.has("FT")) return fieldChange(comparison, before, after);
  return type === "Annot" && nameOf(before, "Subtype") !== undefined ? "annotations" : "other";
}

function differences(before: PdfDictionary, after: PdfDictionary): string[] {
  const keys = new Set([...before.entries.keys(), ...after.entries.keys(), ...after.repeated]);
  return [...keys].filter(
    (key) => after.repeated.includes(key) || !sameValue(before.entries.get(key), after.entries.get(key)),
  );
}

function catalogChange(comparison: Comparison, before: PdfDictionary, after: PdfDictionary): ChangeLevel {
  let level: ChangeLevel = "none";
  for (const key of differences(before, after)) {
    if (key === "DSS" || key === "Extensions" || key === "Version" || key === "Metadata")
      level = worse(level, "validation");
    else if (key === "Perms" && !before.entries.has("Perms")) level = worse(level, "signatures");
    else if (key === "AcroForm") {
      const old = dictionaryIn(comparison.earlier, before, "AcroForm");
      const form = dictionaryIn(comparison.later, after, "AcroForm");
      if (form === undefined) return "other";
      level = worse(level, old === undefined ? newForm(comparison, form) : formChange(comparison, old, form));
    } else return "other";
  }
  return level;
}

function newForm(comparison: Comparison, form: PdfDictionary): ChangeLevel {
  return form.entries.has("XFA") ? "other" : grownList(comparison, [], itemsIn(comparison.later, form, "Fields"));
}

function formChange(comparison: Comparison, before: PdfDictionary, after: PdfDictionary): ChangeLevel {
  let level: ChangeLevel = "signatures";
  for (const key of differences(before, after)) {
    if (key === "Fields") {
      const old = itemsIn(comparison.earlier, before, "Fields");
      level = worse(level, grownList(comparison, old, itemsIn(comparison.later, after, "Fields")));
    } else if (key === "NeedAppearances") level = worse(level, "forms");
    else if (key !== "SigFlags" && key !== "DR" && key !== "DA") return "other";
  }
  return level;
}

function pageChange(comparison: Comparison, before: PdfDictionary, after: PdfDictionary): ChangeLevel {
  const changed = differences(before, after);
  if (changed.some((key) => key !== "Annots")) return "other";
  if (changed.length === 0) return "none";
  return grownList(
    comparison,
    itemsIn(comparison.earlier, before, "Annots"),
    itemsIn(comparison.later, after, "Annots"),
  );
}

/** A list of fields or annotations may only grow. */
function grownList({ later }: Comparison, before: readonly PdfValue[], after: readonly PdfValue[]): ChangeLevel {
  if (before.some((item, index) => !sameValue(item, after[index]))) return "other";
  let level: ChangeLevel = "none";
  for (const item of after.slice(before.length)) {
    const added = resolve(later, item);
    if (added?.kind !== "dictionary") return "other";
    level = worse(level, isInvisibleSignature(later, added) ? "signatures" : "annotations");
  }
  return level;
}

function isInvisibleSignature(document: PdfDocument, field: PdfDictionary): boolean {
  if (nameOf(field, "FT") !== "Sig" || field.entries.has("Kids")) return false;
  const rectangle = itemsIn(document, field, "Rect").map((item) => (item.kind === "number" ? item.value : Number.NaN));
  const [left, bottom, right, top] = rectangle;
  return rectangle.length === 0 || (rectangle.length === 4 && (left === right || bottom === top));
}

function fieldChange({ earlier }: Comparison, before: PdfDictionary, after: PdfDictionary): ChangeLevel {
  const changed = differences(before, after);
  if (changed.some((key) => !["V", "AS", "AP", "M", "RV", "I", "DA", "MK"].includes(key))) return "other";
  const parent = dictionaryIn(earlier, before, "Parent");
  const type = nameOf(before, "FT") ?? (parent === undefined ? undefined : nameOf(parent, "FT"));
  if (type !== "Sig") return changed.length === 0 ? "none" : "forms";
  const filled = before.entries.get("V");
  return changed.length > 0 && filled !== undefined && filled.kind !== "null" ? "other" : "signatures";
}
