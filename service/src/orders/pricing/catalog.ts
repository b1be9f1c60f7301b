import { type DataFile, dataFile, fail, fields, list, type Place, parseDataFile, readDataFile } from "./data-file.ts";
import { boolean, integer, matching, oneOf, text } from "./data-values.ts";
import { type AddOnType, addOnTypes } from "./line-types.ts";
import type { PriceBook } from "./price-book.ts";

/**
 * An add-on of a document: a number of pieces, each at the price book's amount. `label` replaces the usual label on the
 * quote.
 */
type AddOn = { type: AddOnType; quantity: number; label: string | null };

/** A document that partners order by its slug. It determines signing, notarization and add-ons. */
export type CatalogRow = {
  slug: string;
  title: string;
  sign: boolean;
  notarize: boolean;
  addOns: AddOn[];
  discountCode: string | null;
  /** The law that forbids signing this document electronically; null when none does. */
  esignExcluded: string | null;
  /** A note for firms about signing the document electronically, and the law behind it; null for none. */
  signingNote: { text: string; source: string } | null;
};

type Codes = Pick<PriceBook, "discountCodes">;

/**
 * Reads the catalog of documents from a YAML file.
 * @throws DataFileError when the file cannot be read or is not a valid catalog; the message names the line, the field
 * and the rule
 */
export const loadCatalog = (path: string, book: Codes): DataFile<CatalogRow[]> =>
  parseCatalog(readDataFile(path), path, book);

/**
 * Parses the text of a catalog file.
 * @param text YAML or JSON
 * @param file its path, for error messages
 * @param book the price book with the discount codes that rows may name
 * @throws DataFileError naming the line, the field and the rule
 */
export function parseCatalog(text: string, file: string, book: Codes): DataFile<CatalogRow[]> {
  const root = fields(parseDataFile(text, file), { required: ["documents"] });
  const slugs = new Set<string>();
  return dataFile(list(root.documents).map((place) => row(place, book, slugs)));
}

function row(place: Place, book: Codes, slugs: Set<string>): CatalogRow {
  const entries = fields(place, {
    required: ["slug", "title", "sign", "notarize"],
    optional: ["addOns", "discountCode", "esignExcluded", "signingNote"],
  });
  const slug = matching(entries.slug, /^(?=.{1,100}$)[a-z0-9]+(-[a-z0-9]+)*$/, "lowercase words joined by hyphens");
  if (slugs.has(slug)) fail(entries.slug, `must be unique (${slug} is taken)`);
  slugs.add(slug);
  const notarize = boolean(entries.notarize);
  const sign = boolean(entries.sign);
  const esignExcluded = entries.esignExcluded ? text(entries.esignExcluded) : null;
  if (sign && esignExcluded !== null) fail(entries.sign, "must be false for a document with esignExcluded");
  const addOns = entries.addOns ? list(entries.addOns).map((item) => addOn(item, notarize)) : [];
  return {
    slug,
    title: text(entries.title),
    sign,
    notarize,
    addOns,
    discountCode: entries.discountCode ? discountCode(entries.discountCode, book) : null,
    esignExcluded,
    signingNote: entries.signingNote ? signingNote(entries.signingNote, sign) : null,
  };
}

function signingNote(place: Place, sign: boolean): CatalogRow["signingNote"] {
  if (!sign) fail(place, "needs a document with sign: true");
  const entries = fields(place, { required: ["text", "source"] });
  return { text: text(entries.text, 500), source: text(entries.source) };
}

function addOn(place: Place, notarize: boolean): AddOn {
  const entries = fields(place, { required: ["type", "quantity"], optional: ["label"] });
  const type = oneOf(entries.type, addOnTypes);
  if (!notarize && (type === "ExtraSealFee" || type === "WitnessFee")) {
    fail(entries.type, `${type} needs a document with notarize: true`);
  }
  return { type, quantity: integer(entries.quantity, 1, 99), label: entries.label ? text(entries.label) : null };
}

function discountCode(place: Place, { discountCodes }: Codes): string {
  const code = text(place);
  if (!Object.hasOwn(discountCodes, code))
    fail(place, `must be a discount code of the price book (${code} is not one)`);
  return code;
}
