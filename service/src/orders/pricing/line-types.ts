/** The line types of the contract, in the order in which a quote lists them. */
export const lineTypes = [
  "WorkflowFee",
  "NotaryFee",
  "TechFee",
  "RushFee",
  "ExtraSignerFee",
  "ExtraSealFee",
  "WitnessFee",
  "ScanbackFee",
  "StorageFee",
  "ShippingCarrierRate",
  "ShippingHandlingFee",
  "PrintMailFee",
  "FaxFee",
  "ServiceAdjustment",
  "Discount",
] as const;

export type LineType = (typeof lineTypes)[number];

/** The add-ons that a catalog document may have. The price book states the amount for one piece of each. */
export const addOnTypes = [
  "RushFee",
  "ExtraSignerFee",
  "ExtraSealFee",
  "WitnessFee",
  "ScanbackFee",
  "StorageFee",
  "ServiceAdjustment",
] as const satisfies readonly LineType[];

export type AddOnType = (typeof addOnTypes)[number];

/** The line types for which the price book states one amount. Postage has a table instead, and discounts have codes. */
export const feeTypes = [
  "WorkflowFee",
  "NotaryFee",
  "TechFee",
  ...addOnTypes,
  "ShippingHandlingFee",
  "PrintMailFee",
  "FaxFee",
] as const satisfies readonly LineType[];

export type FeeType = (typeof feeTypes)[number];

/** The usual label of each line type on a quote. */
export const feeLabels: Readonly<Record<FeeType, string>> = {
  WorkflowFee: "Document workflow",
  NotaryFee: "Online notarization",
  TechFee: "Notarization technology",
  RushFee: "Rush handling",
  ExtraSignerFee: "Additional signer",
  ExtraSealFee: "Additional notary seal",
  WitnessFee: "Witness",
  ScanbackFee: "Scan of the signed document",
  StorageFee: "Extended storage",
  ServiceAdjustment: "Service adjustment",
  ShippingHandlingFee: "Shipping handling",
  PrintMailFee: "Print and mail",
  FaxFee: "Sealed fax delivery",
};
