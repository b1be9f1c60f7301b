import { dispatchQueue, type LockedOrder, lockOrder } from "../orders/orders.ts";
import type { Clock } from "../platform/clock.ts";
import type { Database, Tx } from "../platform/database/database.ts";
import { sql } from "../platform/database/sql.ts";
import type { Jobs } from "../platform/jobs/jobs.ts";
import { closeTasks } from "../tasks/tasks.ts";

/** Who does a task of an order in place of people. */
export type Taker = {
  /** The task by which people do it. */
  kind: "label_print" | "packet_print" | "fax_send";
  /** Who closes the task: `provider:lob`. */
  actor: string;
  /**
   * Takes a locked live order on, in the transaction that holds its task: writes the intent of what it does. It is asked again after
   * a hold, and then says the same of what is under way or done.
   * @returns what the task is closed with (`sent by Lob`), `beside` where the task stays open, null where people do it
   */
  take: (tx: Tx, order: LockedOrder, at: Date) => Promise<{ outcome: string } | "beside" | null>;
};

type DispatchDeps = { db: Database; clock: Clock };

/** Live orders that came to wait for a label, a letter or a fax go to whoever takes them; what nobody takes people do. */
export function dispatchJobs(jobs: Jobs, deps: DispatchDeps, takers: readonly Taker[]): void {
  jobs.work<{ orderId: number }>(dispatchQueue, ({ orderId }) => dispatch(deps, takers, orderId));
}

/** By hand or by a provider, never both: only a task that nobody has claimed is taken from people. */
export async function dispatch({ db, clock }: DispatchDeps, takers: readonly Taker[], orderId: number): Promise<void> {
  if (takers.length === 0) return;
  await db.transaction(async (tx) => {
    const [found] = await tx.query<{ code: string }>(sql`SELECT code FROM orders WHERE id = ${orderId}`);
    const order = found && (await lockOrder(tx, found.code));
    if (order?.environment !== "live" || !["ShippingPending", "FaxPending"].includes(order.status)) return;
    const kinds = takers.map(({ kind }) => kind);
    const [task] = await tx.query<{ kind: string; state: string }>(sql`
      SELECT kind, state FROM tasks WHERE order_id = ${orderId} AND kind = ANY (${kinds}::text[])
        AND state IN ('open', 'claimed') FOR UPDATE`);
    const taker = takers.find(({ kind }) => kind === task?.kind);
    if (!taker || task?.state !== "open") return;
    const at = clock();
    const taken = await taker.take(tx, order, at);
    if (taken === null || taken === "beside") return;
    const end = { state: "done", at, by: taker.actor, outcome: taken.outcome } as const;
    await tx.query(closeTasks({ orderId, kinds: [taker.kind] }, end));
  });
}
