import type { Tier } from "../partners/partners.ts";
import { type CatalogRow, loadCatalog } from "./catalog.ts";
import type { DataFile } from "./data-file.ts";
import { loadNotarizationStates, type NotarizationStates } from "./notarization-states.ts";
import { type AskCarriers, type CarrierRate, type Parcel, type ShipMethod, weightGrams } from "./postage.ts";
import { loadPriceBook, type PriceBook } from "./price-book.ts";
import { type BoughtServices, type Quote, quote } from "./quote.ts";
import type { Address } from "./us-states.ts";
import { loadZip3Areas, type Zip3Area } from "./zip3.ts";
import { zoneTable } from "./zone-table.ts";

export type PricingFiles = {
  priceBook: DataFile<PriceBook>;
  catalog: DataFile<CatalogRow[]>;
  states: DataFile<NotarizationStates>;
  zip3: DataFile<Zip3Area[]>;
};

/** What is priced. `shipTo` is needed when shipping; without `shipFrom` the parcel leaves the business address. */
export type PriceRequest = {
  tier: Tier;
  services: BoughtServices;
  docSlug: string | null;
  pages: number;
  shipMethod: ShipMethod | null;
  shipTo: Address | null;
  shipFrom: Address | null;
  /** Asked first for postage; without an answer, or null, the zone table is. */
  askCarriers: AskCarriers | null;
};

/**
 * `noCarrierRate`: a person has to price it; the quote then lacks the postage line. `carrierRate`: what a carrier itself named for
 * that line.
 */
export type Priced = { outcome: "quoted" | "noCarrierRate"; quote: Quote; carrierRate: CarrierRate | null };

export type Pricing = {
  priceBook: DataFile<PriceBook>;
  /** The documents of the catalog, in its order. */
  catalog: readonly CatalogRow[];
  /** The catalog's document of that slug, or null. */
  catalogRow: (slug: string) => CatalogRow | null;
  /** True when a signer in that state (two letters, any case) may not be notarized remotely. */
  notarizationBlocked: (state: string) => boolean;
  price: (request: PriceRequest) => Promise<Priced>;
  /** What is sent to a carrier for a document of so many pages. Without a sender it leaves the business address. */
  parcelOf: (pages: number, from: Address | null, to: Address) => Parcel;
};

/**
 * Reads and checks all data files of the prices.
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
    from: from ?? book.business,
    to,
    weightGrams: weightGrams(pages, book.postage),
  });
  return {
    priceBook: files.priceBook,
    catalog: files.catalog.content,
    catalogRow,
    notarizationBlocked: (state) => blocked.has(state.toUpperCase()),
    parcelOf,
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
