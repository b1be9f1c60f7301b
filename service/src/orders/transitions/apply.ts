import type { Environment } from "../../identity/identity.ts";
import type { Tx } from "../../platform/database.ts";
import { ServiceError } from "../../platform/errors.ts";
import { maskCode } from "../../platform/ids.ts";
import { enqueue } from "../../platform/jobs/jobs.ts";
import type { Log } from "../../platform/logs.ts";
import type { Services } from "../services.ts";
import type { OrderStatus } from "./statuses.ts";
import { type OrderEvent, targetOf, wordsOf } from "./table.ts";

/** Where a moving order stands; its row is locked until the transaction ends. */
export type LockedOrder = Services & {
  id: number;
  code: string;
  partnerId: string;
  environment: Environment;
  status: string;
  statusBeforeHold: string | null;
  envelopeStatus: string | null;
  totalCents: number;
  faxTo: string | null;
};

/** Who moves it, when (UTC) and why. */
export type Mover = {
  /** `operator`, `processor`, `sandbox`, `system`, `key:ID`. */
  actor: string;
  at: Date;
  log: Log;
  reason?: string | undefined;
};

export type Topic = "payment.cleared" | "signature.completed" | "shipment.delivered";

/** What a move did: the order as it stands now, and the topics that partners are told of. */
export type Moved = { order: LockedOrder; from: string; firedEvents: Topic[] };

/** The queue of mails to an order's client; payload `{orderId, moment}`. */
export const orderMailQueue = "order-mail";

/** The queue of checkouts to close, so that nobody pays any more; payload `{orderId}`. */
export const closeCheckoutQueue = "close-checkout";

/** The queue of refunds to ask the processor for; payload `{orderId}`. */
export const refundQueue = "refund";

export type MailMoment = "payment_received" | "signed" | "shipped";

type Effect = {
  envelope?: "Sent" | "Completed" | "Declined" | "Expired";
  /** Also the name of the workflow event. */
  topic?: Topic;
  mail?: MailMoment;
  /** A row of this kind must be there first. */
  document?: "sealed" | "notarized";
  job?: typeof closeCheckoutQueue | typeof refundQueue;
};

const effects: Readonly<Partial<Record<OrderStatus, Effect>>> = {
  Paid: { topic: "payment.cleared", mail: "payment_received", job: closeCheckoutQueue },
  EsignPending: { envelope: "Sent" },
  EsignComplete: { envelope: "Completed", topic: "signature.completed", mail: "signed", document: "sealed" },
  EsignDeclined: { envelope: "Declined" },
  EsignExpired: { envelope: "Expired" },
  NotarizationComplete: { document: "notarized" },
  Shipped: { mail: "shipped" },
  Delivered: { topic: "shipment.delivered" },
  Cancelled: { job: closeCheckoutQueue },
  RefundPending: { job: refundQueue },
};

const selectLocked = `SELECT id, code, partner_id AS "partnerId", environment, status, status_before_hold AS "statusBeforeHold",
    envelope_status AS "envelopeStatus", sign, notarize, ship, fax, total_cents AS "totalCents", fax_to AS "faxTo"
  FROM orders WHERE code = $1 FOR UPDATE`;

/** The order, locked until the transaction ends: moves of one order follow one another. Undefined for an unknown code. */
export async function lockOrder(tx: Tx, code: string): Promise<LockedOrder | undefined> {
  const [order] = await tx.rows<LockedOrder>(selectLocked, [code]);
  return order;
}

/**
 * The one way by which an order's status changes: looks the event up in the table and writes status, audit line, workflow
 * event, partner event and mail in the caller's transaction.
 * @throws ServiceError `conflict` when the table refuses it: then nothing was written.
 */
export async function move(tx: Tx, order: LockedOrder, on: OrderEvent, mover: Mover): Promise<Moved> {
  const to = targetOf(order, on);
  if (to === null) {
    const refused = { order: maskCode(order.code), status: order.status, on, actor: mover.actor };
    mover.log.warn(refused, "a transition was refused");
    throw new ServiceError("conflict", `An order in ${order.status} cannot move by '${wordsOf(on)}'.`);
  }
  const effect = effects[to] ?? {};
  if (effect.document) await requireDocument(tx, order, to, effect.document);
  // A release finds everything as the hold left it.
  const told = on === "released" ? {} : effect;
  const moved: LockedOrder = {
    ...order,
    status: to,
    statusBeforeHold: to === "OnHold" ? order.status : null,
    envelopeStatus: order.sign ? (told.envelope ?? envelopeAfter(to, order.envelopeStatus)) : null,
  };
  await tx.rows(writeMove, [
    order.id,
    to,
    moved.statusBeforeHold,
    moved.envelopeStatus,
    mover.at,
    mover.actor,
    order.partnerId,
    order.status,
    mover.reason === undefined ? null : JSON.stringify({ reason: mover.reason }),
    told.topic ?? null,
    order.environment,
    order.code,
  ]);
  if (told.mail) await enqueue(tx, orderMailQueue, { orderId: order.id, moment: told.mail });
  if (told.job) await enqueue(tx, told.job, { orderId: order.id });
  return { order: moved, from: order.status, firedEvents: told.topic ? [told.topic] : [] };
}

// Parameters: 1 id, 2 to, 3 before hold, 4 envelope, 5 at, 6 actor, 7 partner, 8 from, 9 detail, 10 topic, 11 environment, 12 code.
const writeMove = `
WITH moved AS (
  UPDATE orders SET status = $2, status_before_hold = $3, envelope_status = $4, updated_at = $5 WHERE id = $1 RETURNING id
), audit AS (
  INSERT INTO audit_log (occurred_at, action, actor, partner_id, order_id, from_status, to_status, detail)
  SELECT $5, 'order.transition', $6, $7::uuid, id, $8, $2, $9::jsonb FROM moved
), milestone AS (
  INSERT INTO workflow_events (order_id, name, occurred_at) SELECT id, $10, $5 FROM moved WHERE $10::text IS NOT NULL
)
INSERT INTO events (occurred_at, topic, event_id, partner_id, environment, subject)
SELECT $5, $10, $10 || ':' || $12, $7::uuid, $11, $12 FROM moved WHERE $10::text IS NOT NULL`;

/** An envelope that can no longer be completed is voided. */
function envelopeAfter(to: OrderStatus, envelope: string | null): string | null {
  const ended = to === "Cancelled" || to === "RefundPending";
  return ended && envelope !== "Completed" ? "Voided" : envelope;
}

async function requireDocument(tx: Tx, order: LockedOrder, to: OrderStatus, kind: string): Promise<void> {
  const found = await tx.rows("SELECT FROM documents WHERE order_id = $1 AND kind = $2 LIMIT 1", [order.id, kind]);
  if (found.length === 0) throw new ServiceError("conflict", `${to} needs the ${kind} document on record.`);
}
