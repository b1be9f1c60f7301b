import { may, mayDoTask, type Operator } from "../../../operators/operators.ts";
import { endsByWord, type Task, taskWords } from "../../../tasks/tasks.ts";
import { statusBadge } from "../../ui/components.ts";
import { shortCode, shortTime } from "../../ui/format.ts";
import { buttonForm } from "../../ui/forms/button-form.ts";
import { field } from "../../ui/forms/fields.ts";
import { records } from "../../ui/records.ts";
import { type Html, html } from "../../ui/render.ts";
import { pathOfTask } from "./task-paths.ts";

export type TaskTable = { operator: Operator; now: Date; tasks: readonly Task[]; caption: string; back: string };

/** Tasks with what can be done about each. Their kind is shown; a queue's page says it once in its heading. */
export const taskTable = ({ operator, now, tasks, caption, back }: TaskTable): Html =>
  records(
    caption,
    [{ label: "Task" }, { label: "About" }, { label: "Due", utc: true }, { label: "Whose" }, { label: "Action" }],
    tasks.map((task) => [
      html`<a href="${pathOfTask(task, operator)}">${taskWords[task.kind]}</a>`,
      about(task),
      html`${shortTime(task.dueAt)}${task.dueAt <= now && html` ${statusBadge("attention", "Overdue")}`}`,
      claimedBy(task, operator),
      actions(task, operator, back),
    ]),
  );

const about = ({ orderCode, firmName, reference, reason, subject }: Task): Html =>
  orderCode === null
    ? html`<span class="breakable">${reason ?? subject}</span>`
    : html`${shortCode(orderCode)}<br><span class="quiet">${firmName}${reference !== null && html`, ${reference}`}</span>${reason !== null && html`<br><span class="quiet">${reason}</span>`}`;

const claimedBy = ({ state, claimedBy }: Task, { actor }: Operator): string => {
  if (state !== "claimed") return "Open";
  return claimedBy === actor ? "Yours" : "Claimed";
};

function actions({ id, kind, state, claimedBy, orderCode }: Task, operator: Operator, back: string): Html {
  const path = `/operator/tasks/${id}`;
  const options = { fields: { back }, kind: "quiet-button", about: `${taskWords[kind]} ${shortCode(orderCode ?? "")}` };
  const isOther = state === "claimed" && claimedBy !== operator.actor;
  if (isOther && may(operator, "people.manage")) return buttonForm(`${path}/release`, "Release", options);
  if (isOther || !mayDoTask(operator, kind)) return html`–`;
  if (state === "open") return buttonForm(`${path}/claim`, "Claim", options);
  const release = buttonForm(`${path}/release`, "Give back", options);
  if (!endsByWord(kind)) return release;
  return html`${release}<details class="ask"><summary>Done</summary><form class="form" method="post" action="${path}/done">
<input type="hidden" name="back" value="${back}">${field({ form: `task-${id}`, name: "outcome", label: "What was done", required: true, maxLength: 500 })}
<div class="form-actions"><button type="submit" class="quiet-button">Mark as done</button></div></form></details>`;
}
