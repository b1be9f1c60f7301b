import type { EnvelopeDeps } from "../envelopes/envelopes.ts";
import type { Fetch } from "../platform/bounds/bounded-request.ts";
import type { Pricing } from "../pricing/pricing.ts";
import type { MailClass, Providers } from "../providers/providers.ts";
import type { Receipts } from "../receipts/receipts.ts";

export type LabelSettings = {
  /** Where the API is; labels may lie there, and else at any https address. */
  apiBase: string | null;
  /** By how much a label may be dearer than quoted: 0.1 for a tenth. */
  rateTolerance: number;
};

/** What shipping works with. */
export type ShippingDeps = Pick<EnvelopeDeps, "db" | "clock" | "log" | "blobs" | "rowMac" | "workers" | "baseUrl"> & {
  pricing: Pick<Pricing, "priceBook" | "parcelOf">;
  /** For what lies elsewhere than at a provider's API. */
  fetch: Fetch;
  providers: Providers;
  receipts: Receipts;
  /** How labels are bought; null without an account. */
  easypost: LabelSettings | null;
  /** How letters are mailed; null without an account. */
  lob: { mailClass: MailClass } | null;
};
