export { orderMailJobs } from "./mails.ts";
export { type MoveDeps, moveOrder } from "./move-order.ts";
export { type OrderStory, orderStory } from "./order-history.ts";
export { sandboxRoutes } from "./sandbox/routes.ts";
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
} from "./sandbox/sandbox.ts";
