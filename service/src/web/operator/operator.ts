import type { FastifyInstance } from "fastify";
import { type AccountDeps, accountRoutes } from "./account/routes.ts";
import { type ApprovalsDeps, approvalRoutes } from "./approvals/routes.ts";
import { consoleScope } from "./frame/console.ts";

export type OperatorDeps = ApprovalsDeps & AccountDeps;

/** The console of the people who run the service. */
export function operatorPages(app: FastifyInstance, deps: OperatorDeps): void {
  consoleScope(app, deps, (scope) => {
    approvalRoutes(scope, deps);
    accountRoutes(scope, deps);
  });
}
