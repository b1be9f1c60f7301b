export { callbackPath, createCallbacks } from "./callback.ts";
export { decideByOperator, listExecutions, sweepExecutions } from "./executions.ts";
export { executionIdOf, isExecutionId } from "./names.ts";
export { findExecution, type Overview, overviewOfExecutions, type ShownExecution } from "./overview.ts";
export { playbookRoutes } from "./routes.ts";
