import type { Address } from "../../pricing/pricing.ts";
import type { MailClass } from "../../providers/providers.ts";
import type { ShippingDeps } from "../deps.ts";

/** What letters work with. */
export type LetterDeps = Omit<ShippingDeps, "pricing" | "lob" | "easypost" | "baseUrl" | "fetch"> & {
  /** Of what class letters are; null without an account. */
  mailClass: MailClass | null;
  /** Whom letters are from that name no sender of their own. */
  business: Address;
};

/** Who moves orders by what Lob does and says. */
export const actor = "provider:lob";

/** The queue of orders whose document is to be mailed; payload `{orderId}`. */
export const mailQueue = "mail-letter";

/** The queue of letters to ask Lob about; payload `{letterId}`. */
export const pollQueue = "poll-letter";
