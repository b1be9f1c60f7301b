import type { FastifyInstance } from "fastify";
import {
  type AccessDeps,
  approveRequest,
  decidedRequests,
  declineRequest,
  type ListedRequest,
  pendingRequests,
} from "../../../firms/access-requests/access-requests.ts";
import {
  type DecidedLiveRequest,
  decidedLiveRequests,
  grantLive,
  type OpenLiveRequest,
  openLiveRequests,
  refuseLive,
} from "../../../firms/live-requests/live-requests.ts";
import { may, type Operator } from "../../../firms/operators/operators.ts";
import { ServiceError } from "../../../kernel/platform/errors.ts";
import { isUuid } from "../../../kernel/platform/text.ts";
import {
  decideByOperator,
  findExecution,
  type Overview,
  overviewOfExecutions,
} from "../../../orders/playbooks/playbooks.ts";
import { card, pageHead } from "../../ui/components.ts";
import { errorSummary } from "../../ui/forms/fields.ts";
import { type Html, html } from "../../ui/render.ts";
import { done } from "../flash-messages.ts";
import { type ConsoleCall, type ConsoleFrame, consolePage, consoleRoute } from "../frame/console.ts";
import { endedFacts, endedTable, type Problem, waitingPart } from "./executions.ts";
import { decidedPart, livePart, requestsPart } from "./requests.ts";

export type ApprovalsDeps = { frame: ConsoleFrame; access: AccessDeps };

const requestsShown = 50;
const decidedShown = 10;

/**
 * Adds the page of the playbook runs, requests for access and requests for live that wait for a decision. Its forms
 * call the same feature modules as the command line.
 */
export function approvalRoutes(scope: FastifyInstance, deps: ApprovalsDeps): void {
  consoleRoute(scope, deps.frame, {
    url: "/operator/approvals",
    permission: ["orders.work", "partners.manage", "records.read"],
    handle: (call) => show(call, call.query["after"]),
  });

  consoleRoute(scope, deps.frame, {
    method: "POST",
    url: "/operator/playbooks/:id/decide",
    permission: "orders.work",
    async handle({ operator, params: { id }, form: { decision = "", after } }) {
      if (!(await findExecution(deps.access, operator.environment, id)))
        throw new ServiceError("not_found", "No such execution.");
      await decideByOperator(deps.access, id, decision.trim(), operator.actor);
      return done(pathOf(after), "execution-decided");
    },
    async refused(call, message) {
      const { id } = call.params;
      const { decision = "", after } = call.form;
      const execution = await findExecution(deps.access, call.operator.environment, id);
      return show(call, after, { message, decision, id, execution });
    },
  });

  for (const [verb, decide, message] of [
    ["approve", approveRequest, "request-approved"],
    ["decline", declineRequest, "request-declined"],
  ] as const)
    consoleRoute(scope, deps.frame, {
      method: "POST",
      url: `/operator/requests/:id/${verb}`,
      permission: "partners.manage",
      async handle({ operator, params, form }) {
        await decide(deps.access, params.id, operator.actor);
        return done(pathOf(form["after"]), message);
      },
      refused: (call, message) => show(call, call.form["after"], { message }),
    });

  const decided = {
    method: "POST",
    permission: "partners.manage",
    refused: (call: ConsoleCall<{ id: string }>, message: string) => show(call, "", { message }),
  } as const;

  consoleRoute(scope, deps.frame, {
    ...decided,
    url: "/operator/live-requests/:id/grant",
    async handle({ operator, params: { id } }) {
      await grantLive(deps.access, operator, id);
      return done("/operator/approvals#live", "live-granted");
    },
  });
  consoleRoute(scope, deps.frame, {
    ...decided,
    url: "/operator/live-requests/:id/refuse",
    async handle({ operator, params: { id }, form: { note = "" } }) {
      await refuseLive(deps.access, operator, id, note);
      return done("/operator/approvals#live", "live-refused");
    },
  });

  async function show({ request, operator }: ConsoleCall, after = "", problem?: Problem): Promise<string> {
    const { environment } = operator;
    const [executions, requests, liveRequests, decided, decidedLive] = await Promise.all([
      overviewOfExecutions(deps.access, environment, after),
      seesRequests(operator) ? pendingRequests(deps.access, requestsShown) : null,
      seesRequests(operator) ? openLiveRequests(deps.access) : null,
      seesRequests(operator) ? decidedRequests(deps.access, decidedShown) : null,
      seesRequests(operator) ? decidedLiveRequests(deps.access, decidedShown) : [],
    ]);
    const rights = { mayDecide: may(operator, "orders.work"), mayDecideRequests: may(operator, "partners.manage") };
    const body = approvalsBody({ executions, requests, liveRequests, decided, decidedLive, after, problem, ...rights });
    return consolePage(deps.frame, request, { title: "Approvals", section: "approvals", body });
  }
}

/**
 * True if the page shows requests for access and for live. Only real firms make such requests, so the page shows them
 * only in live. The operator must have permission to manage partners or to read records.
 */
const seesRequests = (operator: Operator): boolean =>
  operator.environment === "live" && (may(operator, "partners.manage") || may(operator, "records.read"));

/** The URL of the approvals, at the page of the list from which the operator sent the form. */
const pathOf = (after = ""): string => (isUuid(after) ? `/operator/approvals?after=${after}` : "/operator/approvals");

type ApprovalsView = {
  executions: Overview;
  /** The open requests; null when the page must not show them. */
  requests: Awaited<ReturnType<typeof pendingRequests>> | null;
  liveRequests: readonly OpenLiveRequest[] | null;
  decided: readonly ListedRequest[] | null;
  decidedLive: readonly DecidedLiveRequest[];
  mayDecide: boolean;
  mayDecideRequests: boolean;
  after: string;
  problem?: Problem | undefined;
};

/** The page with everything that waits for a decision, and with what was decided recently. */
function approvalsBody(view: ApprovalsView): Html {
  const { executions, requests, liveRequests, decided, decidedLive, after, problem, mayDecide, mayDecideRequests } =
    view;
  const { execution } = problem ?? {};
  return html`${pageHead("Approvals", "What is waiting for your decision. Each decision is final.")}
${errorSummary(problem?.message)}
<div class="panels">
${execution?.completedAt && card("became", "This one already ended", endedFacts(execution))}
${card("waiting", "Waiting for approval", waitingPart(executions, after, mayDecide, problem))}
${requests && card("requests", "Access requests", requestsPart(requests, after, mayDecideRequests))}
${liveRequests && card("live", "Requests for live", livePart(liveRequests, mayDecideRequests))}
${card("ended", "Playbook runs that ended recently", endedTable(executions.ended))}
${decided && card("decided", "Requests decided lately", decidedPart(decided, decidedLive))}
</div>`;
}
