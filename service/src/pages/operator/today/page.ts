import { may, mayDoTask, needsPasskeyFirst, type Operator } from "../../../firms/operators/operators.ts";
import { isUuid } from "../../../kernel/platform/text.ts";
import { endsByWord, mayAskAgain, type TaskKind, taskKinds, taskWords } from "../../../kernel/tasks/tasks.ts";
import { outsideWays } from "../../../orders/payments/payments.ts";
import { bookerNeeded } from "../../../orders/refunds/refunds.ts";
import { type NotaryDay, type SupplyState, waitingWords } from "../../../signing/notaries/notaries.ts";
import type { QueueCount, Task } from "../../../upkeep/console/console.ts";
import { card, emptyState, pageHead, statusBadge } from "../../ui/components.ts";
import { shortCode, shortTime } from "../../ui/format.ts";
import { buttonForm } from "../../ui/forms/button-form.ts";
import { checkbox, errorSummary, field, select } from "../../ui/forms/fields.ts";
import { records } from "../../ui/records.ts";
import { type Html, html } from "../../ui/render.ts";
import { openIn, waitsElsewhere } from "../frame/elsewhere.ts";
import { notaryWarning } from "../frame/notary-warning.ts";
import { addPasskeyLink } from "../frame/passkey-first.ts";
import { claimButton, deskTable } from "../notary/desk-pages.ts";

export type TodayView = {
  notaries: SupplyState;
  /** The day's work of an operator who is a notary; null for everybody else, and for a suspended notary. */
  day: NotaryDay | null;
  operator: Operator;
  now: Date;
  counts: readonly QueueCount[];
  /** The number of open tasks in the other environment. */
  elsewhere: number;
  mine: readonly Task[];
  due: readonly Task[];
  error?: string | undefined;
};

/** The tasks that the operator has claimed, the tasks that are due first, and all queues. */
export function todayBody({ notaries, day, operator, now, counts, elsewhere, mine, due, error }: TodayView): Html {
  const open = openIn(counts);
  const overdue = counts.reduce((sum, count) => sum + count.overdue, 0);
  const lead = [
    ...(open === 0 ? [] : [`${tasks(open)}, ${overdue.toLocaleString("en-US")} overdue.`]),
    ...(day && waitingCount(day) > 0 ? [`${orders(waitingCount(day))} for a notary.`] : []),
  ];
  // A notary's claimed orders are listed in another table.
  const own = day ? mine.filter(({ kind }) => kind !== "notarize") : mine;
  const table = { operator, now, back: "/operator" };
  return html`${pageHead("Today", lead.length === 0 ? "Nothing is waiting." : lead.join(" "))}
${waitsElsewhere(operator, elsewhere)}
${notaryWarning(notaries)}
${errorSummary(error)}
<div class="panels">
${day && day.mine.length > 0 && card("acts", "Notarizations that you have claimed", actsTable(day.mine))}
${day && day.open.length + day.others > 0 && card("notary", "Waiting for a notary", openPart(day))}
${own.length > 0 && card("mine", "Yours", taskTable({ ...table, tasks: own, caption: "Tasks that you have claimed" }))}
${(due.length > 0 || lead.length === 0) && card("due", "Due first", due.length === 0 ? emptyState("All done", "New tasks appear here as orders need somebody.") : taskTable({ ...table, tasks: due, caption: "Tasks that are due first" }))}
${counts.length > 0 && card("queues", "Queues", queues(counts))}
</div>`;
}

const tasks = (count: number): string =>
  count === 1 ? "1 task is open" : `${count.toLocaleString("en-US")} tasks are open`;

const orders = (count: number): string =>
  count === 1 ? "1 order waits" : `${count.toLocaleString("en-US")} orders wait`;

/** How many orders wait for a notary: the unclaimed ones, and those that this notary has claimed. */
const waitingCount = ({ open, mine, others }: NotaryDay): number => open.length + mine.length + others;

const openPart = ({ open, others }: NotaryDay): Html =>
  html`${open.length > 0 && deskTable("Orders that wait for a notary", open, claimButton, ({ at }) => waitingWords[at])}
${others > 0 && html`<p class="quiet-text">${orders(others)} for a notary of another state, or with another commission.</p>`}`;

/** A notary's claimed orders, with the times of their appointments. */
const actsTable = (acts: NotaryDay["mine"]): Html =>
  records(
    "Notarizations that you have claimed",
    [
      { label: "Order" },
      { label: "Firm" },
      { label: "Where it is" },
      { label: "Appointment", utc: true },
      { label: "Due", utc: true },
    ],
    acts.map(({ order, appointmentAt, at }) => [
      html`<a href="/operator/notary/orders/${order.code}">${shortCode(order.code)}</a>`,
      order.firmName,
      waitingWords[at],
      appointmentAt ? shortTime(appointmentAt) : "None yet",
      shortTime(order.dueAt),
    ]),
  );

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
  /** The URL of the next page; null on the last. */
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

const moneyKinds: ReadonlySet<Task["kind"]> = new Set([
  "payment_unapplied",
  "bank_payment",
  "firm_charge",
  "refund_by_hand",
]);

/** The path of the page on which an operator does a task. */
export function pathOfTask(
  { kind, orderCode, mustBeAssigned }: Pick<Task, "kind" | "orderCode" | "mustBeAssigned">,
  operator: Operator,
): string {
  if (kind === "access_request" || kind === "live_access" || kind === "playbook_gate") return "/operator/approvals";
  if (kind === "notary_rules") return "/operator/notaries#rules";
  if (kind === "refund_approval") return "/operator/refunds";
  if (kind === "refund_by_hand" && !mustBeAssigned) return `/operator/tasks/${kind}`;
  if (moneyKinds.has(kind)) return "/operator/payments";
  if (kind === "closing_seal" || kind === "key_expiry" || kind === "job_dead") return "/operator/health";
  if (orderCode === null) return `/operator/tasks/${kind}`;
  if (kind === "provider_unclear") return `/operator/acts/${orderCode}`;
  if (may(operator, "orders.read")) return `/operator/orders/${orderCode}`;
  return kind === "notarize" ? "/operator/notary" : `/operator/paper/${orderCode}`;
}

type TaskTable = { operator: Operator; now: Date; tasks: readonly Task[]; caption: string; back: string };

/** A table of tasks with their actions. */
const taskTable = ({ operator, now, tasks, caption, back }: TaskTable): Html =>
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
    ? html`<span class="breakable">${reason ?? (isUuid(subject) ? "" : subject)}</span>`
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
  const isBlocked = needsPasskeyFirst(operator, kind);
  if (state === "open") return isBlocked ? addPasskeyLink() : buttonForm(`${path}/claim`, "Claim", options);
  const release = buttonForm(`${path}/release`, "Give back", options);
  if (isBlocked) return html`${release}${addPasskeyLink()}`;
  if (mayAskAgain(kind)) return html`${release}${buttonForm(`${path}/ask-again`, "Not known yet", options)}`;
  if (!endsByWord(kind)) return release;
  return html`${release}<details class="ask"><summary>Done</summary><form class="form" method="post" action="${path}/done">
<input type="hidden" name="back" value="${back}">${kind === "refund_failed" && wayFields(id, operator)}${field({ form: `task-${id}`, name: "outcome", label: "What was done", required: true, maxLength: 500 })}
<div class="form-actions"><button type="submit" class="quiet-button">Mark as done</button></div></form></details>`;
}

/** Asks how the money of a failed refund was returned, because the books record it. */
const wayFields = (id: number, operator: Operator): Html =>
  html`${wayField(id, operator)}${checkbox({
    form: `task-${id}`,
    name: "further",
    label: "In addition to later refunds",
    hint: "Tick this only if the payment was refunded again after this refund failed, and that was other money.",
  })}`;

const wayHint =
  "The amount of the failed refund is then booked as returned, and the firm is mailed. One person is enough, because that refund was approved before or made at the payment processor. The order’s page can reverse a wrong booking. Choose “Nothing to book” if the money goes back at the payment processor, or not at all. While the whole order is being refunded, “Nothing to book” ends the task only once the payment processor has reported another refund.";

const wayField = (id: number, { id: person }: Operator): Html =>
  select({
    form: `task-${id}`,
    name: "how",
    label: "How it went back",
    required: true,
    value: "",
    options: [
      { value: "", label: "Choose" },
      ...(person === null ? [] : Object.entries(outsideWays)).map(([value, words]) => ({
        value,
        label: `Paid back ${words}`,
      })),
      { value: "none", label: "Nothing to book" },
    ],
    hint: person === null ? bookerNeeded : wayHint,
  });
