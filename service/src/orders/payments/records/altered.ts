/**
 * Orders whose own record or payment records were altered in the database. The service charges nothing for such an
 * order, and the processor's events don't move it. A task names the order, so that a person checks its money and that
 * of the orders paid together with it.
 */
import type { Tx } from "../../../kernel/platform/database/database.ts";
import { sql } from "../../../kernel/platform/database/sql.ts";
import { isAltered } from "../../../kernel/platform/database/state-mac.ts";
import { maskCode } from "../../../kernel/platform/ids.ts";
import { openTask } from "../../../kernel/tasks/tasks.ts";
import { type LockedOrder, lockUnalteredOrders, ordersTable } from "../../order/order.ts";

export type AlteredOrder = { orderId: number; orderCode: string };

/**
 * Locks orders by ascending id. @returns the orders whose own record is unaltered in `orders`, and the other ones in
 * `altered`
 */
export async function lockSorted(
  tx: Tx,
  all: readonly AlteredOrder[],
): Promise<{ orders: LockedOrder[]; altered: AlteredOrder[] }> {
  const orders = await lockUnalteredOrders(
    tx,
    all.map(({ orderCode }) => orderCode),
  );
  const sound = new Set(orders.map(({ id }) => id));
  return { orders, altered: all.filter(({ orderId }) => !sound.has(orderId)) };
}

/**
 * True if the work read no altered record. Waits until the work has ended.
 * @throws any error of the work that is not about an altered record
 */
export const isSound = (work: Promise<unknown>): Promise<boolean> =>
  work.then(
    () => true,
    (error: unknown) => {
      if (!isAltered(error)) throw error;
      return false;
    },
  );

/** The orders of a payment as a task names them, such as `3FA2B1…, 09C7DE…`. */
export const orderNames = (orders: readonly Pick<AlteredOrder, "orderCode">[]): string =>
  orders.map(({ orderCode }) => maskCode(orderCode)).join(", ");

/**
 * Opens a task about each altered order, unless one with the same `about` is open.
 * @param about `charge` when the firm was not charged, `event` when an event of the processor was not applied
 * @param consequence what happened to the order's money, as a sentence
 */
export async function reportAltered(
  tx: Tx,
  altered: readonly AlteredOrder[],
  { about, consequence, at }: { about: "charge" | "event"; consequence: string; at: Date },
): Promise<void> {
  for (const { orderId, orderCode } of altered) {
    const reason = `Order ${maskCode(orderCode)}, or a record about its money, was altered in the database; \`doctor\` names the record. ${consequence}`;
    const task = {
      kind: "order_altered",
      at,
      environment: sql`o.environment`,
      orderId,
      subject: about,
      reason,
    } as const;
    await openTask(tx, task, sql`${ordersTable} WHERE o.id = ${orderId}`);
  }
}
