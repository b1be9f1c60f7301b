import type { FastifyInstance } from "fastify";
import {
  type AccessDeps,
  approveRequest,
  declineRequest,
  pendingRequests,
} from "../../../access-requests/access-requests.ts";
import { may, type Operator } from "../../../operators/operators.ts";
import { ServiceError } from "../../../platform/errors.ts";
import { isUuid } from "../../../platform/text.ts";
import { decideByOperator, findExecution, overviewOfExecutions } from "../../../playbooks/playbooks.ts";
import { done } from "../../ui/flash-messages.ts";
import { type ConsoleCall, type ConsoleDeps, consolePage, consoleRoute } from "../frame/console.ts";
import type { Problem } from "./executions.ts";
import { approvalsBody } from "./page.ts";

export type ApprovalsDeps = ConsoleDeps & AccessDeps;

const requestsShown = 50;

/** Playbook runs and access requests that wait for a person, and the decisions, by the same front doors as the command line. */
export function approvalRoutes(scope: FastifyInstance, deps: ApprovalsDeps): void {
  consoleRoute(scope, deps, {
    url: "/operator/approvals",
    permission: ["orders.work", "partners.manage", "records.read"],
    handle: (call) => show(call, call.query["after"]),
  });

  consoleRoute(scope, deps, {
    method: "POST",
    url: "/operator/playbooks/:id/decide",
    permission: "orders.work",
    async handle({ operator, params: { id }, form: { decision = "", after } }) {
      if (!(await findExecution(deps, operator.environment, id)))
        throw new ServiceError("not_found", "No such execution.");
      await decideByOperator(deps, id, decision.trim(), operator.actor);
      return done(pathOf(after), "execution-decided");
    },
    async refused(call, message) {
      const { id } = call.params;
      const { decision = "", after } = call.form;
      const execution = await findExecution(deps, call.operator.environment, id);
      return show(call, after, { message, decision, id, execution });
    },
  });

  for (const [verb, decide, message] of [
    ["approve", approveRequest, "request-approved"],
    ["decline", declineRequest, "request-declined"],
  ] as const)
    consoleRoute(scope, deps, {
      method: "POST",
      url: `/operator/requests/:id/${verb}`,
      permission: "partners.manage",
      async handle({ operator, params, form }) {
        await decide(deps, params.id, operator.actor);
        return done(pathOf(form["after"]), message);
      },
      refused: (call, message) => show(call, call.form["after"], { message }),
    });

  async function show({ request, operator }: ConsoleCall, after = "", problem?: Problem): Promise<string> {
    const { environment } = operator;
    const [executions, requests] = await Promise.all([
      overviewOfExecutions(deps, environment, after),
      seesRequests(operator) ? pendingRequests(deps, requestsShown) : null,
    ]);
    const rights = { mayDecide: may(operator, "orders.work"), mayDecideRequests: may(operator, "partners.manage") };
    const body = approvalsBody({ executions, requests, after, problem, ...rights });
    return consolePage(deps, request, { title: "Approvals", section: "approvals", body });
  }
}

/** Requests for access are real: they are shown in live, to whom firms and records are open. */
const seesRequests = (operator: Operator): boolean =>
  operator.environment === "live" && (may(operator, "partners.manage") || may(operator, "records.read"));

/** Back to the page of the list that one was on. */
const pathOf = (after = ""): string => (isUuid(after) ? `/operator/approvals?after=${after}` : "/operator/approvals");
