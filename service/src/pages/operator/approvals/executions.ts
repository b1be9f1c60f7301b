import type { Overview, ShownExecution } from "../../../orders/playbooks/playbooks.ts";
import { emptyState, facts } from "../../ui/components.ts";
import { time } from "../../ui/format.ts";
import { buttonForm, hiddenFields } from "../../ui/forms/button-form.ts";
import { field } from "../../ui/forms/fields.ts";
import { records } from "../../ui/records.ts";
import { type Html, html } from "../../ui/render.ts";

/**
 * The reason why a form was rejected. For a decision on an execution, also the typed values, and the execution in its
 * current state.
 */
export type Problem = {
  message: string;
  id?: string;
  decision?: string;
  execution?: ShownExecution | undefined;
};

const firmOf = ({ firmName, environment }: ShownExecution): Html =>
  html`${firmName}<span class="firm-environment">${environment === "live" ? "Live" : "Test"}</span>`;

/** The kind and the subject of an execution, as named by the caller of the playbook. */
const subjectOf = ({ arguments: { kind = "", subjectId = "" } }: ShownExecution): Html =>
  html`<span class="subject">${String(kind)}<strong>${String(subjectId)}</strong></span>`;

const subjectText = ({ arguments: { kind = "", subjectId = "" } }: ShownExecution): string => `${kind} ${subjectId}`;

/** One page of the executions that wait for a decision, each with its forms. */
export function waitingPart(
  { waiting, waitingTotal, next }: Overview,
  after: string,
  mayDecide: boolean,
  problem?: Problem,
): Html {
  if (waitingTotal === 0) return emptyState("Nothing is waiting", "Playbook runs that partners start appear here.");
  const count = waitingTotal === 1 ? "1 is waiting" : `${waitingTotal.toLocaleString("en-US")} are waiting`;
  const more = waitingTotal - waiting.length;
  const lead = after === "" && more === 0 ? `${count}.` : `${count}; ${waiting.length} are on this page.`;
  const first = after !== "" && html`<a class="button quiet-button" href="/operator/approvals">Back to the first</a>`;
  const further = next && html`<a class="button quiet-button" href="/operator/approvals?after=${next}">Show more</a>`;
  return html`<p>${lead} Those that expire first are at the top.</p>
${records(
  "Runs waiting for approval",
  [
    { label: "Subject" },
    { label: "Firm" },
    { label: "Started" },
    { label: "Expires" },
    ...(mayDecide ? [{ label: "Decision" }] : []),
  ],
  waiting.map((execution) => [
    subjectOf(execution),
    firmOf(execution),
    time(execution.startedAt),
    time(execution.expiresAt),
    ...(mayDecide ? [decisionForms(execution, after, problem?.id === execution.id ? problem : undefined)] : []),
  ]),
)}
${(next || after !== "") && html`<nav class="form-actions" aria-label="More runs">${first}${further}</nav>`}`;
}

/** Two buttons for the usual decisions, and a field for any other decision. */
function decisionForms(execution: ShownExecution, after: string, problem?: Problem): Html {
  const action = `/operator/playbooks/${execution.id}/decide`;
  const about = subjectText(execution);
  const sent: Record<string, string> = after === "" ? {} : { after };
  return html`<div class="row-actions">${buttonForm(action, "Approve", { fields: { ...sent, decision: "approved" }, about })}${buttonForm(
    action,
    "Reject",
    { fields: { ...sent, decision: "rejected" }, kind: "danger-button", about },
  )}</div><details class="ask"${problem && html` open`}><summary>Other decision<span class="visually-hidden"> on ${about}</span></summary>
<form class="form" method="post" action="${action}">${hiddenFields(sent)}
${field({ form: execution.id, name: "decision", label: "Decision", required: true, maxLength: 200, value: problem?.decision, error: problem?.message, autocomplete: "off" })}
<div class="form-actions"><button type="submit" class="quiet-button">Record decision</button></div>
</form></details>`;
}

const deciders: Readonly<Record<string, string>> = {
  operator: "The operator",
  "operator:cli": "The operator",
  callback: "Callback",
  system: "Expired",
};

const endedBy = ({ endedBy }: ShownExecution): string =>
  deciders[endedBy ?? ""] ?? (endedBy?.startsWith("operator:") ? "An operator" : "");

const endedAt = ({ completedAt }: ShownExecution): Html | string => (completedAt ? time(completedAt) : "");

/** A table of the executions that ended most recently. */
export const endedTable = (ended: readonly ShownExecution[]): Html =>
  ended.length === 0
    ? emptyState("None ended yet", "Decisions and expired runs are listed here.")
    : records(
        "Runs that ended recently",
        [{ label: "Subject" }, { label: "Firm" }, { label: "Outcome" }, { label: "Decided by" }, { label: "Ended" }],
        ended.map((execution) => [
          subjectOf(execution),
          firmOf(execution),
          html`<span class="outcome-text">${execution.outcome ?? ""}</span>`,
          endedBy(execution),
          endedAt(execution),
        ]),
      );

/** Facts about an execution that had already ended when a decision was sent. */
export const endedFacts = (execution: ShownExecution): Html =>
  facts([
    ["Subject", subjectText(execution)],
    ["Firm", firmOf(execution)],
    ["Outcome", execution.outcome],
    ["Decided by", endedBy(execution)],
    ["Ended", endedAt(execution)],
  ]);
