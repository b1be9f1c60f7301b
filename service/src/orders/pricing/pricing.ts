/** Pricing: the price book, the document catalog, postage, and the US states where remote notarization is refused. */
export type { CatalogRow } from "./catalog.ts";
export {
  createPricing,
  estimate,
  loadPricingFiles,
  openPricing,
  type Priced,
  type PriceRequest,
  type Pricing,
  unpayableReason,
  type VersionedPricing,
} from "./create-pricing.ts";
export { fail, fields, list, members, type Place, parseDataFile, readDataFile } from "./data-file.ts";
export { boolean, integer, matching, oneOf, text } from "./data-values.ts";
export { feeLabels, type LineType } from "./line-types.ts";
export type { AskCarriers, CarrierRate, Parcel, ShipMethod } from "./postage.ts";
export type { PriceBook } from "./price-book.ts";
export type { BoughtServices, OrderLine } from "./quote.ts";
export { senderOf } from "./sender-address.ts";
export { type Address, areNeighbors, isUsState, isZipCode, usStateOf, usStates } from "./us-states.ts";
