import type { Tx } from "../platform/database.ts";
import { invalid } from "../platform/errors.ts";

/**
 * Adds a line to the quote of a locked order that is being priced by a person.
 * @param amountCents may be negative. @throws ServiceError when the total would not be more than nothing
 */
export async function addAdjustment(tx: Tx, orderId: number, amountCents: number, label: string): Promise<void> {
  const adjusted = await tx.rows(
    `UPDATE orders SET lines = lines || $3::jsonb, subtotal_cents = subtotal_cents + $2, total_cents = total_cents + $2
     WHERE id = $1 AND total_cents + $2 > 0 RETURNING 1`,
    [orderId, amountCents, JSON.stringify([{ type: "ServiceAdjustment", label, amountCents }])],
  );
  if (adjusted.length === 0) throw invalid("The total must stay above zero.");
}
