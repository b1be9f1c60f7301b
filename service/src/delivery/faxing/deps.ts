import { type Clock, minuteMs } from "../../kernel/platform/clock.ts";
import type { Database } from "../../kernel/platform/database/database.ts";
import type { Log } from "../../kernel/platform/logs.ts";
import type { Providers } from "../../providers/providers.ts";
import type { PaperDeps } from "../paper/paper.ts";

export type FaxDeps = {
  db: Database;
  clock: Clock;
  log: Log;
  providers: Providers;
  /** The id of the fax application at Telnyx, and the sender's number; empty if not configured. */
  app: string;
  from: string;
  /** Reads an order's document. */
  paper: PaperDeps;
};

export { faxQueue } from "../../orders/order/order.ts";

/** The usual interval between checks of an order's faxes. Some checks are hourly (`retryLater`). */
export const pollMs = 2 * minuteMs;

/** The actor in the audit log for changes that Telnyx causes. */
export const actor = "provider:telnyx";
export const actName = "fax.send";
