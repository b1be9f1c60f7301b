import type { pendingRequests } from "../../../access-requests/access-requests.ts";
import type { Overview } from "../../../playbooks/playbooks.ts";
import { card, pageHead } from "../../ui/components.ts";
import { errorSummary } from "../../ui/forms/fields.ts";
import { type Html, html } from "../../ui/render.ts";
import { endedFacts, endedTable, type Problem, waitingPart } from "./executions.ts";
import { requestsPart } from "./requests.ts";

export type ApprovalsView = {
  executions: Overview;
  requests: Awaited<ReturnType<typeof pendingRequests>>;
  after: string;
  problem?: Problem | undefined;
};

/** What waits for a decision, and what was decided lately. */
export function approvalsBody({ executions, requests, after, problem }: ApprovalsView): Html {
  const { execution } = problem ?? {};
  return html`${pageHead("Approvals", "What is waiting for your decision. Each decision is final.")}
${errorSummary(problem?.message)}
<div class="panels">
${execution?.completedAt && card("became", "This one already ended", endedFacts(execution))}
${card("waiting", "Waiting for approval", waitingPart(executions, after, problem))}
${card("requests", "Access requests", requestsPart(requests, after))}
${card("ended", "Recently ended", endedTable(executions.ended))}
</div>`;
}
