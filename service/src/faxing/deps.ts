import type { PaperDeps } from "../paper/paper.ts";
import type { Clock } from "../platform/clock.ts";
import type { Database } from "../platform/database/database.ts";
import type { Log } from "../platform/logs.ts";
import type { Providers } from "../providers/providers.ts";

/** What faxes are sent with. */
export type FaxDeps = {
  db: Database;
  clock: Clock;
  log: Log;
  providers: Providers;
  /** The fax application at Telnyx, and its number. */
  app: string;
  from: string;
  /** What reads an order's document. */
  paper: PaperDeps;
};

/** The queue that follows an order's faxes; payload `{orderId}`. */
export { faxQueue } from "../orders/orders.ts";

/** How long after one look at an order's faxes the next follows. */
export const pollMs = 2 * 60_000;

/** Who moves an order, for its record. */
export const actor = "provider:telnyx";
export const actName = "fax.send";
