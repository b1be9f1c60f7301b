import type { Owner } from "../../kernel/identity/identity.ts";
import { dayMs } from "../../kernel/platform/clock.ts";
import type { Sql, Tx } from "../../kernel/platform/database/database.ts";
import { sql } from "../../kernel/platform/database/sql.ts";
import { ServiceError } from "../../kernel/platform/errors.ts";
import { isCode } from "../../kernel/platform/text.ts";
import { openTasksOf } from "../../kernel/tasks/tasks.ts";
import { lastFax } from "../fulfilment/fulfilment.ts";
import { type Correction, correctionsOf, findToCorrect, type LockedOrder, lockOrder } from "../order/order.ts";
import { type Act, acts, type Trouble, whyNot } from "./allowed.ts";

/** The facts that decide what a firm may do. */
export async function troubleOf(db: Sql, order: Omit<Trouble, Computed> & { id: number }, at: Date): Promise<Trouble> {
  const corrections = await correctionsOf(db, order.id);
  const sealed = await db.query(sql`
    SELECT FROM documents WHERE order_id = ${order.id} AND kind IN ('sealed', 'notarized') LIMIT 1`);
  const since = at.getTime() - dayMs;
  const againBy = (on: string) =>
    corrections.filter(({ kind, after }) => kind === "again" && after["on"] === on).length;
  return {
    ...order,
    isSealed: sealed.length > 0,
    // A hold cancels a fax in progress, and the fax's status stays "Sent": the service sends it again after the hold.
    lastFax: (await lastFax(db, order.id))?.status ?? null,
    faxChanges: corrections.filter(({ kind, at }) => kind === "fax" && at.getTime() > since).length,
    shippedAgain: againBy("shipping_retried"),
    faxedAgain: againBy("fax_retried"),
    refundIsAsked:
      (await openTasksOf(db, { orderId: order.id, kinds: ["refund_asked", "refund_approval"] })).length > 0,
  };
}

type Computed = "isSealed" | "lastFax" | "faxChanges" | "shippedAgain" | "faxedAgain" | "refundIsAsked";

/** Locks the owner's order until the transaction ends. @throws ServiceError `not_found` for another owner's order */
export async function lockOwnOrder(tx: Tx, { partnerId, environment }: Owner, code: string): Promise<LockedOrder> {
  const order = isCode(code) ? await lockOrder(tx, code) : undefined;
  if (order?.partnerId !== partnerId || order.environment !== environment)
    throw new ServiceError("not_found", "Order not found.");
  return order;
}

/** The corrections that a firm has made to its order, and for each possible action the reason against it, or null. */
export type Corrected = { status: string; corrections: Correction[]; refusals: Readonly<Record<Act, string | null>> };

/** @throws ServiceError `not_found` for another owner's order */
export async function readCorrected(db: Sql, orderCode: string, owner: Owner, at: Date): Promise<Corrected> {
  const order = isCode(orderCode) ? await findToCorrect(db, orderCode, owner) : undefined;
  if (!order) throw new ServiceError("not_found", "Order not found.");
  const trouble = await troubleOf(db, order, at);
  const refusals = Object.fromEntries(acts.map((act) => [act, whyNot(trouble, act)])) as Corrected["refusals"];
  return { status: order.status, corrections: await correctionsOf(db, order.id), refusals };
}
