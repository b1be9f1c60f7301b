import type { Blobs } from "../../../kernel/platform/blobs/blobs.ts";
import type { Fetch } from "../../../kernel/platform/bounds/bounded-request.ts";
import type { Clock } from "../../../kernel/platform/clock.ts";
import type { Database } from "../../../kernel/platform/database/database.ts";
import type { Log } from "../../../kernel/platform/logs.ts";
import type { RowMac } from "../../../kernel/platform/row-mac.ts";
import type { Pricing } from "../../../orders/pricing/pricing.ts";
import type { Providers } from "../../../providers/providers.ts";

export type LabelSettings = {
  /**
   * The base URL of EasyPost's API; null for the usual one. A label's file is downloaded only from the origin of this
   * URL or from an https URL.
   */
  apiBase: string | null;
  /** The share of the quote by which a label's price may exceed the quote: 0.1 for a tenth. */
  rateTolerance: number;
  /**
   * True if the payer can be asked for more money when postage to a corrected address costs more. If not, staff decide.
   */
  asksPayers: boolean;
};

export type LabelDeps = {
  db: Database;
  clock: Clock;
  log: Log;
  blobs: Blobs;
  rowMac: RowMac;
  pricing: Pick<Pricing, "priceBook" | "parcelOf">;
  providers: Providers;
  easypost: {
    /** The settings of the account at EasyPost; null without an account. */
    settings: LabelSettings | null;
    /** Fetches label files, which may be at another host than the API. */
    fetch: Fetch;
  };
};

/** The actor in the audit log for changes that EasyPost causes. */
export const easypostActor = "provider:easypost";
