import type { OrderStatus } from "./statuses.ts";

/** The groups into which the contract puts statuses (Closing room, order card). */
export const statusGroups = [
  "open",
  "signing",
  "signed",
  "notarizing",
  "notarized",
  "shipping",
  "shipped",
  "delivered",
  "complete",
  "attention",
] as const;

export type StatusGroup = (typeof statusGroups)[number];

const groups: Readonly<Record<OrderStatus, StatusGroup>> = {
  Created: "open",
  QuoteReady: "open",
  AwaitingPayment: "open",
  Paid: "open",
  EsignPending: "signing",
  EsignComplete: "signed",
  NotarizationPending: "notarizing",
  NotarizationComplete: "notarized",
  ShippingPending: "shipping",
  Shipped: "shipped",
  Delivered: "delivered",
  FaxPending: "shipping",
  FaxSent: "shipped",
  FaxDelivered: "delivered",
  Completed: "complete",
  PaymentFailed: "attention",
  EsignDeclined: "attention",
  EsignExpired: "attention",
  NotarizationFailed: "attention",
  IdentityLocked: "attention",
  ManualQuoteRequired: "attention",
  OnHold: "attention",
  ShippingFailed: "attention",
  RefundPending: "attention",
  Refunded: "attention",
  Cancelled: "attention",
  FaxFailed: "attention",
};

const byName: ReadonlyMap<string, StatusGroup> = new Map(Object.entries(groups));

/**
 * The group of a raw status. A status that this release doesn't know is `open`, so that it never counts as complete.
 */
export const statusGroupOf = (status: string): StatusGroup => byName.get(status) ?? "open";

const paid: ReadonlySet<string> = new Set<OrderStatus>([
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
  "EsignDeclined",
  "EsignExpired",
  "NotarizationFailed",
  "IdentityLocked",
  "ShippingFailed",
  "FaxFailed",
  "RefundPending",
  "Refunded",
]);

/**
 * True if the order was paid in full, whatever happened afterwards. An order on hold was paid if its status before the
 * hold says so. In RefundPending or Refunded, also true if a wrong sum was paid. A status that this release doesn't
 * know is treated as unpaid.
 */
export const wasPaid = (status: string, statusBeforeHold: string | null): boolean =>
  paid.has(status === "OnHold" ? (statusBeforeHold ?? "") : status);
