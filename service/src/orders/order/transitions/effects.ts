import type { Environment } from "../../../kernel/identity/identity.ts";
import type { Tx } from "../../../kernel/platform/database/database.ts";
import { sql } from "../../../kernel/platform/database/sql.ts";
import { enqueue } from "../../../kernel/platform/jobs/jobs.ts";
import type { TaskKind } from "../../../kernel/tasks/tasks.ts";

export { dispatchQueue } from "../../../kernel/tasks/tasks.ts";

import type { OrderStatus } from "./statuses.ts";

/** The events that partners get after an order was placed; also the names of its workflow events. */
export type Milestone = "payment.cleared" | "signature.completed" | "shipment.delivered";

/** The queue of mails to an order's client; payload `OrderMail`. */
export const orderMailQueue = "order-mail";

/** The queue of checkouts to close, so that nobody can pay any more; payload `{orderId}`. */
export const closeCheckoutQueue = "close-checkout";

/** The queue of live orders whose service has ended; payload `{orderId, hasWaited?}`. */
export const nextSegmentQueue = "next-segment";

/** The queue of orders that the firm may pay by its own method; payload `{orderId}`. */
export const firmChargeQueue = "firm-charge";

/** The queue of refunds to request from the processor; payload `{orderId}`. */
export const refundQueue = "refund";

/** The queue of live orders that left shipping, so that the provider's work has to be canceled; payload `{orderId}`. */
export const recallQueue = "recall";

/**
 * The queue of live orders whose parcels are checked: whether they have moved, or will never be sent; payload
 * `{orderId}`.
 */
export const parcelQueue = "parcel";

/**
 * The queue of live orders whose faxes must match the order's status: each fax is sent, ended or paused; payload
 * `{orderId}`.
 */
export const faxQueue = "fax";

/** The queue of orders whose envelope must match their status: opened, completed or ended; payload `{orderId}`. */
export const envelopeQueue = "envelope";

export type MailMoment =
  | "quote_ready"
  | "payment_received"
  | "payment_failed"
  | "supplement_due"
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

/**
 * A mail to an order's client; `at` distinguishes mails of the same moment. `isAlone` keeps it from covering other
 * orders of a closing.
 */
export type OrderMail = { orderId: number; moment: MailMoment; at: string; isAlone?: true };

/** Queues a mail to the client, which is sent once the transaction commits. */
export const mailClient = (
  tx: Tx,
  orderId: number,
  moment: MailMoment,
  at: Date,
  more: Pick<OrderMail, "isAlone"> = {},
) => enqueue(tx, orderMailQueue, { orderId, moment, at: at.toISOString(), ...more } satisfies OrderMail);

/** The statuses about which the member who placed an order is mailed: a person must act, or all is done. */
export const newsStatuses = [
  "PaymentFailed",
  "EsignDeclined",
  "EsignExpired",
  "NotarizationFailed",
  "IdentityLocked",
  "ShippingFailed",
  "FaxFailed",
  "OnHold",
  "Refunded",
  "Completed",
] as const satisfies readonly OrderStatus[];

export type NewsStatus = (typeof newsStatuses)[number];

/** A status that an order has entered; `n` numbers these in order. */
export type Noted = { n: number; id: number; status: NewsStatus; partnerId: string };

/** Removes and returns the recorded statuses for the mail to a member, in the transaction that queues the mail. */
export const takeNews = (tx: Tx, placedBy: string, environment: Environment) =>
  tx.query<Noted>(sql`
    DELETE FROM order_news n USING orders o
    WHERE n.placed_by = ${placedBy} AND n.environment = ${environment} AND o.id = n.order_id
    RETURNING n.id AS n, n.order_id AS id, n.status, o.partner_id AS "partnerId"`);

/** The side effects when an order enters a status. */
export type Effect = {
  envelope?: "Sent" | "Completed" | "Declined" | "Expired";
  milestone?: Milestone;
  mail?: MailMoment;
  /** A document of this kind must be on record first. */
  document?: "sealed" | "notarized";
  job?: typeof closeCheckoutQueue | typeof firmChargeQueue | typeof refundQueue;
  /** Whether the order's envelope must be opened or ended. */
  movesEnvelope?: boolean;
  /** The task that people have while the order has this status. */
  task?: TaskKind | ((order: { shipMethod: string | null }) => TaskKind);
  /** Whether a service of the order has ended. The next one begins at once, or after a pause. */
  endsSegment?: boolean;
  /** Whether a provider may do the task, if an account is configured. */
  isDispatched?: boolean;
  /** Whether to cancel a provider's pending work for the order. */
  isRecalled?: boolean;
  /** Whether to check the order's parcel: its label may be useless now, or the parcel may already have moved. */
  movesParcel?: boolean;
  /** Tasks to end when the order leaves this status; other code opens them. */
  endsTasks?: readonly TaskKind[];
};

export const effects: Readonly<Partial<Record<OrderStatus, Effect>>> = {
  ManualQuoteRequired: { task: "quote" },
  QuoteReady: { mail: "quote_ready", job: firmChargeQueue },
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
  Shipped: { mail: "shipped", movesParcel: true, endsTasks: ["arrival"] },
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
