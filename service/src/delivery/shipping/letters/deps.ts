import type { Address } from "../../../orders/pricing/pricing.ts";
import type { MailClass } from "../../../providers/providers.ts";
import type { ShippingDeps } from "../deps.ts";

export type LetterDeps = Omit<ShippingDeps, "pricing" | "lob" | "easypost" | "baseUrl" | "fetch"> & {
  /** The class of letters; null without an account. */
  mailClass: MailClass | null;
  /** The sender of letters whose order names none. */
  business: Address;
};

/** The actor of moves caused by Lob, for the audit log. */
export const actor = "provider:lob";

/** The queue of documents to mail; payload `{orderId}`. */
export const mailQueue = "mail-letter";

/** The queue of letters to poll; payload `{letterId}`. */
export const pollQueue = "poll-letter";
