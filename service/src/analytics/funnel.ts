import type { OrderStatus } from "../orders/orders.ts";

/** The funnel's buckets (contract, Analytics). */
export type Bucket = "created" | "paid" | "inProgress" | "completed" | "problem";

const buckets: Readonly<Record<OrderStatus, Bucket>> = {
  Created: "created",
  QuoteReady: "created",
  AwaitingPayment: "created",
  Paid: "paid",
  EsignPending: "inProgress",
  EsignComplete: "inProgress",
  NotarizationPending: "inProgress",
  NotarizationComplete: "inProgress",
  ShippingPending: "inProgress",
  Shipped: "inProgress",
  Delivered: "inProgress",
  FaxPending: "inProgress",
  FaxSent: "inProgress",
  FaxDelivered: "inProgress",
  Completed: "completed",
  PaymentFailed: "problem",
  EsignDeclined: "problem",
  EsignExpired: "problem",
  NotarizationFailed: "problem",
  IdentityLocked: "problem",
  ManualQuoteRequired: "problem",
  OnHold: "problem",
  ShippingFailed: "problem",
  RefundPending: "problem",
  Refunded: "problem",
  Cancelled: "problem",
  FaxFailed: "problem",
};

const byName: ReadonlyMap<string, Bucket> = new Map(Object.entries(buckets));

/** The one bucket of a raw status, by its exact name; `problem` for one that is not known. */
export const bucketOf = (status: string): Bucket => byName.get(status) ?? "problem";

/** Orders of these buckets count as revenue. */
export const earns = (bucket: Bucket): boolean =>
  bucket === "paid" || bucket === "inProgress" || bucket === "completed";
