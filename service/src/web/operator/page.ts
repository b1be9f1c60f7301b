import type { pendingRequests } from "../../access-requests/access-requests.ts";
import type { Overview } from "../../playbooks/playbooks.ts";
import { accountNav } from "../ui/account-nav.ts";
import type { Assets } from "../ui/assets.ts";
import { card, pageHead } from "../ui/components.ts";
import { errorSummary } from "../ui/forms/fields.ts";
import { layout } from "../ui/layout.ts";
import { type Html, html } from "../ui/render.ts";
import { endedFacts, endedTable, type Problem, waitingPart } from "./executions.ts";
import { requestsPart } from "./requests.ts";

export type OperatorView = {
  /** What was just done. */
  flash: Html | "";
  executions: Overview;
  requests: Awaited<ReturnType<typeof pendingRequests>>;
  after: string;
  problem?: Problem | undefined;
};

type AssetUrls = Pick<Assets, "url">;

/** Everything that waits for the operator, and what was decided lately. */
export function operatorPage(assets: AssetUrls, { flash, executions, requests, after, problem }: OperatorView): string {
  const { execution } = problem ?? {};
  return layout(assets, {
    title: "Operator",
    headerNav: accountNav("Operator"),
    body: html`${flash}${pageHead("Operator", "What is waiting for your decision. Each decision is final.")}
${errorSummary(problem?.message)}
<div class="panels">
${execution?.completedAt && card("became", "This one already ended", endedFacts(execution))}
${card("waiting", "Waiting for approval", waitingPart(executions, after, problem))}
${card("requests", "Access requests", requestsPart(requests, after))}
${card("ended", "Recently ended", endedTable(executions.ended))}
</div>`,
  });
}

/** For requests without a session of the operator: it says nothing about what is behind it. */
export const guestPage = (assets: AssetUrls): string =>
  layout(assets, {
    title: "For the operator",
    body: html`<div class="narrow"><h1>For the operator</h1>
<p class="lead">The operator is the person who runs this service from its command line. There are no passwords and no accounts.</p>
<p>Run <code>bin/signsealship operator link</code> there, and open the link it prints. It works once, within 10 minutes.</p></div>`,
  });
