import type { Taker } from "../fulfilment/fulfilment.ts";
import type { Blobs } from "../platform/blobs/blobs.ts";
import type { Clock } from "../platform/clock.ts";
import type { Database } from "../platform/database/database.ts";
import type { Jobs } from "../platform/jobs/jobs.ts";
import type { Log } from "../platform/logs.ts";
import type { RowMac } from "../platform/row-mac.ts";
import type { Providers } from "../providers/providers.ts";
import type { Receipts } from "../receipts/receipts.ts";

export type ShippingDeps = {
  db: Database;
  clock: Clock;
  log: Log;
  blobs: Blobs;
  rowMac: RowMac;
  providers: Providers;
  receipts: Receipts;
  baseUrl: string;
  /** How labels are bought; null without an account. */
  easypost: { rateTolerance: number } | null;
  /** How letters are mailed; null without an account. */
  lob: { mailClass: "standard" | "certified" | "certified_return_receipt" } | null;
};

/** Sets the acts, the handlers of events and the jobs of labels and letters. @returns who takes orders on */
export function openShipping(_jobs: Jobs, _deps: ShippingDeps): Taker[] {
  return [];
}
