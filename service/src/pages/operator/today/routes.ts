import type { FastifyInstance } from "fastify";
import {
  kindsShownTo,
  may,
  mayDoTask,
  type Operator,
  requireTaskEnd,
  requireTaskPermission,
} from "../../../firms/operators/operators.ts";
import { ServiceError } from "../../../kernel/platform/errors.ts";
import { rowIdIn } from "../../../kernel/platform/text.ts";
import {
  askAgain,
  claimTask,
  finishTask,
  isTaskKind,
  releaseTask,
  type TaskDeps,
} from "../../../kernel/tasks/tasks.ts";
import { booksMoney } from "../../../orders/payments/payments.ts";
import { finishFailedRefund } from "../../../orders/refunds/refunds.ts";
import { type DeskDeps, dayOf, type SupplyState } from "../../../signing/notaries/notaries.ts";
import { claimedTasks, dueTasks, findTask, queueCounts, queueOf, type Task } from "../../../upkeep/console/console.ts";
import { done } from "../flash-messages.ts";
import { type ConsoleCall, type ConsoleFrame, consolePage, consoleRoute } from "../frame/console.ts";
import { openIn, otherEnvironment } from "../frame/elsewhere.ts";
import { queueBody, todayBody } from "./page.ts";

export type TodayDeps = {
  frame: ConsoleFrame;
  tasks: TaskDeps;
  notaryState: () => Promise<SupplyState>;
  notaryDesk: DeskDeps;
};

const [shownDue, shownMine, pageSize] = [20, 50, 50];
const everybody = ["orders.read", "paper.work", "notary.work", "money.decide", "partners.manage"] as const;

const numberOf = (text: string): number => rowIdIn(text) ?? 0;

const taskActs = [
  ["claim", claimTask, "task-claimed"],
  ["ask-again", askAgain, "task-asked-again"],
  ["done", finishTask, "task-finished"],
] as const;

/** Adds the page Today, the queue of each kind of task, and the actions on tasks, such as claiming and releasing. */
export function todayRoutes(scope: FastifyInstance, deps: TodayDeps): void {
  const { tasks } = deps;
  const { db, clock } = tasks;

  consoleRoute(scope, deps.frame, { url: "/operator", permission: everybody, handle: (call) => today(call) });

  consoleRoute(scope, deps.frame, {
    url: "/operator/tasks/:kind",
    permission: everybody,
    handle: (call) => queue(call),
  });

  consoleRoute(scope, deps.frame, {
    method: "POST",
    url: "/operator/tasks/:id/release",
    permission: everybody,
    async handle({ params, form, operator }) {
      const mayAnyone = may(operator, "people.manage");
      const { id, kind } = await taskFor(tasks, operator, params.id);
      if (!mayAnyone && !mayDoTask(operator, kind))
        throw new ServiceError("role_required", "Your roles do not permit this.");
      await releaseTask(tasks, id, operator.actor, mayAnyone);
      return done(backOf(form["back"]), "task-released");
    },
    refused: (call, error) => today(call, error),
  });

  for (const [name, act, message] of taskActs)
    consoleRoute(scope, deps.frame, {
      method: "POST",
      url: `/operator/tasks/:id/${name}` as "/operator/tasks/:id/act",
      permission: everybody,
      async handle({ params, form, operator }) {
        const { id, kind } = await taskFor(tasks, operator, params.id);
        if (act === finishTask) requireTaskEnd(operator, kind, clock());
        else requireTaskPermission(operator, kind);
        const { outcome = "", how = "", further } = form;
        const answer = { outcome, how, isFurther: further === "on" };
        const isFailedRefund = act === finishTask && kind === "refund_failed";
        if (isFailedRefund) await finishFailedRefund(tasks, operator, id, answer);
        else await act(tasks, id, operator.actor, outcome);
        return done(backOf(form["back"]), isFailedRefund && booksMoney(answer) ? "payback-booked" : message);
      },
      refused: (call, error) => today(call, error),
    });

  async function today({ request, operator }: ConsoleCall, error?: string): Promise<string> {
    const [{ environment, actor }, now] = [operator, clock()];
    const kinds = kindsShownTo(operator);
    const [notaries, day, counts, elsewhere, mine, due] = await Promise.all([
      deps.notaryState(),
      may(operator, "notary.work") ? dayOf(deps.notaryDesk, operator) : null,
      queueCounts(db, environment, kinds, now),
      queueCounts(db, otherEnvironment(environment), kinds, now),
      claimedTasks(db, environment, actor, shownMine),
      dueTasks(db, environment, kinds, shownDue),
    ]);
    const body = todayBody({ notaries, day, operator, now, counts, elsewhere: openIn(elsewhere), mine, due, error });
    return consolePage(deps.frame, request, { title: "Today", section: "today", body });
  }

  async function queue({ request, operator, params, query }: ConsoleCall<{ kind: string }>): Promise<string> {
    const { kind } = params;
    if (!isTaskKind(kind) || !kindsShownTo(operator).includes(kind))
      throw new ServiceError("not_found", "No such queue.");
    const after = query["after"] === undefined ? null : numberOf(query["after"]);
    const found = await queueOf(db, operator.environment, kind, after, pageSize + 1);
    const tasks = found.slice(0, pageSize);
    const last = found.length > pageSize ? tasks.at(-1) : undefined;
    const next = last ? `/operator/tasks/${kind}?after=${last.id}` : null;
    const body = queueBody({ operator, now: clock(), kind, tasks, next, isFirst: after === null });
    return consolePage(deps.frame, request, { title: "Tasks", section: "today", body });
  }
}

/** @throws ServiceError for a task of the other environment, and for one that the operator's roles hide */
async function taskFor({ db }: TaskDeps, operator: Operator, text: string): Promise<Task> {
  const task = await findTask(db, numberOf(text));
  if (task?.environment !== operator.environment || !kindsShownTo(operator).includes(task.kind))
    throw new ServiceError("not_found", "No such task.");
  return task;
}

/** The path of the page from which the operator came: a queue, or the page with all queues. */
const backOf = (back = ""): string => (/^\/operator(\/tasks\/[a-z_]+)?$/.test(back) ? back : "/operator");
