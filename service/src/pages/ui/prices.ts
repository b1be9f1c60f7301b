/** The price book for people: the public page of prices, and the same page with a firm's discount. */
import type { PriceBook } from "../../orders/pricing/pricing.ts";
import { feeLabels } from "../../orders/pricing/pricing.ts";
import { card, moneyRows } from "./components.ts";
import { money } from "./format.ts";
import { type Html, html } from "./render.ts";

type Fee = keyof PriceBook["fees"];

const perPiece: readonly Fee[] = [
  "RushFee",
  "ExtraSignerFee",
  "ExtraSealFee",
  "WitnessFee",
  "ScanbackFee",
  "StorageFee",
  "ServiceAdjustment",
];

/**
 * The content of the page of prices.
 * @param tier the firm's tier, whose discount is shown; null shows the discounts of all tiers
 */
export function pricesBody(book: PriceBook, tier: keyof PriceBook["tierDiscountBasisPoints"] | null): Html {
  const rows = (fees: readonly Fee[]) =>
    moneyRows(
      "US dollars",
      fees.map((fee) => [feeLabels[fee], money(book.fees[fee])] as const),
    );
  return html`<p class="lead">A quote lists each of these lines before anybody pays, and an order keeps the prices of its quote.</p>
<div class="stack">
${card("each-order", "Every order", html`${rows(["WorkflowFee"])}<p class="quiet">Electronic signing is included for every signer.</p>${tier === null ? discounts(book) : ownDiscount(book, tier)}`)}
${card("online-notarization", "Online notarization", html`${rows(["NotaryFee", "TechFee"])}<p class="quiet">Both are charged for each document that is notarized online.</p>`)}
${card(
  "shipping",
  "Shipping",
  html`${rows(["ShippingHandlingFee", "PrintMailFee"])}<p class="quiet">One of the two: handling of a parcel with a prepaid label, or a letter that we print and mail. The postage comes on top, unchanged.</p>
${postage(book)}`,
)}
${card("fax", "Fax", rows(["FaxFee"]))}
${card("pieces", "What some documents need", html`${rows(perPiece)}<p class="quiet">For each piece. The order form says which documents need how many.</p>`)}
</div>`;
}

const percent = (basisPoints: number): string => `${basisPoints / 100}%`;

const discounts = ({ tierDiscountBasisPoints }: PriceBook): Html =>
  html`<h3>Discounts for firms</h3>${moneyRows(
    `Off “${feeLabels.WorkflowFee}”`,
    Object.entries(tierDiscountBasisPoints).map(([tier, points]) => [tierName(tier), percent(points)] as const),
  )}<p class="quiet">The operator of this service decides on the tier of a firm.</p>`;

function ownDiscount(book: PriceBook, tier: keyof PriceBook["tierDiscountBasisPoints"]): Html {
  const points = book.tierDiscountBasisPoints[tier];
  const fee = book.fees.WorkflowFee;
  // Half a cent of discount is rounded up, as in quotes.
  const off = Math.floor((fee * points + 5000) / 10_000);
  return points === 0
    ? html`<p>Your firm has no discount: its tier is “${tierName(tier)}”.</p>`
    : html`<p>Your firm’s tier, “${tierName(tier)}”, takes ${percent(points)} off: <strong>${money(fee - off)}</strong> in place of ${money(fee)}.</p>`;
}

/** A tier's name in words: `ClosingDesk` is “Closing Desk”. */
const tierName = (tier: string): string =>
  tier.replace(/([a-z])([A-Z])/g, "$1 $2").replace(/^[a-z]/, (first) => first.toUpperCase());

function postage({ postage: { carrier, service, sheetGrams, envelopeGrams, steps }, business }: PriceBook): Html {
  const zones = steps[0]?.zoneCents.map((_, zone) => zone + 1) ?? [];
  return html`<h3>Postage: ${carrier} ${service}</h3>
<div class="wide-table" tabindex="0"><table class="numbers"><caption>By weight, and by distance in the carrier’s zones</caption>
<thead><tr><th scope="col">Up to</th>${zones.map((zone) => html`<th scope="col">Zone ${zone}</th>`)}</tr></thead>
<tbody>${steps.map(({ upToGrams, zoneCents }) => html`<tr><th scope="row">${upToGrams} g</th>${zoneCents.map((cents) => html`<td>${money(cents)}</td>`)}</tr>`)}</tbody></table></div>
<p class="quiet">The weight is that of the envelope, ${envelopeGrams} g, and of a sheet for each page, ${sheetGrams} g.
The zone is the distance to the recipient from the order’s own sender, else from ${business.city}, ${business.state}.
Where the carrier names its own rate for a parcel, the quote has that rate.
A parcel that is too heavy for the table, and one outside of the fifty states and DC, waits for a price by hand.</p>`;
}
