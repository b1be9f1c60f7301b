export { callbackPath, createCallbacks } from "./callback.ts";
export { decideByOperator, executionIdOf, listExecutions, sweepExecutions } from "./executions.ts";
export { playbookRoutes } from "./routes.ts";
