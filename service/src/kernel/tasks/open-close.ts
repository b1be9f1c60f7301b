import type { Environment } from "../identity/identity.ts";
import type { Sql, Tx } from "../platform/database/database.ts";
import { nothing, type Part, type Statement, sql } from "../platform/database/sql.ts";
import { type Marked, marked } from "../platform/database/state-mac.ts";
import { dueAt } from "./due.ts";
import type { TaskKind } from "./kinds.ts";
import { changeTasks, insertTasks, taskState, verifiedTask } from "./store.ts";

/** A task to open. If `openTask` gets `from`, the members may be SQL expressions over its rows. */
export type NewTask = {
  kind: TaskKind;
  at: Date;
  environment: Part<Environment>;
  orderId?: Part<number> | null;
  /** The id of the object that the task is about; its meaning depends on the kind. May be set with an order, too. */
  subject?: Part<string>;
  reason?: Part<string> | null | undefined;
  isRush?: boolean;
  /** The due time; by default, it follows from the kind's time limit. */
  due?: Date;
};

/**
 * Opens a task in the transaction of its cause. Does nothing if an open or claimed task has the same kind, order and
 * subject; a paused task doesn't count.
 * @param from the text after FROM, to open one task for each selected row
 */
export function openTask(tx: Tx, task: NewTask, from?: Statement): Promise<void> {
  const { kind, at, environment, orderId = null, subject = "", reason = null, isRush = false } = task;
  const due = task.due ?? dueAt(kind, at, isRush);
  const columns = { kind, environment, orderId, subject, reason, dueAt: due, createdAt: at };
  return insertTasks(tx, columns, from);
}

/** SQL condition: no task of the kind was ever opened for the subject and, if one is given, the order. */
export const neverOpened = (kind: TaskKind, subject: Part<string>, orderId?: Part<number>): Statement =>
  sql`NOT EXISTS (SELECT FROM tasks x WHERE x.kind = ${kind} AND x.subject = ${subject}
    ${orderId === undefined ? nothing : sql`AND x.order_id = ${orderId}`})`;

/** True if a task of the kind was opened for the order and subject at `since` or later. */
export async function hadTask(
  tx: Tx,
  { kind, orderId, subject }: { kind: TaskKind; orderId: number; subject: string },
  since: Date,
): Promise<boolean> {
  const found = await tx.query(sql`
    SELECT FROM tasks WHERE order_id = ${orderId} AND kind = ${kind} AND subject = ${subject} AND created_at >= ${since} LIMIT 1`);
  return found.length > 0;
}

const ofOrder = (orderId: number, kind: TaskKind): Statement => sql`t.order_id = ${orderId} AND t.kind = ${kind}`;

/**
 * Changes the reason of an open or claimed task, which staff read.
 * @param evenPaused true to change a paused task too
 * @param subject changes only the task about this subject
 * @returns false when there is no such task
 */
export async function explainTask(
  tx: Tx,
  orderId: number,
  kind: TaskKind,
  reason: string,
  evenPaused = false,
  subject?: string,
): Promise<boolean> {
  const states = evenPaused ? sql`'open', 'claimed', 'paused'` : sql`'open', 'claimed'`;
  const about = subject === undefined ? nothing : sql`AND t.subject = ${subject}`;
  const which = sql`${ofOrder(orderId, kind)} ${about} AND t.state IN (${states})`;
  return (await changeTasks(tx, which, sql`reason = ${reason}`)).length > 0;
}

/**
 * Selects the unfinished tasks to close, by their kinds. With `orderId`: the tasks of these orders. A `subject` then
 * limits them to the tasks about that subject. Without `orderId`: the tasks about these subjects that have no order.
 */
export type WhichTasks = { kinds: readonly TaskKind[] } & (
  | { orderId: number | readonly number[]; subject?: string }
  | { orderId?: never; subject: string | readonly string[] }
);

/** How a task ends. `done`: its work was done. `dropped`: it is no longer needed. */
export type TaskEnd = {
  state: "done" | "dropped";
  at: Date;
  /** The actor in the audit log, such as `operator:ID` or `system`. */
  by: string;
  /** The outcome of the task in words. */
  outcome: string;
};

const ended = ({ state, at, by, outcome }: TaskEnd): Statement =>
  sql`state = ${state}, ended_at = ${at}, ended_by = ${by}, outcome = ${outcome}`;

export async function closeTasks(tx: Tx, { kinds, orderId, subject }: WhichTasks, end: TaskEnd): Promise<void> {
  const order = orderId === undefined ? sql`t.order_id IS NULL` : sql`t.order_id = ANY (${[orderId].flat()}::bigint[])`;
  const about = subject === undefined ? nothing : sql`AND t.subject = ANY (${[subject].flat()}::text[])`;
  // Tasks without an order are never paused. The query for such tasks omits that state, so that PostgreSQL uses the
  // index of open tasks.
  const states = orderId === undefined ? sql`('open', 'claimed')` : sql`('open', 'claimed', 'paused')`;
  await changeTasks(
    tx,
    sql`${order} ${about} AND t.kind = ANY (${kinds}::text[]) AND t.state IN ${states}`,
    ended(end),
  );
}

/**
 * Pauses an order's open and claimed tasks of these kinds while the order is on hold. A claimed task keeps its claim.
 */
export async function pauseTasks(tx: Tx, orderId: number, kinds: readonly TaskKind[]): Promise<void> {
  const which = sql`t.order_id = ${orderId} AND t.kind = ANY (${kinds}::text[]) AND t.state IN ('open', 'claimed')`;
  await changeTasks(tx, which, sql`state = 'paused'`);
}

/**
 * Resumes an order's paused tasks. A task stays paused if another task of the same kind and subject is open or claimed,
 * or is paused and older.
 */
export async function resumeTasks(tx: Tx, orderId: number): Promise<void> {
  const which = sql`t.order_id = ${orderId} AND t.state = 'paused' AND NOT EXISTS (
    SELECT FROM tasks x WHERE x.order_id = t.order_id AND x.kind = t.kind AND x.subject = t.subject
      AND (x.state IN ('open', 'claimed') OR x.state = 'paused' AND x.id < t.id))`;
  await changeTasks(tx, which, sql`state = CASE WHEN claimed_by IS NULL THEN 'open' ELSE 'claimed' END`);
}

/** Pauses an unclaimed task while a provider does the work of the task. */
export async function pauseUnclaimed(tx: Tx, orderId: number, kind: TaskKind): Promise<void> {
  await changeTasks(tx, sql`${ofOrder(orderId, kind)} AND t.state = 'open'`, sql`state = 'paused'`);
}

/**
 * Resumes a task that `pauseUnclaimed` paused. The task stays paused if the order is on hold, or if another task of the
 * kind is open or claimed.
 */
export async function resumeUnclaimed(tx: Tx, orderId: number, kind: TaskKind): Promise<void> {
  const which = sql`${ofOrder(orderId, kind)} AND t.state = 'paused' AND t.claimed_by IS NULL
    AND EXISTS (SELECT FROM orders o WHERE o.id = t.order_id AND o.status <> 'OnHold')
    AND NOT EXISTS (SELECT FROM tasks x WHERE x.order_id = t.order_id AND x.kind = t.kind AND x.state IN ('open', 'claimed'))`;
  await changeTasks(tx, which, sql`state = 'open'`);
}

/**
 * Opens a task for an order. Does nothing if the order is on hold, or if a task of the kind is open, claimed or paused.
 */
export const openUnlessPaused = (tx: Tx, task: NewTask & { orderId: number }): Promise<void> =>
  openTask(
    tx,
    task,
    sql`orders o WHERE o.id = ${task.orderId} AND o.status <> 'OnHold' AND NOT EXISTS (
      SELECT FROM tasks x WHERE x.order_id = o.id AND x.kind = ${task.kind} AND x.state = 'paused')`,
  );

/** Drops the paused tasks of an order whose hold ends with a status other than the one before the hold. */
export async function dropPaused(tx: Tx, orderId: number, end: Omit<TaskEnd, "state">): Promise<void> {
  await changeTasks(tx, sql`t.order_id = ${orderId} AND t.state = 'paused'`, ended({ state: "dropped", ...end }));
}

export type OpenTask = { state: "open" | "claimed" | "paused"; kind: TaskKind; claimedBy: string | null };

/**
 * The unfinished tasks of an order that are of these kinds. If `subject` is given, only those with this subject.
 * @throws ServiceError `unavailable` for a task whose MAC is invalid
 */
export const openTasksOf = (
  db: Sql,
  { orderId, kinds, subject }: { orderId: number; kinds: readonly TaskKind[]; subject?: string },
): Promise<OpenTask[]> =>
  db.query<OpenTask>(sql`
    SELECT kind, state, claimed_by AS "claimedBy", ${verifiedTask} FROM tasks
    WHERE order_id = ${orderId} AND kind = ANY (${kinds}::text[]) AND state IN ('open', 'claimed', 'paused')
      ${subject === undefined ? nothing : sql`AND subject = ${subject}`} ORDER BY id`);

/** The person who has claimed the order's task of this kind; null if nobody has. A paused task counts as unclaimed. */
export async function claimantOf(db: Sql, orderId: number, kind: TaskKind): Promise<string | null> {
  const tasks = await openTasksOf(db, { orderId, kinds: [kind] });
  return tasks.find(({ state }) => state === "claimed")?.claimedBy ?? null;
}

/** A subject that needs a task, and the time at which the need began; null if that time is unknown. */
export type NeededTask = [subject: string, needed: { reason: string; since: Date | null }];

/** Locks the tasks of a kind against `keepTasks` on every node, until the transaction ends. */
export const lockTasks = (tx: Tx, kind: TaskKind) =>
  tx.query(sql`SELECT pg_advisory_xact_lock(hashtextextended(${`tasks ${kind}`}::text, 0))`);

/**
 * Opens one task, without an order, for each subject that needs one, and closes tasks that are no longer needed. If a
 * person ended a subject's task, the subject gets a new task only if its need is known to have begun later. A closed
 * task whose MAC is invalid is ignored, so its subject gets a new task. An advisory lock makes nodes do this one after
 * another. So no node closes a task that another node has just opened.
 * @param read reads the subjects, after the lock was acquired
 */
export async function keepTasks(
  tx: Tx,
  at: Date,
  kind: TaskKind,
  read: () => Promise<readonly NeededTask[]>,
): Promise<void> {
  await lockTasks(tx, kind);
  const needed = new Map(await read());
  const rows = await tx.query<{ subject: string; endedAt: Date | null } & Marked>(sql`
    SELECT subject, ended_at AS "endedAt", ${marked(taskState, sql`t`)} FROM tasks t
    WHERE kind = ${kind} AND order_id IS NULL
      AND (state IN ('open', 'claimed') OR (state = 'done' AND ended_by <> 'system'))`);
  const open = new Set(rows.filter(({ endedAt }) => endedAt === null).map(({ subject }) => subject));
  const ended = rows.filter(({ isAuthentic }) => isAuthentic);
  for (const [subject, { reason, since }] of needed) {
    const isSettled = ended.some(
      (row) => row.subject === subject && row.endedAt !== null && (since === null || since <= row.endedAt),
    );
    if (!open.has(subject) && !isSettled) await openTask(tx, { kind, at, environment: "live", subject, reason });
  }
  for (const subject of open)
    if (!needed.has(subject))
      await closeTasks(tx, { kinds: [kind], subject }, { state: "done", at, by: "system", outcome: "settled" });
}
