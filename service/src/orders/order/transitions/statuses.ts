/** Order status names (contract, States and transitions). */
export const orderStatuses = [
  "Created",
  "QuoteReady",
  "AwaitingPayment",
  "Paid",
  "EsignPending",
  "EsignComplete",
  "NotarizationPending",
  "NotarizationComplete",
  "ShippingPending",
  "Shipped",
  "Delivered",
  "FaxPending",
  "FaxSent",
  "FaxDelivered",
  "Completed",
  "PaymentFailed",
  "EsignDeclined",
  "EsignExpired",
  "NotarizationFailed",
  "IdentityLocked",
  "ManualQuoteRequired",
  "OnHold",
  "ShippingFailed",
  "RefundPending",
  "Refunded",
  "Cancelled",
  "FaxFailed",
] as const;

export type OrderStatus = (typeof orderStatuses)[number];

/** The status of an order's envelope (contract, `envelopeStatus`). */
export type EnvelopeStatus =
  | "Created"
  | "Sent"
  | "Viewed"
  | "PartiallySigned"
  | "Completed"
  | "Declined"
  | "Expired"
  | "Voided";

export const statusLabels: Readonly<Record<OrderStatus, string>> = {
  Created: "Received",
  QuoteReady: "Ready to pay",
  AwaitingPayment: "Awaiting payment",
  Paid: "Paid",
  EsignPending: "Out for signature",
  EsignComplete: "Signed",
  NotarizationPending: "With the notary",
  NotarizationComplete: "Notarized",
  ShippingPending: "Preparing shipment",
  Shipped: "Shipped",
  Delivered: "Delivered",
  FaxPending: "Preparing fax",
  FaxSent: "Fax sent",
  FaxDelivered: "Fax delivered",
  Completed: "Complete",
  PaymentFailed: "Payment failed",
  EsignDeclined: "Signing stopped",
  EsignExpired: "Signing expired",
  NotarizationFailed: "Not notarized",
  IdentityLocked: "Identity not confirmed",
  ManualQuoteRequired: "Being priced",
  OnHold: "On hold",
  ShippingFailed: "Shipment failed",
  RefundPending: "Refund on its way",
  Refunded: "Refunded",
  Cancelled: "Canceled",
  FaxFailed: "Fax failed",
};

/**
 * The short English label of a status, for pages, mails and certificates. A status that only a newer release knows is
 * shown by its name.
 */
export const statusLabel = (status: string): string =>
  Object.hasOwn(statusLabels, status) ? statusLabels[status as OrderStatus] : status;
