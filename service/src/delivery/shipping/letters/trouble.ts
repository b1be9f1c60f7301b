import type { Sql, Tx } from "../../platform/database/database.ts";
import { sql } from "../../platform/database/sql.ts";
import { closeTasks, openTask } from "../../tasks/tasks.ts";
import { actor } from "./deps.ts";
import type { Letter } from "./store.ts";

type Which = Pick<Letter, "orderId" | "letterId">;

/** Has a person look after a letter, unless somebody does. */
export const openTrouble = (tx: Tx, { orderId, letterId: subject }: Which, at: Date, reason: string) =>
  tx.query(openTask({ kind: "delivery_trouble", at, environment: "live", orderId, subject, reason }));

/** Nobody needs to look after the letter any more. */
export const closeTrouble = (tx: Sql, { orderId, letterId: subject }: Which, at: Date, outcome: string) =>
  tx.query(closeTasks({ orderId, kinds: ["delivery_trouble"], subject }, { state: "done", at, by: actor, outcome }));

/** Whether a person was told to look after the letter since then. */
export async function hadTrouble(tx: Tx, { orderId, letterId }: Which, since: Date): Promise<boolean> {
  const found = await tx.query(sql`
    SELECT FROM tasks WHERE order_id = ${orderId} AND kind = 'delivery_trouble' AND subject = ${letterId}
      AND created_at >= ${since} LIMIT 1`);
  return found.length > 0;
}
