import { EvidenceError } from "../errors.ts";
import { COST, spend } from "./budget.ts";
import { dictionaryIn, itemsIn, loadRevisions, locate, type PdfDocument, resolve } from "./document.ts";
import { stringText } from "./text.ts";
import { integerOf, nameOf, type PdfDictionary, type PdfString, type PdfValue, unambiguous } from "./values.ts";

/** A signature dictionary (ISO 32000-2 section 12.8.1) and the form fields whose value it is. */
export type SignatureInPdf = {
  readonly dictionary: PdfDictionary;
  /** Offset of the indirect object that contains the dictionary; undefined inside an object stream. */
  readonly start: number | undefined;
  /**
   * The number of fields that have this dictionary as their value: 0 for a certification without a field, otherwise 1.
   * More than 1 means that the file was manipulated.
   */
  readonly fieldCount: number;
  /**
   * For each field that has this dictionary as its value: the partial names from the top. `fieldName` joins and
   * decrypts them.
   */
  readonly fieldTitles: readonly (readonly PdfString[])[];
  /** The first field that has this dictionary as its value; undefined for a certification without a field. */
  readonly field: PdfDictionary | undefined;
  /** The strictest /P of the DocMDP references: 2 by default, 1 if unreadable. Undefined without such a reference. */
  readonly docMdp: 1 | 2 | 3 | undefined;
};

const MAX_SIGNATURES = 64;
const MAX_FIELDS = 200_000;
const MAX_FIELD_DEPTH = 32;

/**
 * The signatures in the form of the newest revision, in file order. Includes the certification that the catalog names,
 * even if it is not the value of a field.
 *
 * @throws EvidenceError when a cross-reference section, or the path from the trailer to a field, is broken or
 * ambiguous; also for more than 64 signatures, or too many or too deep fields
 */
export function findSignatures(document: PdfDocument): SignatureInPdf[] {
  // Throws for a broken chain of cross-reference sections, even if the newest section lists every object that is needed
  // here.
  loadRevisions(document);
  const catalog = dictionaryIn(document, document.trailer, "Root");
  if (catalog === undefined) throw new EvidenceError("pdf", "no catalog");
  const found = new Map<
    PdfDictionary,
    Pick<SignatureInPdf, "start" | "field"> & { readonly fieldTitles: (readonly PdfString[])[] }
  >();
  const add = (
    value: PdfValue,
    fieldStart: number | undefined,
    titles: readonly (readonly PdfString[])[],
    field?: PdfDictionary,
  ): void => {
    const located = locate(document, value);
    if (located?.value.kind !== "dictionary") return;
    const { value: dictionary } = located;
    const start = value.kind === "reference" ? located.start : fieldStart;
    const earlier = found.get(dictionary);
    if (earlier !== undefined) earlier.fieldTitles.push(...titles);
    else if (found.size < MAX_SIGNATURES) found.set(dictionary, { start, fieldTitles: [...titles], field });
    else throw new EvidenceError("limit", `more than ${MAX_SIGNATURES} signatures`);
  };

  const form = dictionaryIn(document, catalog, "AcroForm");
  const seen = new Set<number>();
  let count = 0;
  type Parent = {
    readonly type: string | undefined;
    readonly start: number | undefined;
    readonly titles: readonly PdfString[];
  };
  const walk = (value: PdfValue, parent: Parent, depth: number): void => {
    if (++count > MAX_FIELDS || depth > MAX_FIELD_DEPTH) throw new EvidenceError("limit", "too many form fields");
    spend(document.budget, COST.value);
    if (value.kind === "reference") {
      if (seen.has(value.number)) return;
      seen.add(value.number);
    }
    const located = locate(document, value);
    if (located?.value.kind !== "dictionary") return;
    const field = unambiguous(located.value, "a form field");
    const start = value.kind === "reference" ? located.start : parent.start;
    const type = nameOf(field, "FT") ?? parent.type;
    const title = resolve(document, field.entries.get("T"));
    const titles = title?.kind === "string" ? [...parent.titles, title] : parent.titles;
    const held = field.entries.get("V");
    if (held !== undefined && (type === "Sig" || looksSigned(document, held))) add(held, start, [titles], field);
    for (const kid of itemsIn(document, field, "Kids")) walk(kid, { type, start, titles }, depth + 1);
  };
  const top: Parent = { type: undefined, start: undefined, titles: [] };
  if (form !== undefined) for (const field of itemsIn(document, form, "Fields")) walk(field, top, 0);

  const permissions = dictionaryIn(document, catalog, "Perms");
  const certification = permissions?.entries.get("DocMDP");
  if (certification !== undefined) add(certification, undefined, []);
  return [...found]
    .map(([dictionary, { start, fieldTitles, field }]) => ({
      dictionary,
      start,
      field,
      fieldCount: fieldTitles.length,
      fieldTitles,
      docMdp: docMdpOf(document, dictionary),
    }))
    .sort((one, other) => (one.start ?? -1) - (other.start ?? -1));
}

/**
 * The fully qualified name of a form field (ISO 32000-2, section 12.7.4.2).
 * @throws EvidenceError as `stringText`
 */
export const fieldName = (titles: readonly PdfString[]): string => titles.map(stringText).join(".");

function looksSigned(document: PdfDocument, value: PdfValue): boolean {
  const dictionary = value.kind === "reference" || value.kind === "dictionary" ? resolve(document, value) : undefined;
  return dictionary?.kind === "dictionary" && dictionary.entries.has("ByteRange");
}

function docMdpOf(document: PdfDocument, signature: PdfDictionary): 1 | 2 | 3 | undefined {
  // Only a repeated /Reference is refused here. `readByteRange` refuses any other key that a signature repeats.
  if (signature.repeated.includes("Reference")) unambiguous(signature, "a signature");
  const references = signature.entries.get("Reference");
  if (references === undefined || references.kind === "null") return undefined;
  const list = resolve(document, references);
  const permissions = (list?.kind === "array" ? list.items : [undefined]).map((item) => permissionOf(document, item));
  return ([1, 2, 3] as const).find((level) => permissions.includes(level));
}

/**
 * The permission (/P) of a /Reference item; undefined unless it is a DocMDP. Readers disagree on values that are
 * indirect or of a wrong type, so such a value counts as the strictest.
 */
function permissionOf(document: PdfDocument, item: PdfValue | undefined): 1 | 2 | 3 | undefined {
  spend(document.budget, COST.value);
  const reference = resolve(document, item);
  if (reference?.kind !== "dictionary") return 1;
  unambiguous(reference, "a signature reference");
  const method = nameOf(reference, "TransformMethod");
  if (method !== undefined && method !== "DocMDP") return undefined;
  if (method === undefined) return 1;
  if (!reference.entries.has("TransformParams")) return 2;
  const parameters = dictionaryIn(document, reference, "TransformParams");
  if (parameters === undefined) return 1;
  if (!parameters.entries.has("P")) return 2;
  const level = integerOf(parameters, "P");
  return level === 2 || level === 3 ? level : 1;
}
