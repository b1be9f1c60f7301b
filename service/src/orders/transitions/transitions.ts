import type { Tx } from "../../platform/database.ts";
import { type LockedOrder, type Moved, type Mover, move } from "./apply.ts";
import type { PeopleEvent } from "./table.ts";

export {
  closeCheckoutQueue,
  type LockedOrder,
  lockOrder,
  type MailMoment,
  type Moved,
  type Mover,
  orderMailQueue,
  refundQueue,
  type Topic,
} from "./apply.ts";
export {
  eventsTo,
  isPayable,
  type PeopleEvent,
  processorEvents,
  table,
  targetOf,
  wordsOf,
} from "./table.ts";

/**
 * Moves a locked order by what people and their tools do; what the processor says comes in by
 * `by-processor.ts` alone.
 * @throws ServiceError `conflict` when the table refuses it: then nothing was written.
 */
export const transition = (tx: Tx, order: LockedOrder, on: PeopleEvent, mover: Mover): Promise<Moved> =>
  move(tx, order, on, mover);
