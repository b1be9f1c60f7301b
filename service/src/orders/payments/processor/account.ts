/** The processor's account, and the orders that are paid there. */
import type { Environment } from "../../../kernel/identity/identity.ts";
import type { Sql } from "../../../kernel/platform/database/database.ts";
import { sql } from "../../../kernel/platform/database/sql.ts";
import { type Marked, marked } from "../../../kernel/platform/database/state-mac.ts";
import { orderState } from "../../order/order.ts";
import { type Processor, processorFor } from "./processor.ts";

/**
 * The processor at which the order is paid; null for none. Of an altered order, the environment doesn't count, because
 * a checkout that may be open at the processor has to be closed there.
 */
export async function processorOfOrder(
  db: Sql,
  processor: Processor | null,
  orderId: number,
): Promise<Processor | null> {
  const [order] = await db.query<{ environment: Environment } & Marked>(sql`
    SELECT environment, ${marked(orderState, sql`orders`)} FROM orders WHERE id = ${orderId}`);
  return order?.isAuthentic ? processorFor(processor, order.environment) : processor;
}
