import type { EnvelopeDeps } from "../envelopes/envelopes.ts";
import type { Pricing } from "../pricing/pricing.ts";
import type { MailClass, Providers } from "../providers/providers.ts";
import type { Receipts } from "../receipts/receipts.ts";

/** What shipping works with. */
export type ShippingDeps = Pick<EnvelopeDeps, "db" | "clock" | "log" | "blobs" | "rowMac" | "workers" | "baseUrl"> & {
  pricing: Pick<Pricing, "priceBook">;
  providers: Providers;
  receipts: Receipts;
  /** How labels are bought; null without an account. */
  easypost: { rateTolerance: number } | null;
  /** How letters are mailed; null without an account. */
  lob: { mailClass: MailClass } | null;
};
