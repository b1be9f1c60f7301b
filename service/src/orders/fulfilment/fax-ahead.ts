/**
 * Faxes that are sent early. By the status table, an order is shipped first and faxed afterwards. But the document is
 * already final while the order is shipped, so the fax can be sent then. When the order later reaches its fax statuses,
 * it moves on to the status of the fax.
 */
import { auditLine, findLine } from "../../kernel/audit/audit.ts";
import type { Sql, Tx } from "../../kernel/platform/database/database.ts";
import { sql } from "../../kernel/platform/database/sql.ts";
import { ServiceError } from "../../kernel/platform/errors.ts";
import { enqueue } from "../../kernel/platform/jobs/jobs.ts";
import { closeTasks, openTask } from "../../kernel/tasks/tasks.ts";
import {
  type Actor,
  dispatchQueue,
  faxesAhead,
  type LockedOrder,
  noteStatus,
  type PeopleEvent,
  wordsOf,
} from "../order/order.ts";
import { endFax, lastFax, sendFax } from "./store.ts";

type FaxEvent = Extract<PeopleEvent, "fax_sent" | "fax_delivered" | "fax_failed" | "fax_retried">;

/** For each fax status, the event that leads to it. A person reports an event by naming that status. */
export const faxStatuses: ReadonlyMap<string, FaxEvent> = new Map([
  ["FaxPending", "fax_retried"],
  ["FaxSent", "fax_sent"],
  ["FaxDelivered", "fax_delivered"],
  ["FaxFailed", "fax_failed"],
]);

/** The status to which an event of a fax leads; undefined for an event that is not about a fax. */
export const faxStatusOf = (on: PeopleEvent): string | undefined =>
  [...faxStatuses].find(([, event]) => event === on)?.[0];

const next: Readonly<Record<"none" | "Sent" | "Delivered" | "Failed", readonly FaxEvent[]>> = {
  none: ["fax_sent", "fax_delivered", "fax_failed"],
  Sent: ["fax_delivered", "fax_failed"],
  // After a failure, a person may request another attempt, and that may fail as well.
  Failed: ["fax_sent", "fax_delivered", "fax_failed", "fax_retried"],
  Delivered: [],
};

/**
 * The events that may be reported now for a fax that is sent early. Empty for a test order, and for an order whose fax
 * can't be sent early now.
 * @param last the stored state of the order's last fax
 */
export const aheadMoves = (
  order: Pick<LockedOrder, "fax" | "status" | "environment">,
  last: string | undefined,
): readonly FaxEvent[] =>
  faxesAhead(order) && order.environment === "live" ? (next[(last ?? "none") as keyof typeof next] ?? []) : [];

export type FaxAhead = {
  on: Exclude<FaxEvent, "fax_retried">;
  reason: string | undefined;
  /** The actor who last reported on the fax. */
  actor: string;
  /** True if the fax failed and another attempt was requested. */
  isRetried: boolean;
};

const events = { Sent: "fax_sent", Delivered: "fax_delivered", Failed: "fax_failed" } as const;

/**
 * Reads the state of an order's last fax, and the actor who last reported on it. Null when no fax is stored. Call this
 * only while the order is being shipped, or as it enters FaxPending. A stored fax was then sent early.
 */
export async function faxAhead(db: Sql, orderId: number): Promise<FaxAhead | null> {
  const last = await lastFax(db, orderId);
  if (!last) return null;
  const lastLine = await findLine<{ on: string; reason?: string }>(
    db,
    sql`order_id = ${orderId} AND action = 'fax.ahead'`,
  );
  const isFailed = last.status === "Failed";
  return {
    on: events[last.status],
    reason: isFailed ? (lastLine?.detail.reason ?? "The fax failed before its turn") : undefined,
    actor: lastLine?.actor ?? "system",
    isRetried: isFailed && lastLine?.detail.on === "fax_retried",
  };
}

/**
 * For each order whose last early fax failed: the reason of the failure, by order id. Leaves out orders for which
 * another attempt was requested.
 */
export async function failedAhead(db: Sql, orderIds: readonly number[]): Promise<Map<number, string>> {
  const reasons = new Map<number, string>();
  if (orderIds.length === 0) return reasons;
  const failed = await db.query<{ orderId: number }>(sql`
    SELECT DISTINCT order_id AS "orderId" FROM faxes WHERE order_id = ANY (${[...orderIds]}::bigint[]) AND status = 'Failed'`);
  for (const { orderId } of failed) {
    const last = await faxAhead(db, orderId);
    if (last?.reason !== undefined && !last.isRetried) reasons.set(orderId, last.reason);
  }
  return reasons;
}

/**
 * Records an event of a fax that is sent early, and opens or closes the tasks for the fax. A failure is queued for the
 * next mail to the member who placed the order. Runs in the caller's transaction. The caller has locked the order.
 * @param doneAt when the receiving machine confirmed the fax; absent for the present time
 * @throws ServiceError `conflict` when the event is not possible for the fax now; nothing was written then
 */
export async function recordFaxAhead(
  tx: Tx,
  order: LockedOrder,
  on: PeopleEvent,
  { reason, doneAt }: { reason?: string | undefined; doneAt?: Date },
  { actor, at }: Actor,
): Promise<void> {
  const { id: orderId, partnerId, environment, isRush } = order;
  const event = aheadMoves(order, (await lastFax(tx, orderId))?.status).find((each) => each === on);
  if (!event) throw new ServiceError("conflict", `The fax of this order can’t have '${wordsOf(on)}' now.`);
  if (event !== "fax_retried") await sendFax(tx, orderId, order.faxTo ?? "", at);
  if (event === "fax_delivered") await endFax(tx, orderId, "Delivered", doneAt ?? at);
  if (event === "fax_failed") await endFax(tx, orderId, "Failed", null);
  const end = { state: "done", at, by: actor, outcome: wordsOf(on) } as const;
  await closeTasks(tx, { orderId, kinds: ["fax_send", "fax_exception"] }, end);
  const task = { at, environment, orderId, isRush, reason };
  if (event === "fax_failed") {
    await openTask(tx, { kind: "fax_exception", ...task });
    await noteStatus(tx, order, "FaxFailed", at);
  }
  if (event === "fax_retried") {
    await openTask(tx, { kind: "fax_send", ...task });
    await enqueue(tx, dispatchQueue, { orderId });
  }
  const detail = { on, ...(reason !== undefined && { reason }) };
  await tx.query(auditLine({ at, action: "fax.ahead", actor, partnerId, orderId, detail }));
}
