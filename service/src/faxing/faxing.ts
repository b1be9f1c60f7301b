import type { Taker } from "../fulfilment/fulfilment.ts";
import type { Blobs } from "../platform/blobs/blobs.ts";
import type { Clock } from "../platform/clock.ts";
import type { Database } from "../platform/database/database.ts";
import type { Jobs } from "../platform/jobs/jobs.ts";
import type { Log } from "../platform/logs.ts";
import type { RowMac } from "../platform/row-mac.ts";
import type { Providers } from "../providers/providers.ts";
import type { Receipts } from "../receipts/receipts.ts";

export type FaxingDeps = {
  db: Database;
  clock: Clock;
  log: Log;
  blobs: Blobs;
  rowMac: RowMac;
  providers: Providers;
  receipts: Receipts;
  baseUrl: string;
  /** From which application and number faxes are sent; null without an account. */
  telnyx: { faxApp: string | null; faxFrom: string | null } | null;
};

/** Sets the acts, the handlers of events and the jobs of faxes. @returns who takes orders on */
export function openFaxing(_jobs: Jobs, _deps: FaxingDeps): Taker[] {
  return [];
}
