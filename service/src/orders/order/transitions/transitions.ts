import type { Tx } from "../../platform/database/database.ts";
import { type Actor, applyTransition, type LockedOrder, type TransitionResult } from "./apply.ts";
import type { PeopleEvent } from "./table.ts";

export { type Actor, type LockedOrder, lockOrder, type TransitionResult } from "./apply.ts";

/**
 * Moves a locked order by what people and their tools do; what the processor says comes in by `by-processor.ts` alone.
 * @throws ServiceError `conflict` when the table refuses it: then nothing was written.
 */
export const transition = (tx: Tx, order: LockedOrder, on: PeopleEvent, by: Actor): Promise<TransitionResult> =>
  applyTransition(tx, order, on, by);
