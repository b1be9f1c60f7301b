import type { PostageTable } from "./price-book.ts";
import type { Address } from "./us-states.ts";

/** `label`: a prepaid carrier label. `print_mail`: the service prints and mails the document. */
export type ShipMethod = "label" | "print_mail";

export type Parcel = { from: Address; to: Address; weightGrams: number };

/** `zone` is the carrier's distance zone, 1 to 8; null when the carrier has no zones. */
export type PostageRate = { amountCents: number; carrier: string; service: string; zone: number | null };

/** A rate from a carrier, with the ids needed to buy the label later. */
export type CarrierRate = PostageRate & {
  shipmentId: string;
  /** The reason why the carrier calls the address undeliverable; null for a deliverable address. */
  addressProblem: string | null;
};

/** Asks carriers for their rate. Never rejects; null when none answers in time with a rate. */
export type AskCarriers = (parcel: Parcel) => Promise<CarrierRate | null>;

/** The weight of a document in its envelope, in whole grams, rounded up. Each page is one sheet. */
export function weightGrams(pages: number, { sheetGrams, envelopeGrams }: PostageTable): number {
  // Rounds to milligrams first, because a floating-point sum may be slightly above a whole gram.
  return Math.ceil(Math.round((envelopeGrams + pages * sheetGrams) * 1000) / 1000);
}
