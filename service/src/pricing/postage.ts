import type { PostageTable } from "./price-book.ts";
import type { Address } from "./us-states.ts";

/** `label`: a prepaid carrier label; `print_mail`: the service prints and mails the document. */
export type ShipMethod = "label" | "print_mail";

export type Parcel = {
  from: Pick<Address, "state" | "postal">;
  to: Pick<Address, "state" | "postal">;
  weightGrams: number;
  method: ShipMethod;
};

/** `zone` is the carrier's distance zone, 1 to 8. */
export type PostageRate = { amountCents: number; carrier: string; service: string; zone: number };

/** What a carrier charges for a parcel: the zone table answers it offline, a live carrier over its API. */
export type PostageRates = {
  /** @returns null when the carrier quotes no rate for these addresses or this weight. */
  rate: (parcel: Parcel) => Promise<PostageRate | null>;
};

/** Whole grams, rounded up, of a document printed on one side of each sheet, in its envelope. */
export function weightGrams(pages: number, { sheetGrams, envelopeGrams }: PostageTable): number {
  // Whole milligrams first: the sum of decimals may lie a hair above a whole gram.
  return Math.ceil(Math.round((envelopeGrams + pages * sheetGrams) * 1000) / 1000);
}
