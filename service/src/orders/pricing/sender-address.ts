import type { Address } from "./us-states.ts";

/** The address on a label or a letter as the sender: the order's own, or the business address if the order has none. */
export const senderOf = (shipFrom: Address | null, business: Address): Address => shipFrom ?? business;
