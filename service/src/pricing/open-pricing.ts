import type { Sql } from "../platform/database.ts";
import { createPricing, loadPricingFiles, type Pricing, type PricingFiles } from "./pricing.ts";
import { priceBookVersion } from "./store.ts";

/** Prices, and the version under which the database knows their price book. */
export type VersionedPricing = Pricing & { priceBookVersion: number };

/** @throws DataFileError with one line that names the file, the line, the field and the rule. */
export async function openPricing(sql: Sql, paths: Record<keyof PricingFiles, string>): Promise<VersionedPricing> {
  const files = loadPricingFiles(paths);
  return { ...createPricing(files), priceBookVersion: await priceBookVersion(sql, files.priceBook) };
}
