import { type Env, read } from "./read.ts";

/** Files with the rules of the service. */
export type DataFiles = {
  priceFiles: { priceBook: string; catalog: string; states: string; zip3: string };
  /** The data file of the limits of firms. */
  limits: string;
  /** Data file of when documents are deleted. */
  retention: string;
  /** Data file of where notaries may act. */
  notaryRules: string;
  /** The steps of notarial acts. */
  notaryScripts: string;
};

/** The files of the operator's own, or those that are shipped. */
export function dataFilesFrom(env: Env, path: (text: string) => string, shipped: (name: string) => string): DataFiles {
  return {
    priceFiles: {
      priceBook: read(env, "PRICE_BOOK", shipped("price-book.yaml"), "a file", path),
      catalog: read(env, "CATALOG", shipped("catalog.yaml"), "a file", path),
      states: shipped("notarization-states.yaml"),
      zip3: shipped("zip3.yaml"),
    },
    limits: read(env, "LIMITS", shipped("limits.yaml"), "a file", path),
    retention: read(env, "RETENTION", shipped("retention.yaml"), "a file", path),
    notaryRules: read(env, "NOTARY_RULES", shipped("notarization-rules.yaml"), "a file", path),
    notaryScripts: read(env, "NOTARY_SCRIPTS", shipped("notarial-scripts.yaml"), "a file", path),
  };
}
