import { auditLine } from "../../kernel/audit/audit.ts";
import type { Clock } from "../../kernel/platform/clock.ts";
import type { Database } from "../../kernel/platform/database/database.ts";
import { sql } from "../../kernel/platform/database/sql.ts";
import { invalid } from "../../kernel/platform/errors.ts";
import { orderNotFound, readOrderHead } from "../../orders/order/order.ts";

export type OrderNote = { author: string; text: string; createdAt: Date };

export const notesOfOrder = (db: Pick<Database, "query">, orderId: number) =>
  db.query<OrderNote>(sql`
    SELECT author, text, created_at AS "createdAt" FROM order_notes WHERE order_id = ${orderId} ORDER BY id DESC`);

/**
 * Adds a permanent note to an order. @throws ServiceError for an unknown order, and a note that is empty, too long or
 * contains NUL
 */
export async function addNote(
  { db, clock }: { db: Database; clock: Clock },
  { orderId, author, text }: { orderId: number; author: string; text: string },
): Promise<void> {
  const note = text.trim();
  if (note.length < 1 || note.length > 4000 || note.includes("\0"))
    throw invalid("note must have 1 to 4000 characters.");
  await db.transaction(async (tx) => {
    const at = clock();
    const order = await readOrderHead(tx, orderId);
    if (!order) throw orderNotFound();
    await tx.query(
      sql`INSERT INTO order_notes (order_id, author, text, created_at) VALUES (${orderId}, ${author}, ${note}, ${at})`,
    );
    await tx.query(auditLine({ at, action: "order.noted", actor: author, partnerId: order.partnerId, orderId }));
  });
}
