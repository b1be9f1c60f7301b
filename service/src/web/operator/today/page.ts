import type { Operator } from "../../../operators/operators.ts";
import { type QueueCount, type Task, type TaskKind, taskKinds } from "../../../tasks/tasks.ts";
import { card, emptyState, pageHead, statusBadge } from "../../ui/components.ts";
import { shortTime } from "../../ui/format.ts";
import { errorSummary } from "../../ui/forms/fields.ts";
import { records } from "../../ui/records.ts";
import { type Html, html } from "../../ui/render.ts";
import { taskTable } from "./task-table.ts";

export type TodayView = {
  operator: Operator;
  now: Date;
  counts: readonly QueueCount[];
  mine: readonly Task[];
  due: readonly Task[];
  error?: string | undefined;
};

/** What waits: one's own tasks, what is due first, and every queue. */
export function todayBody({ operator, now, counts, mine, due, error }: TodayView): Html {
  const open = counts.reduce((sum, count) => sum + count.open, 0);
  const overdue = counts.reduce((sum, count) => sum + count.overdue, 0);
  const lead = open === 0 ? "Nothing is waiting." : `${tasks(open)}, ${overdue.toLocaleString("en-US")} overdue.`;
  const table = { operator, now, back: "/operator" };
  return html`${pageHead("Today", lead)}
${errorSummary(error)}
<div class="panels">
${mine.length > 0 && card("mine", "Yours", taskTable({ ...table, tasks: mine, caption: "Tasks that you have claimed" }))}
${card("due", "Due first", due.length === 0 ? emptyState("All done", "New tasks appear here as orders need somebody.") : taskTable({ ...table, tasks: due, caption: "Tasks that are due first" }))}
${counts.length > 0 && card("queues", "Queues", queues(counts))}
</div>`;
}

const tasks = (count: number): string =>
  count === 1 ? "1 task is open" : `${count.toLocaleString("en-US")} tasks are open`;

function queues(counts: readonly QueueCount[]): Html {
  const byKind = new Map(counts.map((count) => [count.kind, count]));
  return records(
    "Queues",
    [
      { label: "Queue" },
      { label: "Open", number: true },
      { label: "Overdue", number: true },
      { label: "Due first", utc: true },
    ],
    (Object.keys(taskKinds) as TaskKind[]).flatMap((kind) => {
      const count = byKind.get(kind);
      if (!count) return [];
      const late = count.overdue.toLocaleString("en-US");
      return [
        [
          html`<a href="/operator/tasks/${kind}">${taskKinds[kind]}</a>`,
          count.open.toLocaleString("en-US"),
          count.overdue === 0 ? late : html`${statusBadge("attention", late)}`,
          shortTime(count.oldest),
        ],
      ];
    }),
  );
}

export type QueueView = {
  operator: Operator;
  now: Date;
  kind: TaskKind;
  tasks: readonly Task[];
  /** The address of the next page; null on the last. */
  next: string | null;
  isFirst: boolean;
  error?: string | undefined;
};

/** The open tasks of a kind. */
export function queueBody({ operator, now, kind, tasks, next, isFirst, error }: QueueView): Html {
  const path = `/operator/tasks/${kind}`;
  const pages =
    (next !== null || !isFirst) &&
    html`<nav class="pager" aria-label="Pages">${!isFirst && html`<a href="${path}">Due first</a>`}${next !== null && html`<a rel="next" href="${next}">Next page</a>`}</nav>`;
  return html`${pageHead(taskKinds[kind], "", html`<a href="/operator">Today</a>`)}
${errorSummary(error)}
${tasks.length === 0 ? emptyState("Nothing is waiting", "Tasks of this kind appear here.") : taskTable({ operator, now, tasks, caption: taskKinds[kind], back: path })}
${pages}`;
}
