import type { Environment } from "../identity/identity.ts";
import { nothing, type Part, type Statement, sql } from "../platform/database/sql.ts";
import { dueAt } from "./due.ts";
import type { TaskKind } from "./kinds.ts";

/** A task to open. A member may be a part of a statement where the value is a column of `from`. */
export type NewTask = {
  kind: TaskKind;
  at: Date;
  environment: Part<Environment>;
  orderId?: Part<number> | null;
  /** What a task without an order is about: an id that its kind understands. */
  subject?: Part<string>;
  reason?: Part<string> | null | undefined;
  /** Whether the order pays for rush handling. */
  isRush?: boolean;
};

/**
 * The insert of a task, unless one of its kind is open for its order and subject. It runs in the transaction of what causes it, by
 * itself or as a part (`WITH ... AS (...)`) of that change's own statement.
 * @param from what follows FROM, when the task is opened only if, or as often as, that has rows
 */
export function openTask(task: NewTask, from?: Statement): Statement {
  const { kind, at, environment, orderId = null, subject = "", reason, isRush = false } = task;
  return sql`INSERT INTO tasks (kind, environment, order_id, subject, reason, due_at, created_at)
  SELECT ${kind}, ${environment}, ${orderId}::bigint, ${subject}, ${reason}, ${dueAt(kind, at, isRush)}::timestamptz,
    ${at}::timestamptz${from ? sql` FROM ${from}` : nothing}
  ON CONFLICT DO NOTHING`;
}

/** The update that says in an open task why a person has to do it. */
export const explainTask = (orderId: number, kind: TaskKind, reason: string): Statement => sql`
  UPDATE tasks SET reason = ${reason} WHERE order_id = ${orderId} AND kind = ${kind} AND state IN ('open', 'claimed')`;

/** Which open tasks to close: those of an order, all or one subject's; or those about a subject that is no order. */
export type WhichTasks = { kinds: readonly TaskKind[] } & (
  | { orderId: number; subject?: string }
  | { orderId?: never; subject: Part<string> }
);

/** How they ended: `done` by what was wanted of them, `dropped` when it is wanted no more. */
export type TaskEnd = {
  state: "done" | "dropped";
  at: Date;
  /** Who, for the audit log: `operator:ID`, `system`. */
  by: string;
  /** What happened. */
  outcome: Part<string>;
};

/**
 * The update that closes tasks, which may be none.
 * @param from what the subject is a column of
 */
export function closeTasks(which: WhichTasks, { state, at, by, outcome }: TaskEnd, from?: Statement): Statement {
  const order = which.orderId === undefined ? sql`t.order_id IS NULL` : sql`t.order_id = ${which.orderId}`;
  const subject = which.subject === undefined ? nothing : sql`AND t.subject = ${which.subject}`;
  // Only an order's tasks are ever paused; the others are found by the index of those that are open.
  const states = which.orderId === undefined ? sql`('open', 'claimed')` : sql`('open', 'claimed', 'paused')`;
  return sql`UPDATE tasks t SET state = ${state}, ended_at = ${at}, ended_by = ${by}, outcome = ${outcome}
  ${from ? sql`FROM ${from}` : nothing}
  WHERE ${order} ${subject} AND t.kind = ANY (${which.kinds}::text[]) AND t.state IN ${states}`;
}

/** The update that has open tasks of an order wait while it is on hold; whose they are stays. */
export const pauseTasks = (orderId: number, kinds: readonly TaskKind[]): Statement => sql`
  UPDATE tasks SET state = 'paused'
  WHERE order_id = ${orderId} AND kind = ANY (${kinds}::text[]) AND state IN ('open', 'claimed')`;

/** The update that has them go on where they stood. One that was opened again meanwhile takes the place of what waited. */
export const resumeTasks = (orderId: number): Statement => sql`
  UPDATE tasks t SET state = CASE WHEN claimed_by IS NULL THEN 'open' ELSE 'claimed' END
  WHERE order_id = ${orderId} AND state = 'paused' AND NOT EXISTS (
    SELECT FROM tasks x WHERE x.order_id = t.order_id AND x.kind = t.kind AND x.subject = t.subject
      AND (x.state IN ('open', 'claimed') OR x.state = 'paused' AND x.id < t.id))`;

/** The update that drops what waits with an order that does not go on where it stood. */
export const dropPaused = (orderId: number, { at, by, outcome }: Omit<TaskEnd, "state">): Statement => sql`
  UPDATE tasks SET state = 'dropped', ended_at = ${at}, ended_by = ${by}, outcome = ${outcome}
  WHERE order_id = ${orderId} AND state = 'paused'`;
