import type { Sql } from "../platform/database/database.ts";
import { StartupError } from "../platform/errors.ts";
import { createPricing, loadPricingFiles, type Pricing, type PricingFiles } from "./create-pricing.ts";
import { DataFileError, dataFile } from "./data-file.ts";
import { priceBookVersion } from "./store.ts";

/** Prices, and the version under which the database knows their price book. */
export type VersionedPricing = Pricing & { priceBookVersion: number };

const variables = { priceBook: "PRICE_BOOK", catalog: "CATALOG" } as const;

/** A file that cannot be read at all is a wrong setting: the line names its variable. */
function readFiles(paths: Record<keyof PricingFiles, string>): PricingFiles {
  try {
    return loadPricingFiles(paths);
  } catch (error) {
    if (!(error instanceof DataFileError) || error.line > 0) throw error;
    const variable = paths.catalog === error.file ? variables.catalog : variables.priceBook;
    throw new StartupError(`${variable} must be a file that can be read: ${error.message}`);
  }
}

/** @throws StartupError with one line: the variable, or the file, the line, the field and the rule. */
export async function openPricing(sql: Sql, paths: Record<keyof PricingFiles, string>): Promise<VersionedPricing> {
  const files = readFiles(paths);
  // The catalog says what is added to a quote, so the version that priced an order is that of both.
  const content = { priceBook: files.priceBook.content, catalog: files.catalog.content };
  const version = await priceBookVersion(sql, dataFile(content));
  return { ...createPricing(files), priceBookVersion: version };
}
