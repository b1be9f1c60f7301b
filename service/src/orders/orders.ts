export { createOrder, type OrderDeps } from "./create.ts";
export { addFill, sweepFills } from "./fill.ts";
export { orderRoutes } from "./routes.ts";
export { type Services, serviceFlags } from "./services.ts";
export { type OrderStatus, orderStatuses } from "./statuses.ts";
export { findOrder } from "./store.ts";
export type { OrderRow } from "./views.ts";
