export { type MoveDeps, moveOrder } from "./move-order.ts";
export { orderMailJobs } from "./order-mails.ts";
export { sandboxRoutes } from "./sandbox-routes.ts";
export { type OrderStory, orderStory } from "./story.ts";
