import type { Tx } from "../../platform/database/database.ts";
import { type Actor, applyTransition, type LockedOrder, type TransitionResult } from "./apply.ts";
import type { ProcessorEvent } from "./table.ts";

/**
 * Moves a locked order by what the processor signed. Only payments/ may import this: it is the one road to Paid, which leads at
 * once on to the first bought service.
 * @throws ServiceError `conflict` when the table refuses it: then nothing was written.
 */
export async function transitionByProcessor(
  tx: Tx,
  order: LockedOrder,
  on: ProcessorEvent,
  by: Actor,
): Promise<TransitionResult> {
  const result = await applyTransition(tx, order, on, by);
  if (result.order.status !== "Paid") return result;
  const begun = await applyTransition(tx, result.order, "next_segment", by);
  return { order: begun.order, from: order.status, firedEvents: [...result.firedEvents, ...begun.firedEvents] };
}
