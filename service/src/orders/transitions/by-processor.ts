import type { Tx } from "../../platform/database.ts";
import { type LockedOrder, type Moved, type Mover, move } from "./apply.ts";
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
  mover: Mover,
): Promise<Moved> {
  const moved = await move(tx, order, on, mover);
  if (moved.order.status !== "Paid") return moved;
  const begun = await move(tx, moved.order, "next_segment", mover);
  return { order: begun.order, from: order.status, firedEvents: [...moved.firedEvents, ...begun.firedEvents] };
}
