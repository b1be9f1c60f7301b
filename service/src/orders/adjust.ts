import type { Tx } from "../platform/database/database.ts";
import { sql } from "../platform/database/sql.ts";
import { writeStateMacs } from "../platform/database/state-mac.ts";
import { invalid } from "../platform/errors.ts";
import { orderState } from "./order-mac.ts";

/**
 * Adds a line to the quote of a locked order that is being priced by a person.
 * @param amountCents may be negative. @throws ServiceError when the total would not be more than nothing
 */
export async function addAdjustment(tx: Tx, orderId: number, amountCents: number, label: string): Promise<void> {
  const line = JSON.stringify([{ type: "ServiceAdjustment", label, amountCents }]);
  const adjusted = await tx.query(sql`
    UPDATE orders SET lines = lines || ${line}::jsonb, subtotal_cents = subtotal_cents + ${amountCents},
      total_cents = total_cents + ${amountCents}
    WHERE id = ${orderId} AND total_cents + ${amountCents} > 0 RETURNING 1`);
  if (adjusted.length === 0) throw invalid("The total must stay above zero.");
  await writeStateMacs(tx, orderState, sql`id = ${orderId}`);
}
