import type { FastifyInstance, FastifyRequest } from "fastify";
import {
  type AccessDeps,
  approveRequest,
  declineRequest,
  pendingRequests,
} from "../../../access-requests/access-requests.ts";
import type { Operator } from "../../../operators/operators.ts";
import { isUuid } from "../../../platform/text.ts";
import { decideByOperator, findExecution, overviewOfExecutions } from "../../../playbooks/playbooks.ts";
import { done } from "../../ui/flash-messages.ts";
import { type ConsoleDeps, consolePage, consoleRoute } from "../frame/console.ts";
import type { Problem } from "./executions.ts";
import { approvalsBody } from "./page.ts";

export type ApprovalsDeps = ConsoleDeps & AccessDeps;

const requestsShown = 50;

/** Playbook runs and access requests that wait for a person, and the decisions, by the same front doors as the command line. */
export function approvalRoutes(scope: FastifyInstance, deps: ApprovalsDeps): void {
  consoleRoute(scope, deps, {
    url: "/operator/approvals",
    permission: ["orders.work", "partners.manage"],
    handle: ({ query, request }) => show(request, query["after"]),
  });

  consoleRoute(scope, deps, {
    method: "POST",
    url: "/operator/playbooks/:id/decide",
    permission: "orders.work",
    async handle({ operator, params: { id }, form: { decision = "", after } }) {
      await decideByOperator(deps, id, decision.trim(), actorOf(operator));
      return done(pathOf(after), "execution-decided");
    },
    refused: async ({ params: { id }, form: { decision = "", after }, request }, message) =>
      show(request, after, { message, decision, id, execution: await findExecution(deps, id) }),
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
        await decide(deps, params.id, actorOf(operator));
        return done(pathOf(form["after"]), message);
      },
      refused: ({ form, request }, message) => show(request, form["after"], { message }),
    });

  async function show(request: FastifyRequest, after = "", problem?: Problem): Promise<string> {
    const [executions, requests] = await Promise.all([
      overviewOfExecutions(deps, after),
      pendingRequests(deps, requestsShown),
    ]);
    const body = approvalsBody({ executions, requests, after, problem });
    return consolePage(deps, request, { title: "Approvals", section: "approvals", body });
  }
}

/** Who decides, for the audit log; a link of the command line is the command line. */
const actorOf = ({ id, actor }: Operator): string => (id === null ? "operator" : actor);

/** Back to the page of the list that one was on. */
const pathOf = (after = ""): string => (isUuid(after) ? `/operator/approvals?after=${after}` : "/operator/approvals");
