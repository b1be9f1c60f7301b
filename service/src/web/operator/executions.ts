import type { Overview, ShownExecution } from "../../playbooks/playbooks.ts";
import { emptyState, facts } from "../ui/components.ts";
import { time } from "../ui/format.ts";
import { buttonForm, hiddenFields } from "../ui/forms/button-form.ts";
import { field } from "../ui/forms/fields.ts";
import { records } from "../ui/records.ts";
import { type Html, html } from "../ui/render.ts";

/** Why a form was refused; of a decision also what was typed, and the execution as it is now. */
export type Problem = {
  message: string;
  id?: string;
  decision?: string;
  execution?: ShownExecution | undefined;
};

const firmOf = ({ firmName, environment }: ShownExecution): Html =>
  html`${firmName}<span class="firm-environment">${environment === "live" ? "Live" : "Test"}</span>`;

/** Kind and subject, as the caller named them. */
const subjectOf = ({ arguments: { kind = "", subjectId = "" } }: ShownExecution): Html =>
  html`<span class="subject">${String(kind)}<strong>${String(subjectId)}</strong></span>`;

const subjectText = ({ arguments: { kind = "", subjectId = "" } }: ShownExecution): string => `${kind} ${subjectId}`;

/** Executions that may be decided, a page of them, each with its forms. */
export function waitingPart({ waiting, waitingTotal, next }: Overview, after: string, problem?: Problem): Html {
  if (waitingTotal === 0) return emptyState("Nothing waits", "Executions that partners start appear here.");
  const count = waitingTotal === 1 ? "One waits" : `${waitingTotal.toLocaleString("en-US")} wait`;
  const more = waitingTotal - waiting.length;
  const lead = after === "" && more === 0 ? `${count}.` : `${count}; ${waiting.length} of them are on this page.`;
  return html`<p>${lead} What expires first is at the top.</p>
${records(
  "Executions that wait",
  [{ label: "Subject" }, { label: "Firm" }, { label: "Started" }, { label: "Expires" }, { label: "Decision" }],
  waiting.map((execution) => [
    subjectOf(execution),
    firmOf(execution),
    time(execution.startedAt),
    time(execution.expiresAt),
    decisionForms(execution, after, problem?.id === execution.id ? problem : undefined),
  ]),
)}
${(next || after !== "") && html`<nav class="form-actions" aria-label="Pages of executions">${after !== "" && html`<a role="button" class="quiet-button" href="/operator">Back to the first</a>`}${next && html`<a role="button" class="quiet-button" href="/operator?after=${next}">Show the next</a>`}</nav>`}`;
}

/** Two buttons for the usual decisions, and a field for another. */
function decisionForms(execution: ShownExecution, after: string, problem?: Problem): Html {
  const action = `/operator/playbooks/${execution.id}/decide`;
  const about = subjectText(execution);
  const sent: Record<string, string> = after === "" ? {} : { after };
  return html`<div class="row-actions">${buttonForm(action, "Approve", { fields: { ...sent, decision: "approved" }, about })}${buttonForm(
    action,
    "Reject",
    { fields: { ...sent, decision: "rejected" }, kind: "danger-button", about },
  )}</div><details class="ask"${problem && html` open`}><summary>Another decision<span class="visually-hidden"> on ${about}</span></summary>
<form class="form" method="post" action="${action}">${hiddenFields(sent)}
${field({ form: execution.id, name: "decision", label: "Decision", required: true, maxLength: 200, value: problem?.decision, error: problem?.message, autocomplete: "off" })}
<div class="form-actions"><button type="submit" class="quiet-button">Decide</button></div>
</form></details>`;
}

const enders: Readonly<Record<string, string>> = {
  operator: "The operator",
  callback: "Its callback",
  system: "Nobody in time",
};

const endedBy = ({ endedBy }: ShownExecution): string => enders[endedBy ?? ""] ?? "";

const endedAt = ({ completedAt }: ShownExecution): Html | string => (completedAt ? time(completedAt) : "");

/** The latest that ended. */
export const endedTable = (ended: readonly ShownExecution[]): Html =>
  ended.length === 0
    ? emptyState("None ended yet", "Decisions, and what expired, are listed here.")
    : records(
        "Executions that ended lately",
        [{ label: "Subject" }, { label: "Firm" }, { label: "Outcome" }, { label: "Decided by" }, { label: "Ended" }],
        ended.map((execution) => [
          subjectOf(execution),
          firmOf(execution),
          html`<span class="outcome-text">${execution.outcome ?? ""}</span>`,
          endedBy(execution),
          endedAt(execution),
        ]),
      );

/** How an execution ended that was to be decided once more. */
export const becameOf = (execution: ShownExecution): Html =>
  facts([
    ["Subject", subjectText(execution)],
    ["Firm", firmOf(execution)],
    ["Outcome", execution.outcome],
    ["Decided by", endedBy(execution)],
    ["Ended", endedAt(execution)],
  ]);
