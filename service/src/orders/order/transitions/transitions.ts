import type { Tx } from "../../../kernel/platform/database/database.ts";
import { type Actor, applyTransition, type LockedOrder, type TransitionResult } from "./apply.ts";
import type { PeopleEvent } from "./table.ts";

export {
  type Actor,
  type LockedOrder,
  lockOrder,
  lockOrders,
  lockUnalteredOrders,
  noteStatus,
  type TransitionResult,
} from "./apply.ts";

/**
 * Moves a locked order by an event that people or their tools cause. Events of the payment processor use
 * `by-processor.ts`.
 * @throws ServiceError `conflict` when the transition table does not allow the event, or a needed document is not
 * stored; nothing was written then
 */
export const transition = (tx: Tx, order: LockedOrder, on: PeopleEvent, by: Actor): Promise<TransitionResult> =>
  applyTransition(tx, order, on, by);
