import { ServiceError } from "../../kernel/platform/errors.ts";
import { rowIdIn } from "../../kernel/platform/text.ts";
import { finishTask, isTaskKind, releaseTask, type TaskKind, taskKinds } from "../../kernel/tasks/tasks.ts";
import { claimedTasks, dueTasks, findTask, type Task } from "../../upkeep/console/console.ts";
import { defineVerb, lines, UsageError, type Verb } from "../verb.ts";
import { withResources } from "../with-resources.ts";

const maxShown = 200;

const taskLine = ({ id, kind, orderCode, subject, dueAt, state, claimedBy, reason }: Task): string =>
  `${id}  ${kind}  ${orderCode ?? subject}  due ${dueAt.toISOString()}  ${state}${claimedBy ? ` by ${claimedBy}` : ""}${reason ? `  ${reason}` : ""}`;

function idOf(text: string): number {
  const id = rowIdIn(text);
  if (id === undefined) throw new UsageError("TASK_ID must be a number, as task list shows it");
  return id;
}

function kindsOf(text: string | undefined): TaskKind[] {
  if (text === undefined) return Object.keys(taskKinds) as TaskKind[];
  if (!isTaskKind(text)) throw new UsageError(`--kind must be one of ${Object.keys(taskKinds).join(", ")}`);
  return [text];
}

export const taskVerbs: Verb[] = [
  defineVerb({
    name: "task list",
    args: [],
    options: {
      kind: { type: "string", help: "Only of this kind, as fax_send." },
      test: { type: "boolean", help: "Of test orders instead of live ones." },
      "claimed-by": { type: "string", value: "OPERATOR", help: "Only what this operator has claimed." },
    },
    summary: `Lists open tasks, those that are due first at the top: at most ${maxShown}, of live unless --test.`,
    run: (_args, values) => {
      const kinds = kindsOf(values.kind);
      const environment = values.test ? "test" : "live";
      const by = values["claimed-by"];
      return withResources(async ({ db }) => {
        const found =
          by === undefined
            ? await dueTasks(db, environment, kinds, maxShown)
            : await claimedTasks(db, environment, `operator:${by}`, maxShown);
        const tasks = found.filter(({ kind }) => kinds.includes(kind));
        return { json: { tasks }, text: tasks.map(taskLine).join("\n") };
      });
    },
  }),
  defineVerb({
    name: "task show",
    args: ["TASK_ID"],
    options: {},
    summary: "Shows a task, open or ended.",
    run: ([id = ""]) => {
      const wanted = idOf(id);
      return withResources(async ({ db }) => {
        const task = await findTask(db, wanted);
        if (!task) throw new ServiceError("not_found", "No such task.");
        return { json: task, text: lines(task) };
      });
    },
  }),
  defineVerb({
    name: "task release",
    args: ["TASK_ID"],
    options: {},
    summary: "Opens a task again that somebody has claimed.",
    run: ([id = ""]) => {
      const wanted = idOf(id);
      return withResources(async (resources) => {
        await releaseTask(resources, wanted, "operator", true);
        const answer = { task: wanted, state: "open" };
        return { json: answer, text: lines(answer) };
      });
    },
  }),
  defineVerb({
    name: "task done",
    args: ["TASK_ID"],
    options: { outcome: { type: "string", value: "TEXT", required: true, help: "What was done, for the record." } },
    summary:
      "Ends a task that nothing else ends: a failed job that was looked into, a certificate that will be replaced.",
    run: ([id = ""], values) => {
      const wanted = idOf(id);
      return withResources(async (resources) => {
        await finishTask(resources, wanted, "operator", values.outcome ?? "");
        const answer = { task: wanted, state: "done" };
        return { json: answer, text: lines(answer) };
      });
    },
  }),
];
