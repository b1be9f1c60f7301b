import type { Tier } from "../../firms/partners/partners.ts";
import type { CatalogRow } from "./catalog.ts";
import { type AddOnType, type FeeType, feeLabels, type LineType, lineTypes } from "./line-types.ts";
import type { PostageRate, ShipMethod } from "./postage.ts";
import type { PriceBook } from "./price-book.ts";

/** A line of a quote. The amount is in US cents, and negative for a discount. */
export type OrderLine = { type: LineType; label: string; amountCents: number };

/**
 * `subtotalCents` is the sum of the lines. `totalCents` is `subtotalCents` minus `discountCents`, and never negative.
 */
export type Quote = { lines: OrderLine[]; subtotalCents: number; discountCents: number; totalCents: number };

/** The bought services. The catalog row decides about signing and notarization, whatever the order form requested. */
export type BoughtServices = { sign: boolean; notarize: boolean; ship: boolean; fax: boolean };

export type QuoteInput = {
  book: PriceBook;
  tier: Tier;
  services: BoughtServices;
  catalogRow?: CatalogRow | null;
  shipMethod: ShipMethod;
  /**
   * The carrier's rate or the zone table's. Without it, an order to be shipped has no postage line and is not fully
   * priced.
   */
  postage?: PostageRate | null;
};

/**
 * Prices an order. The lines are sorted by type, in the sequence of `lineTypes`. The tier's discount applies only to the workflow
 * fee, is rounded half up to a cent, and has no line of its own. A discount code never subtracts more than the sum of
 * the lines before it.
 */
export function quote({ book, tier, services, catalogRow = null, shipMethod, postage = null }: QuoteInput): Quote {
  const notarize = catalogRow ? catalogRow.notarize : services.notarize;
  const { WorkflowFee } = book.fees;
  const charges = [fee(book, "WorkflowFee")];
  if (notarize) charges.push(fee(book, "NotaryFee"), fee(book, "TechFee"));
  for (const addOn of catalogRow?.addOns ?? []) charges.push(addOnLine(book, addOn.type, addOn.quantity, addOn.label));
  if (services.ship) {
    if (postage) charges.push(postageLine(postage));
    charges.push(fee(book, shipMethod === "print_mail" ? "PrintMailFee" : "ShippingHandlingFee"));
  }
  if (services.fax) charges.push(fee(book, "FaxFee"));
  charges.sort((a, b) => lineTypes.indexOf(a.type) - lineTypes.indexOf(b.type));

  const chargedCents = sum(charges);
  const lines = [...charges, ...discountLines(book, catalogRow, chargedCents)];
  const subtotalCents = sum(lines);
  const tierDiscount = shareHalfUp(WorkflowFee, book.tierDiscountBasisPoints[tier]);
  const discountCents = Math.min(tierDiscount, subtotalCents);
  return { lines, subtotalCents, discountCents, totalCents: subtotalCents - discountCents };
}

function fee(book: PriceBook, type: FeeType): OrderLine {
  return { type, label: feeLabels[type], amountCents: book.fees[type] };
}

function addOnLine(book: PriceBook, type: AddOnType, quantity: number, label: string | null): OrderLine {
  const name = label ?? feeLabels[type];
  return { type, label: quantity === 1 ? name : `${name} x ${quantity}`, amountCents: book.fees[type] * quantity };
}

function postageLine({ carrier, service, zone, amountCents }: PostageRate): OrderLine {
  const label = `${carrier} ${service} postage${zone === null ? "" : `, zone ${zone}`}`;
  return { type: "ShippingCarrierRate", label, amountCents };
}

function discountLines(book: PriceBook, row: CatalogRow | null, chargedCents: number): OrderLine[] {
  const code = row?.discountCode ? book.discountCodes[row.discountCode] : undefined;
  if (!code) return [];
  const off =
    "amountCents" in code ? code.amountCents : shareHalfUp(book.fees.WorkflowFee, code.workflowFeeBasisPoints);
  const amountCents = Math.min(off, chargedCents);
  return amountCents === 0 ? [] : [{ type: "Discount", label: code.label, amountCents: -amountCents }];
}

function sum(lines: readonly OrderLine[]): number {
  return lines.reduce((total, line) => total + line.amountCents, 0);
}

/**
 * A share of an amount in cents, rounded half up with integer arithmetic. `basisPoints` are hundredths of a percent.
 */
function shareHalfUp(amountCents: number, basisPoints: number): number {
  return Math.floor((amountCents * basisPoints + 5000) / 10_000);
}
