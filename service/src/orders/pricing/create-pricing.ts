import type { Tier } from "../../firms/partners/partners.ts";
import type { Sql } from "../../kernel/platform/database/database.ts";
import { sql } from "../../kernel/platform/database/sql.ts";
import { StartupError } from "../../kernel/platform/errors.ts";
import { wholeNumberIn } from "../../kernel/platform/text.ts";
import { canBePaid, dollars, minPaymentCents } from "../dollars.ts";
import { type CatalogRow, loadCatalog } from "./catalog.ts";
import { type DataFile, DataFileError, dataFile } from "./data-file.ts";
import { type AskCarriers, type CarrierRate, type Parcel, type ShipMethod, weightGrams } from "./postage.ts";
import { loadPriceBook, type PriceBook } from "./price-book.ts";
import { type BoughtServices, type Quote, quote } from "./quote.ts";
import { senderOf } from "./sender-address.ts";
import { type Address, isZipCode, loadNotarizationStates, type NotarizationStates, usStateOf } from "./us-states.ts";
import { loadZip3Areas, stateOfZip, type Zip3Area } from "./zip3.ts";
import { zoneTable } from "./zone-table.ts";

export type PricingFiles = {
  priceBook: DataFile<PriceBook>;
  catalog: DataFile<CatalogRow[]>;
  states: DataFile<NotarizationStates>;
  zip3: DataFile<Zip3Area[]>;
};

/**
 * The facts that determine a price. Shipping needs `shipTo`. Without `shipFrom`, the parcel is sent from the price
 * book's business address.
 */
export type PriceRequest = {
  tier: Tier;
  services: BoughtServices;
  docSlug: string | null;
  pages: number;
  shipMethod: ShipMethod | null;
  shipTo: Address | null;
  shipFrom: Address | null;
  /** Asks carriers for the postage. The zone table is used when this is null or returns null. */
  askCarriers: AskCarriers | null;
};

/**
 * `quoted`: the quote is complete. `noCarrierRate`: the quote has no postage line, so a person must price the order.
 * `carrierRate`: the carrier's rate in the postage line; null when that line has the rate of the zone table, or there
 * is none.
 */
export type Priced = { outcome: "quoted" | "noCarrierRate"; quote: Quote; carrierRate: CarrierRate | null };

export type Pricing = {
  priceBook: DataFile<PriceBook>;
  /** The documents of the catalog, in the order of the file. */
  catalog: readonly CatalogRow[];
  catalogRow: (slug: string) => CatalogRow | null;
  /** True if remote notarization is refused for signers in this U.S. state (two letters, any case). */
  notarizationBlocked: (state: string) => boolean;
  price: (request: PriceRequest) => Promise<Priced>;
  /** The two letters of a ZIP code's state; null when it is unknown. */
  stateOfZip: (postal: string) => string | null;
  /**
   * The parcel in which a document with this many pages is sent. Without `from`, it is sent from the price book's
   * business address.
   */
  parcelOf: (pages: number, from: Address | null, to: Address) => Parcel;
};

/**
 * Reads and checks all pricing data files.
 * @throws DataFileError with one line that names the file, the line, the field and the rule
 */
export function loadPricingFiles(paths: Record<keyof PricingFiles, string>): PricingFiles {
  const priceBook = loadPriceBook(paths.priceBook);
  return {
    priceBook,
    catalog: loadCatalog(paths.catalog, priceBook.content),
    states: loadNotarizationStates(paths.states),
    zip3: loadZip3Areas(paths.zip3),
  };
}

export function createPricing(files: PricingFiles): Pricing {
  const book = files.priceBook.content;
  const table = zoneTable({ areas: files.zip3.content, postage: book.postage });
  const rows = new Map(files.catalog.content.map((row) => [row.slug, row]));
  const blocked = new Set(files.states.content.notRecognized);
  const catalogRow = (slug: string) => rows.get(slug) ?? null;
  const parcelOf: Pricing["parcelOf"] = (pages, from, to) => ({
    from: senderOf(from, book.business),
    to,
    weightGrams: weightGrams(pages, book.postage),
  });
  return {
    priceBook: files.priceBook,
    catalog: files.catalog.content,
    catalogRow,
    notarizationBlocked: (state) => blocked.has(state.toUpperCase()),
    parcelOf,
    stateOfZip: (postal) => stateOfZip(files.zip3.content, postal),
    async price({ tier, services, docSlug, pages, shipMethod, shipTo, shipFrom, askCarriers }) {
      const method = shipMethod ?? "label";
      const parcel = services.ship && shipTo ? parcelOf(pages, shipFrom, shipTo) : null;
      const carrierRate = (parcel && (await askCarriers?.(parcel))) ?? null;
      const rate = carrierRate ?? (parcel && table.rate(parcel));
      const row = docSlug === null ? null : catalogRow(docSlug);
      return {
        outcome: services.ship && !rate ? "noCarrierRate" : "quoted",
        quote: quote({ book, tier, services, catalogRow: row, shipMethod: method, postage: rate }),
        carrierRate,
      };
    },
  };
}

/** The version number of a price book's content. Content that the database doesn't have yet gets a new number. */
async function priceBookVersion(db: Sql, book: { sha256: string; content: object }): Promise<number> {
  const [row] = await db.query<{ version: number }>(sql`
    WITH added AS (
      INSERT INTO price_books (sha256, content) VALUES (${book.sha256}, ${book.content})
      ON CONFLICT (sha256) DO NOTHING RETURNING version
    )
    SELECT version FROM added UNION ALL SELECT version FROM price_books WHERE sha256 = ${book.sha256}`);
  // The statement finds nothing and inserts nothing only if another node has just added the same content. The next
  // attempt finds it.
  return row?.version ?? priceBookVersion(db, book);
}

/** Pricing, with the version number that the database has for the price book and catalog. */
export type VersionedPricing = Pricing & { priceBookVersion: number };

const variables = { priceBook: "PRICE_BOOK", catalog: "CATALOG" } as const;

/**
 * Reads the data files. An operator's file that cannot be read is a configuration error, so the error names the
 * environment variable that contains its path. The files that come with the service have no variable.
 */
function readFiles(paths: Record<keyof PricingFiles, string>): PricingFiles {
  try {
    return loadPricingFiles(paths);
  } catch (error) {
    if (!(error instanceof DataFileError) || error.line > 0) throw error;
    const variable = (["priceBook", "catalog"] as const).find((name) => paths[name] === error.file);
    if (!variable) throw error;
    throw new StartupError(`${variables[variable]} must be a file that can be read: ${error.message}`);
  }
}

/**
 * Reads the files of prices, and assigns their content its version number in the database.
 * @throws StartupError with one line that names the variable or the file, the line, the field and the rule
 */
export async function openPricing(sql: Sql, paths: Record<keyof PricingFiles, string>): Promise<VersionedPricing> {
  const files = readFiles(paths);
  // The add-ons in the catalog also change quotes. So the version covers the price book and the catalog.
  const content = { priceBook: files.priceBook.content, catalog: files.catalog.content };
  const version = await priceBookVersion(sql, dataFile(content));
  return { ...createPricing(files), priceBookVersion: version };
}

const maxPages = 10_000;

/** The typed texts of a price inquiry, before a document exists. An empty text means that nothing was typed. */
type EstimateQuestion = {
  pages: string;
  docSlug: string;
  services: BoughtServices;
  shipMethod: string;
  shipPostal: string;
  shipState: string;
};

/** `isWhole`: the quote is complete. Otherwise a person prices the postage after the order was placed. */
type Estimate = { errors: readonly string[] } | { isWhole: boolean; quote: Quote };

/**
 * The price of a document that is not uploaded yet. Carriers are not asked, so an order's postage can differ. A price
 * at which an order is refused is an error.
 * @param names the names of the fields, and how a document is named, for the errors
 */
export async function estimate(
  pricing: Pricing,
  tier: Tier,
  { pages, docSlug, services, shipMethod: method, shipPostal, shipState }: EstimateQuestion,
  names: Readonly<Record<"pages" | "docSlug" | "shipMethod" | "shipPostal" | "shipState", string>> & {
    readonly documentOf: (row: CatalogRow) => string;
  },
): Promise<Estimate> {
  const postal = shipPostal.trim();
  const state = usStateOf(shipState);
  const count = wholeNumberIn(pages.trim(), 0, maxPages) ?? 0;
  const errors = [
    ...(count >= 1 && count <= maxPages ? [] : [`${names.pages} must be a whole number from 1 to ${maxPages}.`]),
    ...(docSlug === "" || pricing.catalogRow(docSlug) ? [] : [`${names.docSlug} must be a document of the catalog.`]),
    ...(method === "label" || method === "print_mail" ? [] : [`${names.shipMethod} must be label or print_mail.`]),
    ...(services.ship && !isZipCode(postal) ? [`${names.shipPostal} must be a US ZIP code: 5 digits, or ZIP+4.`] : []),
    ...(services.ship && state === null ? [`${names.shipState} must be a US state of exactly 2 characters.`] : []),
  ];
  if (errors.length > 0) return { errors };
  const to = { name: "", line1: "", line2: null, city: "", state: state ?? "", postal };
  const { outcome, quote } = await pricing.price({
    tier,
    services,
    docSlug: docSlug === "" ? null : docSlug,
    pages: count,
    shipFrom: null,
    askCarriers: null,
    shipMethod: method === "print_mail" ? "print_mail" : "label",
    shipTo: services.ship ? to : null,
  });
  const isWhole = outcome === "quoted";
  const row = pricing.catalogRow(docSlug);
  const unpayable = isWhole ? unpayableReason(quote, names.docSlug, row && names.documentOf(row)) : null;
  return unpayable === null ? { isWhole, quote } : { errors: [unpayable] };
}

/**
 * The reason why an order at this price is refused: an unpaid order never begins. The text names the document and its
 * discount, or the price. Null for a price that can be paid.
 * @param field the name of the field that selects the document
 */
export function unpayableReason({ lines, totalCents }: Quote, field: string, document: string | null): string | null {
  if (canBePaid(totalCents)) return null;
  const discount = lines.find(({ type }) => type === "Discount");
  const price = `${dollars(totalCents)}, and a payment must be at least ${dollars(minPaymentCents)}.`;
  return discount
    ? `${field} must not be ${document} with these services: with its discount “${discount.label}”, they cost ${price}`
    : `The price of this order is ${price}`;
}
