import type { Environment } from "../identity/identity.ts";
import { nothing, type Part, type Statement, sql } from "../platform/database/sql.ts";
import { dueAt } from "./due.ts";
import type { TaskKind } from "./kinds.ts";

/** A task to open. A member may be an SQL expression over `from`. */
export type NewTask = {
  kind: TaskKind;
  at: Date;
  environment: Part<Environment>;
  orderId?: Part<number> | null;
  /** The subject of a task without an order: an id that its kind understands. */
  subject?: Part<string>;
  reason?: Part<string> | null | undefined;
  isRush?: boolean;
};

/**
 * The insert of a task, unless one of its kind is open for its order and subject. Runs in its cause's transaction,
 * alone or as a part (`WITH ... AS (...)`) of its cause's own statement.
 * @param from the text after FROM, to open one task per row
 */
export function openTask(task: NewTask, from?: Statement): Statement {
  const { kind, at, environment, orderId = null, subject = "", reason, isRush = false } = task;
  return sql`INSERT INTO tasks (kind, environment, order_id, subject, reason, due_at, created_at)
  SELECT ${kind}, ${environment}, ${orderId}::bigint, ${subject}, ${reason}, ${dueAt(kind, at, isRush)}::timestamptz,
    ${at}::timestamptz${from ? sql` FROM ${from}` : nothing}
  ON CONFLICT DO NOTHING`;
}

/** The condition that no task of the kind was ever opened for the subject. */
export const neverOpened = (kind: TaskKind, subject: string): Statement =>
  sql`NOT EXISTS (SELECT FROM tasks x WHERE x.kind = ${kind} AND x.subject = ${subject})`;

/**
 * The update of an open task's reason, which a person reads.
 * @param evenPaused whether to update a paused task too
 */
export const explainTask = (orderId: number, kind: TaskKind, reason: string, evenPaused = false): Statement => sql`
  UPDATE tasks SET reason = ${reason} WHERE order_id = ${orderId} AND kind = ${kind}
    AND state IN (${evenPaused ? sql`'open', 'claimed', 'paused'` : sql`'open', 'claimed'`})`;

/** The open tasks to close: those of an order, all or one subject's; or those with a subject and no order. */
export type WhichTasks = { kinds: readonly TaskKind[] } & (
  | { orderId: number; subject?: string }
  | { orderId?: never; subject: Part<string> }
);

/** The result: `done`, or `dropped` when it is no longer needed. */
export type TaskEnd = {
  state: "done" | "dropped";
  at: Date;
  /** The actor in the audit log: `operator:ID`, `system`. */
  by: string;
  /** The outcome in words. */
  outcome: Part<string>;
};

/**
 * The update that closes tasks, if there are any.
 * @param from the table of the subject's column
 */
export function closeTasks(which: WhichTasks, { state, at, by, outcome }: TaskEnd, from?: Statement): Statement {
  const order = which.orderId === undefined ? sql`t.order_id IS NULL` : sql`t.order_id = ${which.orderId}`;
  const subject = which.subject === undefined ? nothing : sql`AND t.subject = ${which.subject}`;
  // Only tasks of orders are ever paused. The others are found by the index of open tasks.
  const states = which.orderId === undefined ? sql`('open', 'claimed')` : sql`('open', 'claimed', 'paused')`;
  return sql`UPDATE tasks t SET state = ${state}, ended_at = ${at}, ended_by = ${by}, outcome = ${outcome}
  ${from ? sql`FROM ${from}` : nothing}
  WHERE ${order} ${subject} AND t.kind = ANY (${which.kinds}::text[]) AND t.state IN ${states}`;
}

/** The update that pauses an order's open tasks during a hold; their claims stay. */
export const pauseTasks = (orderId: number, kinds: readonly TaskKind[]): Statement => sql`
  UPDATE tasks SET state = 'paused'
  WHERE order_id = ${orderId} AND kind = ANY (${kinds}::text[]) AND state IN ('open', 'claimed')`;

/** The update that resumes paused tasks. A task that was reopened in the meantime replaces the paused one. */
export const resumeTasks = (orderId: number): Statement => sql`
  UPDATE tasks t SET state = CASE WHEN claimed_by IS NULL THEN 'open' ELSE 'claimed' END
  WHERE order_id = ${orderId} AND state = 'paused' AND NOT EXISTS (
    SELECT FROM tasks x WHERE x.order_id = t.order_id AND x.kind = t.kind AND x.subject = t.subject
      AND (x.state IN ('open', 'claimed') OR x.state = 'paused' AND x.id < t.id))`;

/** The update that pauses an unclaimed task while a provider does its work. */
export const pauseUnclaimed = (orderId: number, kind: TaskKind): Statement => sql`
  UPDATE tasks SET state = 'paused' WHERE order_id = ${orderId} AND kind = ${kind} AND state = 'open'`;

/** The update that resumes such a task, unless the order is on hold. A task that was opened since replaces it. */
export const resumeUnclaimed = (orderId: number, kind: TaskKind): Statement => sql`
  UPDATE tasks t SET state = 'open' FROM orders o
  WHERE t.order_id = ${orderId} AND o.id = t.order_id AND o.status <> 'OnHold' AND t.kind = ${kind}
    AND t.state = 'paused' AND t.claimed_by IS NULL
    AND NOT EXISTS (SELECT FROM tasks x WHERE x.order_id = t.order_id AND x.kind = t.kind AND x.state IN ('open', 'claimed'))`;

/** The insert of an order's task, unless the order is on hold, or a task of the kind is open or paused. */
export const openUnlessPaused = (task: NewTask & { orderId: number }): Statement =>
  openTask(
    task,
    sql`orders o WHERE o.id = ${task.orderId} AND o.status <> 'OnHold' AND NOT EXISTS (
      SELECT FROM tasks x WHERE x.order_id = o.id AND x.kind = ${task.kind} AND x.state = 'paused')`,
  );

/** The update that drops paused tasks of an order that doesn't return to its earlier status. */
export const dropPaused = (orderId: number, { at, by, outcome }: Omit<TaskEnd, "state">): Statement => sql`
  UPDATE tasks SET state = 'dropped', ended_at = ${at}, ended_by = ${by}, outcome = ${outcome}
  WHERE order_id = ${orderId} AND state = 'paused'`;
