import type { Environment } from "../../../kernel/identity/identity.ts";
import type { Tx } from "../../../kernel/platform/database/database.ts";
import { sql } from "../../../kernel/platform/database/sql.ts";
import { enqueueTimed, type Timed } from "../../../kernel/platform/jobs/jobs.ts";
import type { TaskKind } from "../../../kernel/tasks/tasks.ts";

export { dispatchQueue } from "../../../kernel/tasks/tasks.ts";

import type { OrderStatus } from "./statuses.ts";

/**
 * The events in the course of an order that partners are notified of. The order's workflow events have the same names.
 */
export type Milestone = "payment.cleared" | "signature.completed" | "shipment.delivered";

/** The queue of mails to an order's client; payload `OrderMail`. */
export const orderMailQueue = "order-mail";

/**
 * The queue of orders whose open checkouts must be closed, so that they can't be paid any more; payload `{orderId}`.
 */
export const closeCheckoutQueue = "close-checkout";

/**
 * The queue of live orders that begin their next service, because one service has ended. Payload `{orderId,
 * hasWaited?}`. `hasWaited` is true after the pause between services.
 */
export const nextSegmentQueue = "next-segment";

/**
 * The queue of orders to charge to a payment method of the firm; payload `ChargeJob` in
 * `payments/charges/send-charges.ts`.
 */
export const firmChargeQueue = "firm-charge";

/**
 * The queue of orders that wait until somebody of the firm agrees to a charge: new orders, orders that a person priced,
 * and orders whose postage became dearer. Some of them are paid by their clients; the job skips these. The payload is
 * that of `firmChargeQueue`. Nodes of an earlier release would charge every order in that queue, so waiting orders need
 * a queue of their own.
 */
export const firmWaitQueue = "firm-wait";

/** The queue of orders whose refund is requested from the processor; payload `{orderId}`. */
export const refundQueue = "refund";

/** The queue of live orders that left shipping; the job cancels the provider's work for them. Payload `{orderId}`. */
export const recallQueue = "recall";

/**
 * The queue of live orders whose label and parcel are checked: the label may not be needed any more, or the parcel may
 * have moved already. Payload `{orderId}`.
 */
export const parcelQueue = "parcel";

/**
 * The queue of live orders whose faxes are made to match the order's status: a fax is sent, ended or paused. Payload
 * `{orderId}`.
 */
export const faxQueue = "fax";

/**
 * The queue of orders whose envelope is made to match the order's status: the envelope is opened, completed or ended.
 * Payload `{orderId}`.
 */
export const envelopeQueue = "envelope";

/**
 * The queue of orders that wait for a notary again, after a hold or a failure. The job mails the links that were not
 * mailed in the meantime. Payload `{orderId, at}` with the time at which the order began to wait again.
 */
export const notaryAgainQueue = "notary-again";

/** The queue of orders whose signers are mailed the notarized document; payload `{orderId}`. */
export const notarizedQueue = "notarized";

export type MailMoment =
  | "quote_ready"
  | "payment_received"
  | "payment_failed"
  | "supplement_due"
  | "pay_again"
  | "signed"
  | "shipped"
  | "ready_for_pickup"
  | "delivered"
  | "fax_delivered"
  | "fax_failed"
  | "on_hold"
  | "completed"
  | "cancelled"
  | "paid_late"
  | "refunded_part"
  | "payment_returned"
  | "refund_failed"
  | "refunded";

/**
 * A mail to an order's client. `moment` is the event that the mail reports, and `at` distinguishes several mails about
 * the same event.
 * - `isAlone`: the mail covers no other orders of a closing.
 * - `isRepeated`: an earlier mail went to a wrong address. This one waits for no other orders, and also covers those
 *   that the earlier mail named.
 * - `isWhole`: the client asked for the mail. It never waits, and covers all orders that the event has reached.
 * - `refund`: identifies the money that the mail is about. It is the name of a partial refund, the processor's id of a
 *   failed refund, or the payment intent of a returned payment.
 */
export type OrderMail = {
  orderId: number;
  moment: MailMoment;
  at: string;
  isAlone?: true;
  isRepeated?: true;
  isWhole?: true;
  refund?: string;
} & Timed;

/** Queues a mail to the client, which is sent once the transaction commits. */
export const mailClient = (
  tx: Tx,
  orderId: number,
  moment: MailMoment,
  at: Date,
  more: Pick<OrderMail, "isAlone" | "isRepeated" | "isWhole" | "refund"> = {},
) => enqueueTimed(tx, orderMailQueue, { orderId, moment, at: at.toISOString(), ...more } satisfies OrderMail);

/** The statuses about which the firm gets a mail: a person must act, or the order has ended. */
export const mailedStatuses = [
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

export type MailedStatus = (typeof mailedStatuses)[number];

/**
 * True if a person must act on an order with this status. If it still has the status, the firm is mailed about it.
 */
export const isTrouble = (status: MailedStatus): boolean => status !== "Refunded" && status !== "Completed";

/** A status that an order has entered. `n` increases with time. */
export type Noted = { n: number; id: number; status: MailedStatus; partnerId: string };

/**
 * Removes and returns the statuses noted for the mail about the orders of one member or key. Call it in the transaction
 * that queues the mail.
 */
export const removeNotedStatuses = (tx: Tx, placer: string, environment: Environment) =>
  tx.query<Noted>(sql`
    DELETE FROM order_news n USING orders o
    WHERE n.placed_by = ${placer} AND n.environment = ${environment} AND o.id = n.order_id
    RETURNING n.id AS n, n.order_id AS id, n.status, o.partner_id AS "partnerId"`);

/** The side effects of entering a status. */
export type Effect = {
  envelope?: "Sent" | "Completed" | "Declined" | "Expired";
  milestone?: Milestone;
  mail?: MailMoment;
  /** The kind of document that must be stored before the order enters this status. */
  document?: "sealed" | "notarized";
  job?: typeof closeCheckoutQueue | typeof firmWaitQueue | typeof refundQueue | typeof notarizedQueue;
  /** True to queue the job that opens or ends the order's envelope. */
  movesEnvelope?: boolean;
  /** The kind of task that is open for people while the order has this status. */
  task?: TaskKind | ((order: { shipMethod: string | null }) => TaskKind);
  /** True if the status ends one of the order's services. The next service begins at once, or after a pause. */
  endsSegment?: boolean;
  /** True if a provider may do the status's task, provided that an account is configured. */
  isDispatched?: boolean;
  /** True to cancel a provider's pending shipping of the order, if the order was being shipped. */
  isRecalled?: boolean;
  /**
   * True to check the order's label and parcel: the label may not be needed any more, or the parcel may have moved
   * already.
   */
  movesParcel?: boolean;
  /** The kinds of tasks to close when the order leaves this status; a hold only pauses them. Other code opens them. */
  endsTasks?: readonly TaskKind[];
};

export const effects: Readonly<Partial<Record<OrderStatus, Effect>>> = {
  ManualQuoteRequired: { task: "quote" },
  // Only an order that a person has priced gets these effects. An order that is priced at once is inserted with this
  // status, and an order may return to it from a hold. Neither of them gets the effects.
  QuoteReady: { mail: "quote_ready", job: firmWaitQueue },
  PaymentFailed: { mail: "payment_failed", endsTasks: ["debit_failed"] },
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
  NotarizationComplete: { document: "notarized", job: notarizedQueue, endsSegment: true },
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

type TaskFacts = { status: OrderStatus; shipMethod: string | null };

export const effectOf = ({ status }: Pick<TaskFacts, "status">): Effect => effects[status] ?? {};

/** The kind of task that is open for people while an order has its status; undefined for none. */
export function taskOf(order: TaskFacts): TaskKind | undefined {
  const { task } = effectOf(order);
  return typeof task === "function" ? task(order) : task;
}

/** The kinds of tasks that are closed when an order leaves its status. A hold only pauses them. */
export function tasksIn(order: TaskFacts): TaskKind[] {
  const task = taskOf(order);
  return [...(task ? [task] : []), ...(effectOf(order).endsTasks ?? [])];
}
