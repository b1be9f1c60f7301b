import type { Fetch } from "../../kernel/platform/bounds/bounded-request.ts";
import type { Pricing } from "../../orders/pricing/pricing.ts";
import type { MailClass, Providers } from "../../providers/providers.ts";
import type { EnvelopeDeps } from "../../signing/envelopes/envelopes.ts";
import type { Receipts } from "../receipts/receipts.ts";

export type LabelSettings = {
  /** The API's address; label files may be there, or at any https address. */
  apiBase: string | null;
  /** How much a label's price may exceed the quote: 0.1 for a tenth. */
  rateTolerance: number;
};

export type ShippingDeps = Pick<EnvelopeDeps, "db" | "clock" | "log" | "blobs" | "rowMac" | "workers" | "baseUrl"> & {
  pricing: Pick<Pricing, "priceBook" | "parcelOf">;
  /** For addresses outside the providers' APIs. */
  fetch: Fetch;
  providers: Providers;
  receipts: Receipts;
  /** Null without an account. */
  easypost: LabelSettings | null;
  /** Null without an account. */
  lob: { mailClass: MailClass } | null;
};
