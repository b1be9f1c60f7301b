import type { Sql } from "../platform/database.ts";
import { dataFile } from "./data-file.ts";
import { createPricing, loadPricingFiles, type Pricing, type PricingFiles } from "./pricing.ts";
import { priceBookVersion } from "./store.ts";

/** Prices, and the version under which the database knows their price book. */
export type VersionedPricing = Pricing & { priceBookVersion: number };

/** @throws DataFileError with one line that names the file, the line, the field and the rule. */
export async function openPricing(sql: Sql, paths: Record<keyof PricingFiles, string>): Promise<VersionedPricing> {
  const files = loadPricingFiles(paths);
  // The catalog says what is added to a quote, so the version that priced an order is that of both.
  const content = { priceBook: files.priceBook.content, catalog: files.catalog.content };
  const version = await priceBookVersion(sql, dataFile(content));
  return { ...createPricing(files), priceBookVersion: version };
}
