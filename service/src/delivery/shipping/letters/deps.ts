import type { Blobs } from "../../../kernel/platform/blobs/blobs.ts";
import type { Clock } from "../../../kernel/platform/clock.ts";
import type { Database } from "../../../kernel/platform/database/database.ts";
import type { Log } from "../../../kernel/platform/logs.ts";
import type { RowMac } from "../../../kernel/platform/row-mac.ts";
import type { Workers } from "../../../kernel/platform/workers/task.ts";
import type { Address } from "../../../orders/pricing/pricing.ts";
import type { MailClass, Providers } from "../../../providers/providers.ts";

export type LetterDeps = {
  db: Database;
  clock: Clock;
  log: Log;
  blobs: Blobs;
  rowMac: RowMac;
  providers: Providers;
  planning: {
    workers: Workers;
    /** The mail class that letters are sent with at Lob; null without an account. */
    mailClass: MailClass | null;
    /** The address printed as the sender when the order names no sender. */
    business: Address;
  };
};

/** The actor in the audit log for changes that Lob causes. */
export const actor = "provider:lob";

/** The queue of orders whose document is mailed as a letter; payload `{orderId}`. */
export const mailQueue = "mail-letter";

/** The queue of letters whose state is polled at Lob; payload `{letterId}`. */
export const pollQueue = "poll-letter";
