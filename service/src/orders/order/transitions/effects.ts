import type { Tx } from "../../platform/database/database.ts";
import { enqueue } from "../../platform/jobs/jobs.ts";
import type { TaskKind } from "../../tasks/tasks.ts";

export { dispatchQueue } from "../../tasks/tasks.ts";

import type { OrderStatus } from "./statuses.ts";

/** What partners hear of an order's way after it was placed; also the names of its workflow events. */
export type Milestone = "payment.cleared" | "signature.completed" | "shipment.delivered";

/** The queue of mails to an order's client; payload `OrderMail`. */
export const orderMailQueue = "order-mail";

/** The queue of checkouts to close, so that nobody pays any more; payload `{orderId}`. */
export const closeCheckoutQueue = "close-checkout";

/** The queue of live orders that rest between two services, or after the last; payload `{orderId}`. */
export const nextSegmentQueue = "next-segment";

/** The queue of refunds to ask the processor for; payload `{orderId}`. */
export const refundQueue = "refund";

/** The queue of live orders that went away from their shipping: what a provider has on hand for them is called back; payload `{orderId}`. */
export const recallQueue = "recall";

/** The queue of live orders whose parcels are looked at: whether they moved, or will never be sent; payload `{orderId}`. */
export const parcelQueue = "parcel";

/** The queue of live orders whose faxes are to be followed: sent, ended, or held; payload `{orderId}`. */
export const faxQueue = "fax";

/** The queue of orders whose envelope is to follow: opened, completed or ended; payload `{orderId}`. */
export const envelopeQueue = "envelope";

export type MailMoment =
  | "quote_ready"
  | "payment_received"
  | "payment_failed"
  | "signed"
  | "shipped"
  | "ready_for_pickup"
  | "delivered"
  | "fax_delivered"
  | "fax_failed"
  | "on_hold"
  | "completed"
  | "cancelled"
  | "refunded";

/** A mail to an order's client; `at` tells those of one moment apart. */
export type OrderMail = { orderId: number; moment: MailMoment; at: string };

/** Has the client mailed, once the transaction commits. */
export const mailClient = (tx: Tx, orderId: number, moment: MailMoment, at: Date) =>
  enqueue(tx, orderMailQueue, { orderId, moment, at: at.toISOString() } satisfies OrderMail);

/** What else happens when an order comes to a status. */
export type Effect = {
  envelope?: "Sent" | "Completed" | "Declined" | "Expired";
  milestone?: Milestone;
  mail?: MailMoment;
  /** A document of this kind must be on record first. */
  document?: "sealed" | "notarized";
  job?: typeof closeCheckoutQueue | typeof refundQueue;
  /** Whether the order's envelope has something to follow: to open, or to end. */
  movesEnvelope?: boolean;
  /** What a person has to do while the order stands there. */
  task?: TaskKind | ((order: { shipMethod: string | null }) => TaskKind);
  /** Whether a service of the order has ended: the next one begins soon after. */
  endsSegment?: boolean;
  /** Whether a provider may do the task in place of people, where there is an account. */
  isDispatched?: boolean;
  /** Whether what a provider has on hand for the order is wanted no more. */
  isRecalled?: boolean;
  /** Whether a carrier's label may be for nothing now, or its parcel have gone on before. */
  movesParcel?: boolean;
  /** Tasks that others open while the order stands there. */
  endsTasks?: readonly TaskKind[];
};

export const effects: Readonly<Partial<Record<OrderStatus, Effect>>> = {
  ManualQuoteRequired: { task: "quote" },
  QuoteReady: { mail: "quote_ready" },
  PaymentFailed: { mail: "payment_failed" },
  Paid: { milestone: "payment.cleared", mail: "payment_received", job: closeCheckoutQueue },
  EsignPending: { envelope: "Sent", movesEnvelope: true, endsTasks: ["signer_locked"] },
  EsignComplete: {
    envelope: "Completed",
    milestone: "signature.completed",
    mail: "signed",
    document: "sealed",
    movesEnvelope: true,
    endsSegment: true,
  },
  EsignDeclined: { envelope: "Declined", movesEnvelope: true, task: "envelope_stuck" },
  EsignExpired: { envelope: "Expired", movesEnvelope: true, task: "envelope_stuck" },
  NotarizationPending: { task: "notarize" },
  NotarizationComplete: { document: "notarized", endsSegment: true },
  NotarizationFailed: { task: "notarization_exception" },
  IdentityLocked: { task: "notarization_exception" },
  ShippingPending: {
    task: ({ shipMethod }) => (shipMethod === "print_mail" ? "packet_print" : "label_print"),
    isDispatched: true,
    movesParcel: true,
    endsTasks: ["postage_dearer"],
  },
  Shipped: { mail: "shipped", movesParcel: true },
  Delivered: { milestone: "shipment.delivered", mail: "delivered", endsSegment: true },
  FaxDelivered: { mail: "fax_delivered", endsSegment: true },
  ShippingFailed: { task: "shipping_exception", isRecalled: true },
  FaxPending: { task: "fax_send", isDispatched: true },
  FaxFailed: { mail: "fax_failed", task: "fax_exception" },
  Completed: { mail: "completed" },
  OnHold: { mail: "on_hold", task: "order_on_hold", isRecalled: true },
  Cancelled: { mail: "cancelled", job: closeCheckoutQueue, movesEnvelope: true },
  RefundPending: { job: refundQueue, movesEnvelope: true, isRecalled: true, movesParcel: true },
  Refunded: { mail: "refunded" },
};
