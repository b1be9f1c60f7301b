import type { Tx } from "../../platform/database/database.ts";
import { sql } from "../../platform/database/sql.ts";
import { closeTasks, openTask } from "../../tasks/tasks.ts";
import type { AnyAct, Intent } from "./act.ts";

// People and the provider never do the same at once: the task by which people do it is open, or the act is under way.

/** Whether a person has taken it on. */
export async function isClaimedByHand(tx: Tx, { byHand }: AnyAct, { orderId }: Intent): Promise<boolean> {
  const found = await tx.query(sql`
    SELECT FROM tasks WHERE order_id = ${orderId} AND kind = ${byHand} AND state = 'claimed'`);
  return found.length > 0;
}

/** Nobody can claim it while the act is under way. */
export const pauseByHand = (tx: Tx, { byHand }: AnyAct, { orderId }: Intent) =>
  tx.query(sql`UPDATE tasks SET state = 'paused' WHERE order_id = ${orderId} AND kind = ${byHand} AND state = 'open'`);

/** The act was not done: people may, unless the order is on hold. */
export const resumeByHand = (tx: Tx, { byHand }: AnyAct, { orderId }: Intent) =>
  tx.query(sql`
    UPDATE tasks t SET state = 'open' FROM orders o
    WHERE t.order_id = ${orderId} AND o.id = t.order_id AND o.status <> 'OnHold' AND t.kind = ${byHand}
      AND t.state = 'paused' AND t.claimed_by IS NULL
      AND NOT EXISTS (SELECT FROM tasks x WHERE x.order_id = t.order_id AND x.kind = t.kind AND x.state IN ('open', 'claimed'))`);

/** Has people do it, unless the order is on hold, or the task waits already. */
export async function openByHand(
  tx: Tx,
  { byHand }: AnyAct,
  { orderId }: Intent,
  { at, reason }: { at: Date; reason: string },
): Promise<void> {
  if (byHand === null) return;
  const free = sql`orders o WHERE o.id = ${orderId} AND o.status <> 'OnHold' AND NOT EXISTS (
    SELECT FROM tasks x WHERE x.order_id = o.id AND x.kind = ${byHand} AND x.state = 'paused')`;
  await tx.query(openTask({ kind: byHand, at, environment: "live", orderId, reason }, free));
}

export async function closeByHand(
  tx: Tx,
  { byHand }: AnyAct,
  { orderId }: Intent,
  end: { at: Date; by: string; outcome: string },
): Promise<void> {
  if (byHand === null) return;
  await tx.query(closeTasks({ orderId, kinds: [byHand] }, { state: "done", ...end }));
}
