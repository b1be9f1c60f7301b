export { type MoveDeps, moveOrder } from "./move-order.ts";
export { orderMailJobs } from "./order-mails.ts";
export {
  milestones,
  outcomes,
  type SandboxDeps,
  type SandboxRequest,
  sandboxAdvance,
  sandboxCheckout,
  sandboxComplete,
  sandboxMoves,
  type Walked,
} from "./sandbox.ts";
export { sandboxRoutes } from "./sandbox-routes.ts";
export { type OrderStory, orderStory } from "./story.ts";
