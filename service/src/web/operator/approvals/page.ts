import type { pendingRequests } from "../../../access-requests/access-requests.ts";
import type { Overview } from "../../../playbooks/playbooks.ts";
import { card, pageHead } from "../../ui/components.ts";
import { errorSummary } from "../../ui/forms/fields.ts";
import { type Html, html } from "../../ui/render.ts";
import { endedFacts, endedTable, type Problem, waitingPart } from "./executions.ts";
import { requestsPart } from "./requests.ts";

export type ApprovalsView = {
  executions: Overview;
  /** Null where they are not shown. */
  requests: Awaited<ReturnType<typeof pendingRequests>> | null;
  mayDecide: boolean;
  mayDecideRequests: boolean;
  after: string;
  problem?: Problem | undefined;
};

/** What waits for a decision, and what was decided lately. */
export function approvalsBody(view: ApprovalsView): Html {
  const { executions, requests, after, problem, mayDecide, mayDecideRequests } = view;
  const { execution } = problem ?? {};
  return html`${pageHead("Approvals", "What is waiting for your decision. Each decision is final.")}
${errorSummary(problem?.message)}
<div class="panels">
${execution?.completedAt && card("became", "This one already ended", endedFacts(execution))}
${card("waiting", "Waiting for approval", waitingPart(executions, after, mayDecide, problem))}
${requests && card("requests", "Access requests", requestsPart(requests, after, mayDecideRequests))}
${card("ended", "Recently ended", endedTable(executions.ended))}
</div>`;
}
