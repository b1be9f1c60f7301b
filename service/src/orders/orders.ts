export { addAdjustment } from "./adjust.ts";
export { createOrder, type OrderDeps } from "./create.ts";
export { addFill, sweepFills } from "./fill.ts";
export { orderPage } from "./list.ts";
export { orderRoutes } from "./routes.ts";
export { type Services, serviceFlags } from "./services.ts";
export { findOrder, findOwnOrder } from "./store.ts";
export { wasPaid } from "./transitions/status-groups.ts";
export { type OrderStatus, orderStatuses } from "./transitions/statuses.ts";
export { isPayable } from "./transitions/table.ts";
export {
  closeCheckoutQueue,
  eventsTo,
  type LockedOrder,
  lockOrder,
  type MailMoment,
  type Moved,
  type Mover,
  orderMailQueue,
  type PeopleEvent,
  processorEvents,
  refundQueue,
  type Topic,
  targetOf,
  transition,
  wordsOf,
} from "./transitions/transitions.ts";
export type { OrderRow, PublicOrderRow } from "./views.ts";
