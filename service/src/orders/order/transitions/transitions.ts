import type { Tx } from "../../../kernel/platform/database/database.ts";
import { type Actor, applyTransition, type LockedOrder, type TransitionResult } from "./apply.ts";
import type { PeopleEvent } from "./table.ts";

export { type Actor, type LockedOrder, lockOrder, type TransitionResult } from "./apply.ts";

/**
 * Moves a locked order by an event of people and their tools. Events of the payment processor enter by
 * `by-processor.ts`.
 * @throws ServiceError `conflict` when the table refuses it: then nothing was written
 */
export const transition = (tx: Tx, order: LockedOrder, on: PeopleEvent, by: Actor): Promise<TransitionResult> =>
  applyTransition(tx, order, on, by);
