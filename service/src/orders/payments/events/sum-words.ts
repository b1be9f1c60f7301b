/** Sums of payments in words, for the pages of firms and operators. */
import { dollars } from "../../dollars.ts";
import type { SessionMessage } from "../processor/message.ts";

/** Names the sum that arrived and the requested sum, for the pages of firms and operators. */
export const wrongSum = (paid: Pick<SessionMessage, "amount" | "currency">, askedCents: number): string =>
  `${paid.amount === null ? "An unknown sum" : sumText(paid.amount, paid.currency)} was paid, and ${dollars(askedCents)} was asked for`;

/** A sum in any currency. The smallest unit is not a hundredth in all of them. */
export const sumText = (amount: number, currency: string | null): string =>
  currency?.toLowerCase() === "usd" ? dollars(amount) : `${amount} (${currency ?? "no currency"}, smallest unit)`;

/** The end of a sentence about an order for which a wrong sum arrived. */
export const untilDecided = "until the operator of this service has decided about the money";
