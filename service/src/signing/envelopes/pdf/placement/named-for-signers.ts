import type { Span } from "../../../../kernel/pdf/lexer.ts";
import { type NamedField, namedFields } from "../../../../kernel/pdf/named-fields.ts";
import { resolve } from "../../../../kernel/pdf/objects.ts";
import { stringBytes, textOfBytes } from "../../../../kernel/pdf/strings.ts";
import { typesetFor } from "../../../../kernel/pdf/typeset.ts";
import { elements, entry, isArray, isString } from "../../../../kernel/pdf/values.ts";
import type { PdfLookup } from "../../../../kernel/pdf/xref/lookup.ts";
import { maxFields, parseOwnFields, type RequestedField } from "../../../../orders/order/order.ts";
import type { PlannedField } from "../fields.ts";
import { whyIllegible } from "../prepare.ts";
import { asked } from "./asked.ts";
import { type DocumentField, usableFields } from "./document-fields.ts";
import { UnmatchedTag, unmatchedTagOf } from "./unmatched-tag.ts";

/** Matches the names of fields for a signer, such as `signer2.phone`, `Signer 2 - phone` or `signer_2_phone`. */
const ofSigner = /^signer[ _-]?(\d{1,2})[ ._-]+(.+)$/i;

/** The signer's number at the beginning of a field's name; undefined for a name without one. */
export function signerNamedIn(name: string): number | undefined {
  const number = Number(ofSigner.exec(name)?.[1] ?? 0);
  return number > 0 ? number : undefined;
}

/**
 * The kind of a text field, by the part of its name that follows the signer's number. The service fills in some kinds,
 * such as the date.
 */
const kindOfText: Readonly<Record<string, RequestedField["kind"]>> = {
  date: "date",
  name: "name",
  initials: "initials",
  number: "number",
};
/** The flag Required (ISO 32000-1 table 221). */
const REQUIRED = 2;
const maxLabelLength = 200;

/**
 * An element in the form of an order's `fields`, with the document's own fields that it would request: one field, or
 * all options of one radio.
 */
type Asking = { readonly fields: readonly DocumentField[]; readonly element: Record<string, unknown> };
type Read = { readonly fields: readonly DocumentField[]; readonly field: RequestedField };

/**
 * Plans the document's own empty fields whose names begin with a signer of the order, such as `signer2.phone`. That
 * signer fills them in. Signature fields are not included. The preparation makes all fields that are not planned
 * read-only.
 * @param first the number of fields that are already planned
 * @param closesUnusable true to leave out a field that breaks a rule of the order's `fields`, instead of throwing; it
 * then becomes read-only too
 * @throws UnmatchedTag for a field that breaks a rule, unless `closesUnusable`
 */
export async function fieldsNamedForSigners(
  look: PdfLookup,
  signers: number,
  first: number,
  closesUnusable: boolean,
): Promise<PlannedField[]> {
  const own = usableFields(look).filter(({ name, kind }) => {
    const signer = kind === "signature" ? undefined : signerNamedIn(name);
    return signer !== undefined && signer <= signers;
  });
  if (own.length === 0) return [];
  const facts = new Map(namedFields(look).map((field) => [field.ref.num, field]));
  const asking = [...Map.groupBy(own, ({ object, radio }) => radio?.object ?? object)].flatMap(([object, fields]) => {
    const field = facts.get(object);
    return field ? askingFor(look, field, fields) : [];
  });
  const planned: PlannedField[] = [];
  const read = closesUnusable ? await readUsable(asking, signers) : readElements(asking, signers);
  for (const { field, fields } of read)
    for (const [option, each] of asked(field, first + planned.length).entries()) {
      const at = fields[option];
      if (at) planned.push({ ...each, existing: existingOf(at) });
    }
  return planned;
}

const existingOf = ({ object, name, radio }: DocumentField) => ({
  object,
  name,
  ...(radio && { radio: { object: radio.object, name: radio.name } }),
});

/**
 * The element of an order's `fields` that would request this field of the document. Empty for a radio whose options are
 * on several pages, or are not all usable.
 */
function askingFor(look: PdfLookup, facts: NamedField, fields: readonly DocumentField[]): Asking[] {
  const [first] = fields;
  const name = first?.radio?.name ?? first?.name ?? "";
  const words = ofSigner.exec(name)?.[2] ?? "";
  if (!first || (first.radio && (first.radio.options !== fields.length || !areOnOnePage(fields)))) return [];
  const kind = first.kind === "text" ? (kindOfText[words.toLowerCase()] ?? "text") : first.kind;
  const isFilledIn = kind === "date" || kind === "name" || kind === "initials";
  const common = {
    kind,
    signer: signerNamedIn(name),
    page: first.page + 1,
    label: textAt(look, facts, "TU") || inWords(words),
    required: isFilledIn || (facts.flags & REQUIRED) !== 0,
  };
  if (first.radio) {
    const options = fields.map((option) => ({
      label: inWords(option.name.slice(name.length + 1)),
      ...option.place,
    }));
    return [{ fields, element: { ...common, options } }];
  }
  const options = kind === "dropdown" && { options: optionsOf(look, facts).map((label) => ({ label })) };
  return [{ fields, element: { ...common, ...first.place, ...options } }];
}

const areOnOnePage = (fields: readonly DocumentField[]): boolean =>
  fields.every(({ page }) => page === fields[0]?.page);

/** Turns the name of a field into a label: `phone_number` becomes `Phone number`. */
function inWords(name: string): string {
  const words = name.replace(/[[\]#_./-]+/g, " ").trim();
  return words.charAt(0).toUpperCase() + words.slice(1);
}

function textAt({ file }: PdfLookup, { dict }: NamedField, key: string): string {
  const value = resolve(file, entry(dict, key));
  return value ? textIn(value).trim().slice(0, maxLabelLength) : "";
}

const textIn = (value: Span): string => (isString(value) ? (textOfBytes(stringBytes(value)) ?? "") : "");

/**
 * The labels of the options in a dropdown of the document. In the PDF, an option is a text, or a value with the text to
 * show for it.
 */
function optionsOf({ file }: PdfLookup, { dict }: NamedField): string[] {
  const list = resolve(file, entry(dict, "Opt"));
  if (!list || !isArray(list)) return [];
  const labels = [...elements(list)].map((element) => {
    const value = resolve(file, element);
    const shown = value && isArray(value) ? resolve(file, [...elements(value)].at(-1)) : value;
    return shown ? textIn(shown).trim() : "";
  });
  return [...new Set(labels)].filter((label) => label !== "");
}

/**
 * Validates the elements by the rules of an order's `fields`.
 * @throws UnmatchedTag naming the field and the rule that it breaks
 */
function readElements(asking: readonly Asking[], signers: number): Read[] {
  try {
    const read = parseOwnFields(
      asking.map(({ element }) => element),
      signers,
    );
    return read.map((field, index) => ({ field, fields: asking[index]?.fields ?? [] }));
  } catch (error) {
    throw unmatchedTagOf(
      error,
      asking.map(({ fields: [field] }) => field && `its field ${field.name} on page ${field.page + 1}`),
    );
  }
}

/**
 * Leaves out fields that break a rule, and dropdowns with an option that would be too small to read. Returns at most
 * `maxFields`.
 */
async function readUsable(asking: readonly Asking[], signers: number): Promise<Read[]> {
  const read = asking.flatMap((each) => {
    try {
      return readElements([each], signers);
    } catch (error) {
      if (error instanceof UnmatchedTag) return [];
      throw error;
    }
  });
  const lists = read.map(({ field: { kind, options = [] } }) =>
    kind === "dropdown" ? options.map(({ label }) => label) : [],
  );
  const labels = lists.flat();
  if (labels.length === 0) return read.slice(0, maxFields);
  const typeset = await typesetFor(labels);
  return read
    .filter(({ field }, index) =>
      lists[index]?.every((label) => whyIllegible({ ...field, unit: 1 }, label, typeset) === null),
    )
    .slice(0, maxFields);
}
