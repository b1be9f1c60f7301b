import { type Env, read } from "./read.ts";

/** The texts of public pages that only the operator can write; null for a text that is not published. */
export type SiteTexts<T> = Readonly<Record<"privacy" | "terms" | "contact", T | null>>;

/** The paths of the data files that contain the service's rules. */
export type DataFiles = {
  priceFiles: { priceBook: string; catalog: string; states: string; zip3: string };
  /** The file that describes the issuer of receipts, credit notes and statements: the operator's business. */
  billing: string;
  /** The file with the limits that apply to firms. */
  limits: string;
  /** The file with the retention plan: when documents are deleted. */
  retention: string;
  /** The file with the rules for where a notary may act. */
  notaryRules: string;
  /** The file with the steps of each kind of notarial act. */
  notaryScripts: string;
  /** The files with the operator's own texts, which the public pages show; null for a text that is not published. */
  texts: SiteTexts<string>;
};

/** The paths of the data files: the operator's own, or else those that are shipped. */
export function dataFilesFrom(env: Env, path: (text: string) => string, shipped: (name: string) => string): DataFiles {
  return {
    priceFiles: {
      priceBook: read(env, "PRICE_BOOK", shipped("price-book.yaml"), "a file", path),
      catalog: read(env, "CATALOG", shipped("catalog.yaml"), "a file", path),
      states: shipped("notarization-states.yaml"),
      zip3: shipped("zip3.yaml"),
    },
    billing: read(env, "BILLING", shipped("billing.yaml"), "a file", path),
    limits: read(env, "LIMITS", shipped("limits.yaml"), "a file", path),
    retention: read(env, "RETENTION", shipped("retention.yaml"), "a file", path),
    notaryRules: read(env, "NOTARY_RULES", shipped("notarization-rules.yaml"), "a file", path),
    notaryScripts: read(env, "NOTARY_SCRIPTS", shipped("notarial-scripts.yaml"), "a file", path),
    texts: {
      privacy: read<string | null>(env, "PRIVACY_TEXT", null, "a Markdown file", path),
      terms: read<string | null>(env, "TERMS_TEXT", null, "a Markdown file", path),
      contact: read<string | null>(env, "CONTACT_TEXT", null, "a Markdown file", path),
    },
  };
}
