import type { Sql, Tx } from "../platform/database/database.ts";
import { nothing, type Part, type Statement, sql } from "../platform/database/sql.ts";
import { digestOf, MacOfState, type Marked, marked, type StateMac, verified } from "../platform/database/state-mac.ts";
import { stateRows } from "../platform/protected-data.ts";
import type { TaskKind } from "./kinds.ts";

/**
 * The MAC covers every column of a task. One of them is `state_version`, which can only grow, because a trigger
 * enforces that. So an attacker can't restore an earlier row with its earlier MAC.
 */
export const taskState: StateMac = {
  table: sql`tasks`,
  key: sql`id`,
  mac: sql`row_mac`,
  covered: (t) => sql`${t}.id, ${t}.kind, ${t}.environment, ${t}.order_id, ${t}.subject, ${t}.reason, ${t}.state,
    ${t}.claimed_by, extract(epoch FROM ${t}.claimed_at), extract(epoch FROM ${t}.due_at),
    extract(epoch FROM ${t}.created_at), extract(epoch FROM ${t}.ended_at), ${t}.ended_by, ${t}.outcome, ${t}.state_version`,
};

export const protectedTables = [stateRows(taskState, { backfill: { set: "tasks and payers" } })];

/** For a select list: a column that makes the database handle throw if the MAC of the task's row is invalid. */
export const verifiedTask: Statement = verified(taskState, sql`tasks`);

/** SQL: the FROM clause by which other features read tasks, under the alias `t`. */
export const fromTasks: Statement = sql`FROM tasks t`;

/**
 * SQL: a JOIN of the task with this id.
 * @param id the task's row id, as an expression on the tables before the JOIN
 */
export const joinTask = (id: Statement): Statement => sql`JOIN tasks t ON t.id = ${id}`;

type Written = { id: number; digest: Buffer };

async function writeMacs(tx: Tx, tasks: readonly Written[]): Promise<void> {
  if (tasks.length === 0) return;
  const macs = tasks.map(({ digest }) => new MacOfState(taskState.table.text, digest.toString("hex")));
  await tx.query(sql`
    UPDATE tasks t SET row_mac = written.mac
    FROM unnest(${tasks.map(({ id }) => id)}::bigint[], ${macs}::bytea[]) AS written (id, mac) WHERE t.id = written.id`);
}

/** The columns of a new task. A member may be an SQL expression over the rows of `from`. */
export type TaskColumns = {
  kind: TaskKind;
  environment: Part<string>;
  orderId: Part<number> | null;
  subject: Part<string>;
  reason: Part<string> | null;
  dueAt: Date;
  createdAt: Date;
};

/** Inserts a task for each row of `from`, except where an open or claimed task has the same kind, order and subject. */
export async function insertTasks(tx: Tx, task: TaskColumns, from?: Statement): Promise<void> {
  const { kind, environment, orderId, subject, reason, dueAt, createdAt } = task;
  const inserted = await tx.query<Written>(sql`
    INSERT INTO tasks (kind, environment, order_id, subject, reason, due_at, created_at)
    SELECT ${kind}, ${environment}, ${orderId}::bigint, ${subject}, ${reason}, ${dueAt}::timestamptz,
      ${createdAt}::timestamptz${from ? sql` FROM ${from}` : nothing}
    ON CONFLICT DO NOTHING RETURNING id, ${digestOf(taskState, sql`tasks`)} AS digest`);
  await writeMacs(tx, inserted);
}

const verifiedAtOnce = 500;

/**
 * Verifies the MAC of every task. This matters for closed tasks, because no list shows them: a task that an attacker
 * closed would go unnoticed. Invalid MACs are logged and counted in the metrics.
 */
export async function verifyTasks(db: Sql, stopping: AbortSignal): Promise<void> {
  for (let last = Number.MIN_SAFE_INTEGER; !stopping.aborted; ) {
    const tasks = await db.query<{ id: number } & Marked>(sql`
      SELECT t.id, ${marked(taskState, sql`t`)} FROM tasks t WHERE t.id > ${last} ORDER BY t.id LIMIT ${verifiedAtOnce}`);
    const end = tasks.at(-1);
    if (!end) return;
    last = end.id;
  }
}

export type ChangedTask = { id: number; kind: TaskKind; orderId: number | null };

/**
 * Changes tasks, even those whose MAC is invalid, because a forged task must not block its order. But a forged task
 * gets no new MAC, which would make it authentic.
 * @param which the condition on the task `t`
 */
export async function changeTasks(tx: Tx, which: Statement, set: Statement): Promise<ChangedTask[]> {
  const changed = await tx.query<ChangedTask & Written & Marked>(sql`
    WITH before AS (
      SELECT t.id AS "taskId", ${marked(taskState, sql`t`)} FROM tasks t WHERE ${which} ORDER BY t.id FOR NO KEY UPDATE
    )
    UPDATE tasks t SET ${set} FROM before WHERE t.id = before."taskId"
    RETURNING t.id, t.kind, t.order_id AS "orderId", ${digestOf(taskState, sql`t`)} AS digest, before.*`);
  await writeMacs(
    tx,
    changed.filter(({ isAuthentic }) => isAuthentic),
  );
  return changed;
}
