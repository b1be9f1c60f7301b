import { auditLine, ordererOf } from "../../../kernel/audit/audit.ts";
import { eventRow } from "../../../kernel/events/events.ts";
import type { Environment } from "../../../kernel/identity/identity.ts";
import type { Tx } from "../../../kernel/platform/database/database.ts";
import { isSealedAny, nothing, type Statement, sql } from "../../../kernel/platform/database/sql.ts";
import { type Marked, marked, writeStateMacs } from "../../../kernel/platform/database/state-mac.ts";
import { ServiceError } from "../../../kernel/platform/errors.ts";
import { maskCode } from "../../../kernel/platform/ids.ts";
import { enqueue } from "../../../kernel/platform/jobs/jobs.ts";
import type { Log } from "../../../kernel/platform/logs.ts";
import {
  closeTasks,
  dropPaused,
  openTask,
  pauseTasks,
  resumeTasks,
  type TaskKind,
} from "../../../kernel/tasks/tasks.ts";
import { orderState, verifiedOrders } from "../order-mac.ts";
import {
  type Effect,
  effects,
  isTrouble,
  type MailedStatus,
  type Milestone,
  mailClient,
  mailedStatuses,
  taskOf,
  tasksIn,
} from "./effects.ts";
import { jobsOf } from "./jobs.ts";
import type { EnvelopeStatus, OrderStatus } from "./statuses.ts";
import { faxesAhead, type OrderEvent, type OrderState, targetOf, wordsOf } from "./table.ts";

/** An order whose row is locked until the transaction ends. */
export type LockedOrder = OrderState & {
  id: number;
  code: string;
  partnerId: string;
  environment: Environment;
  envelopeStatus: EnvelopeStatus | null;
  totalCents: number;
  faxTo: string | null;
  shipMethod: string | null;
  /** True if rush handling was bought. */
  isRush: boolean;
};

/** The actor of a transition, its time (UTC) and its reason. */
export type Actor = {
  /** The actor's name in the audit log, such as `operator`, `processor`, `sandbox`, `system` or `key:ID`. */
  actor: string;
  at: Date;
  log: Log;
  reason?: string | undefined;
  /** The time at which the reported event happened, if it differs from `at`. Partners are notified of this time. */
  happenedAt?: Date;
  /** True if the member who placed the order was already notified of this change. */
  isNotified?: boolean;
};

/** The order after a transition, its status before that, and the milestones that partners are notified of. */
export type TransitionResult = { order: LockedOrder; from: OrderStatus; firedEvents: Milestone[] };

/**
 * Locks the order until the transaction ends, so that its transitions run one after another. Undefined for an unknown
 * code.
 * @throws ServiceError `unavailable` for an order whose MAC is invalid
 */
export async function lockOrder(tx: Tx, code: string): Promise<LockedOrder | undefined> {
  const [order] = await lockOrders(tx, [code]);
  return order;
}

/**
 * Locks orders by ascending id. Every transaction that locks several orders does so, to avoid deadlocks.
 * @throws ServiceError `unavailable` when the MAC of one is invalid
 */
export const lockOrders = (tx: Tx, codes: readonly string[]): Promise<LockedOrder[]> =>
  tx.query<LockedOrder>(lockStatement(codes, verifiedOrders));

/** Locks orders by ascending id, and leaves out those with an invalid MAC. */
export async function lockUnalteredOrders(tx: Tx, codes: readonly string[]): Promise<LockedOrder[]> {
  const found = await tx.query<LockedOrder & Marked>(lockStatement(codes, marked(orderState, sql`orders`)));
  return found.filter(({ isAuthentic }) => isAuthentic).map(({ isAuthentic: _, ...order }) => order);
}

const lockStatement = (codes: readonly string[], check: Statement): Statement => sql`
    SELECT id, code AS "code@order", partner_id AS "partnerId", environment, status, status_before_hold AS "statusBeforeHold",
      envelope_status AS "envelopeStatus", sign, notarize, ship, fax, total_cents AS "totalCents", fax_to AS "faxTo",
      ship_method AS "shipMethod", lines @> '[{"type": "RushFee"}]' AS "isRush", ${check}
    FROM orders WHERE ${isSealedAny(sql`code`, "order", codes)} ORDER BY id FOR NO KEY UPDATE`;

/**
 * Applies one event to a locked order. No other code changes an order's status. Writes the status, audit line,
 * milestone, event, tasks, jobs and mails in the caller's transaction.
 * @throws ServiceError `conflict` when the transition table does not allow the event, or a needed document is not
 * stored; nothing was written then
 */
export async function applyTransition(
  tx: Tx,
  order: LockedOrder,
  on: OrderEvent,
  by: Actor,
): Promise<TransitionResult> {
  const to = targetOf(order, on);
  if (to === null) {
    const refused = { order: maskCode(order.code), status: order.status, on, actor: by.actor };
    by.log.warn(refused, "a transition was refused");
    throw new ServiceError("conflict", `An order in ${order.status} cannot move by '${wordsOf(on)}'.`);
  }
  const entered = effects[to] ?? {};
  if (entered.document) await requireDocument(tx, order, to, entered.document);
  // The end of a hold doesn't apply the effects of the status again, because the hold didn't undo them.
  const effect: Effect = on === "released" ? {} : entered;
  const moved: LockedOrder = {
    ...order,
    status: to,
    statusBeforeHold: to === "OnHold" ? order.status : null,
    envelopeStatus: order.sign ? (effect.envelope ?? envelopeAfter(to, order.envelopeStatus)) : null,
  };
  const milestone = effect.milestone ?? null;
  await tx.query(transitionStatement(order, moved, milestone, by));
  await writeStateMacs(tx, orderState, sql`id = ${order.id}`);
  await moveTasks(tx, order, moved, on, by);
  for (const job of jobsOf(order, moved, on, by.at))
    await ("mail" in job ? mailClient(tx, order.id, job.mail, by.at) : enqueue(tx, job.queue, job.payload));
  const mailed = mailedStatuses.find((status) => status === to);
  if (on !== "released" && !by.isNotified && mailed) await noteStatus(tx, moved, mailed, by.at);
  return { order: moved, from: order.status, firedEvents: milestone ? [milestone] : [] };
}

/** Opens and closes tasks as an order moves. Every move calls this, whether the API, a job or an operator causes it. */
async function moveTasks(tx: Tx, order: LockedOrder, moved: LockedOrder, on: OrderEvent, by: Actor): Promise<void> {
  const { at, actor, reason } = by;
  const end = { at, by: actor, outcome: wordsOf(on) };
  const left = [...tasksIn(order), ...(leavesFaxBehind(order, moved) ? faxTasks : [])];
  // Tasks about the order's money don't depend on its status, so they stay open during a hold.
  if (moved.status === "OnHold") await pauseTasks(tx, order.id, left);
  else {
    const state = droppedBy.has(moved.status) ? "dropped" : "done";
    if (left.length > 0) await closeTasks(tx, { orderId: order.id, kinds: left }, { state, ...end });
    if (order.status === "OnHold")
      await (on === "released" ? resumeTasks(tx, order.id) : dropPaused(tx, order.id, end));
  }
  await dropApprovals(tx, order, moved, at);
  const kind = taskOf(moved);
  const { id: orderId, environment, isRush } = moved;
  if (kind) await openTask(tx, { kind, at, environment, orderId, isRush, reason });
  // A test order's fax is not sent early. The sandbox simulates it when the order reaches its fax statuses.
  if (faxesAhead(moved) && !faxesAhead(order) && on !== "released" && environment === "live")
    await openTask(tx, { kind: "fax_send", at, environment, orderId, isRush });
}

const faxTasks: readonly TaskKind[] = ["fax_send", "fax_exception"];

/** True if this transition stops a fax that could be sent early. Such a fax must wait, or is no longer needed. */
const leavesFaxBehind = (order: LockedOrder, moved: LockedOrder): boolean =>
  faxesAhead(order) && !faxesAhead(moved) && moved.status !== "FaxPending";

const notarizing: readonly OrderStatus[] = ["NotarizationPending", "OnHold"];

/**
 * Closes the tasks that ask for an approval, when the order moves on without it. A database trigger closes the requests
 * for these approvals.
 */
async function dropApprovals(tx: Tx, { id: orderId, status: from }: LockedOrder, to: LockedOrder, at: Date) {
  const end = { state: "dropped", at, by: "system" } as const;
  if (to.status === "RefundPending" && from !== "RefundPending")
    await closeTasks(
      tx,
      { orderId, kinds: ["refund_asked", "refund_approval"] },
      { ...end, outcome: "refunded by another way" },
    );
  if (notarizing.includes(from) && !notarizing.includes(to.status))
    await closeTasks(
      tx,
      { orderId, kinds: ["taking_in_approval"] },
      { ...end, outcome: "the order moved on by another way" },
    );
}

/**
 * Queues a status for the mail to the member who placed the order. If an API key placed the order, only a problem is
 * queued, and an owner gets the mail.
 * @param status the order's new status; or `FaxFailed` for an order in shipping whose fax was sent early and failed
 */
export const noteStatus = (
  tx: Tx,
  { id, environment }: Pick<LockedOrder, "id" | "environment">,
  status: MailedStatus,
  at: Date,
) =>
  tx.query(sql`
    INSERT INTO order_news (order_id, environment, placed_by, status, at)
    SELECT ${id}, ${environment}, placed.by, ${status}, ${at} FROM (SELECT ${ordererOf(sql`${id}::bigint`)}) AS placed (by)
    WHERE placed.by LIKE 'member:%' OR (placed.by LIKE 'key:%' AND ${isTrouble(status)}::boolean)`);

/** A task that closes because its order enters one of these statuses is `dropped`, not `done`. */
const droppedBy: ReadonlySet<OrderStatus> = new Set(["Cancelled", "RefundPending"]);

function transitionStatement(
  { id, code, partnerId, environment, status }: LockedOrder,
  moved: LockedOrder,
  milestone: Milestone | null,
  { actor, at, reason, happenedAt = at }: Actor,
): Statement {
  const audit = auditLine({
    at,
    action: "order.transition",
    actor,
    partnerId,
    orderId: id,
    fromStatus: status,
    toStatus: moved.status,
    detail: reason === undefined ? null : { reason },
  });
  const event =
    milestone &&
    eventRow({
      at: happenedAt,
      topic: milestone,
      eventId: `${milestone}:${code}`,
      partnerId,
      environment,
      subject: code,
      orderId: id,
    });
  return sql`
    WITH audit AS (${audit})${
      event
        ? sql`, milestone AS (
            INSERT INTO workflow_events (order_id, name, occurred_at) VALUES (${id}, ${milestone}, ${happenedAt})
          ), event AS (${event})`
        : nothing
    }
    UPDATE orders SET status = ${moved.status}, status_before_hold = ${moved.statusBeforeHold},
      envelope_status = ${moved.envelopeStatus}, updated_at = ${at} WHERE id = ${id}`;
}

/** The envelope's status after the move. An envelope that can no longer be completed is voided. */
function envelopeAfter(to: OrderStatus, envelope: EnvelopeStatus | null): EnvelopeStatus | null {
  const ended = to === "Cancelled" || to === "RefundPending";
  return ended && envelope !== "Completed" ? "Voided" : envelope;
}

async function requireDocument(tx: Tx, order: LockedOrder, to: OrderStatus, kind: string): Promise<void> {
  const found = await tx.query(sql`SELECT FROM documents WHERE order_id = ${order.id} AND kind = ${kind} LIMIT 1`);
  if (found.length === 0) throw new ServiceError("conflict", `${to} needs the ${kind} document on record.`);
}
