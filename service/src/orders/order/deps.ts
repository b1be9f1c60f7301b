import type { Environment } from "../../kernel/identity/identity.ts";
import type { Blobs } from "../../kernel/platform/blobs/blobs.ts";
import type { Clock } from "../../kernel/platform/clock.ts";
import type { Database } from "../../kernel/platform/database/database.ts";
import type { DocumentNames } from "../../kernel/platform/document-name.ts";
import type { Log } from "../../kernel/platform/logs.ts";
import type { RowMac } from "../../kernel/platform/row-mac.ts";
import type { AskCarriers, VersionedPricing } from "../pricing/pricing.ts";
import type { NotarySupply } from "./notary-supply.ts";
import type { Originals } from "./original.ts";

export type OrderDeps = {
  db: Database;
  clock: Clock;
  log: Log;
  blobs: Blobs;
  rowMac: RowMac;
  names: DocumentNames;
  originals: Originals;
  offer: Offer;
};

/** The services that this installation offers, and their prices. */
export type Offer = {
  pricing: VersionedPricing;
  /** Requests carriers' rates over the network; null when no account is configured. */
  askCarriers: AskCarriers | null;
  notaries: NotarySupply;
  /** Sends codes to signers by text message; null when this installation doesn't send any. */
  texts: {
    /** True if the service sends text messages to the country of this phone number. */
    reaches: (phone: string) => boolean;
  } | null;
  /**
   * Returns the checkout URL of a committed order; null when creating the checkout failed. It never rejects. The
   * function itself is null when payments are not configured.
   */
  checkoutUrlOf: ((orderCode: string) => Promise<string | null>) | null;
  /**
   * True if orders in this environment can be paid online. Test orders can't be paid through a live account of the
   * processor.
   */
  acceptsPayment: (environment: Environment) => boolean;
};
