import type { Tx } from "../../../kernel/platform/database/database.ts";
import { type Actor, applyTransition, type LockedOrder, type TransitionResult } from "./apply.ts";
import type { ProcessorEvent } from "./table.ts";

/**
 * Moves a locked order by an event about its payment (see `ProcessorEvent`), by the rules of table.ts. When the order
 * becomes Paid, its first bought service starts. Only payments/ may import this, because nothing else may set an order
 * to Paid.
 * @throws ServiceError `conflict` when the transition table does not allow the event; nothing was written then
 */
export async function transitionByProcessor(
  tx: Tx,
  order: LockedOrder,
  on: ProcessorEvent,
  by: Actor,
): Promise<TransitionResult> {
  const result = await applyTransition(tx, order, on, by);
  if (result.order.status !== "Paid") return result;
  const started = await applyTransition(tx, result.order, "next_segment", by);
  return { order: started.order, from: order.status, firedEvents: [...result.firedEvents, ...started.firedEvents] };
}
