export { callbackPath, createCallbacks } from "./callback-token.ts";
export { decideByOperator, sweepExecutions } from "./executions.ts";
export {
  callbackPaths,
  findExecution,
  listExecutions,
  type Overview,
  overviewOfExecutions,
  type ShownExecution,
} from "./overview.ts";
export { playbookRoutes } from "./routes.ts";
export { bringExecutionsNearer } from "./store.ts";
