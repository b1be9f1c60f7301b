import type { Environment } from "../identity/identity.ts";
import type { Sql } from "../platform/database/database.ts";
import { nothing, type Statement, sql } from "../platform/database/sql.ts";
import type { TaskKind } from "./kinds.ts";

export type Task = {
  id: number;
  kind: TaskKind;
  environment: Environment;
  orderCode: string | null;
  /** Of the firm whose order it is. */
  firmName: string | null;
  orderStatus: string | null;
  reference: string | null;
  subject: string;
  reason: string | null;
  state: "open" | "claimed" | "paused" | "done" | "dropped";
  claimedBy: string | null;
  dueAt: Date;
  createdAt: Date;
  endedAt: Date | null;
  endedBy: string | null;
  outcome: string | null;
};

const columns = sql`t.id, t.kind, t.environment, o.code AS "orderCode", p.name AS "firmName", o.status AS "orderStatus",
  o.external_reference AS reference, t.subject, t.reason, t.state, t.claimed_by AS "claimedBy", t.due_at AS "dueAt",
  t.created_at AS "createdAt", t.ended_at AS "endedAt", t.ended_by AS "endedBy", t.outcome`;
const withOrder = sql`LEFT JOIN orders o ON o.id = t.order_id LEFT JOIN partners p ON p.id = o.partner_id`;
const isOpen = sql`state IN ('open', 'claimed')`;

const joined = (rows: Statement): Statement =>
  sql`SELECT ${columns} FROM (${rows}) t ${withOrder} ORDER BY t.due_at, t.id`;

export type QueueCount = { kind: TaskKind; open: number; overdue: number; oldest: Date };

/** How many tasks of each kind are open, and how many of them are overdue; kinds without one are left out. Apart from its running, for its plan. */
export const countsStatement = (environment: Environment, kinds: readonly TaskKind[], now: Date): Statement => sql`
  SELECT kind, count(*)::int AS open, (count(*) FILTER (WHERE due_at <= ${now}))::int AS overdue, min(due_at) AS oldest
  FROM tasks WHERE environment = ${environment} AND kind = ANY (${kinds}::text[]) AND ${isOpen} GROUP BY kind`;

export const queueCounts = (db: Sql, environment: Environment, kinds: readonly TaskKind[], now: Date) =>
  db.query<QueueCount>(countsStatement(environment, kinds, now));

/** @param after the id of the last task of the page before; it may have ended since */
export const queueStatement = (
  environment: Environment,
  kind: TaskKind,
  after: number | null,
  limit: number,
): Statement =>
  joined(sql`SELECT * FROM tasks WHERE environment = ${environment} AND kind = ${kind} AND ${isOpen}
    ${after === null ? nothing : sql`AND (due_at, id) > (SELECT due_at, id FROM tasks WHERE id = ${after})`}
    ORDER BY due_at, id LIMIT ${limit}`);

/** The open tasks of a kind, those that are due first at the top. */
export const queueOf = (db: Sql, environment: Environment, kind: TaskKind, after: number | null, limit: number) =>
  db.query<Task>(queueStatement(environment, kind, after, limit));

export const claimedStatement = (environment: Environment, by: string, limit: number): Statement =>
  joined(sql`SELECT * FROM tasks WHERE claimed_by = ${by} AND environment = ${environment} AND state = 'claimed'
    ORDER BY due_at, id LIMIT ${limit}`);

/** What somebody has claimed. */
export const claimedTasks = (db: Sql, environment: Environment, by: string, limit: number) =>
  db.query<Task>(claimedStatement(environment, by, limit));

// One short walk of the index for each kind, and the first of them all.
export const dueStatement = (environment: Environment, kinds: readonly TaskKind[], limit: number): Statement =>
  joined(sql`SELECT t.* FROM unnest(${kinds}::text[]) AS k (kind), LATERAL (
      SELECT * FROM tasks WHERE environment = ${environment} AND tasks.kind = k.kind AND ${isOpen}
      ORDER BY due_at, id LIMIT ${limit}) t
    ORDER BY t.due_at, t.id LIMIT ${limit}`);

/** The open tasks of some kinds that are due first. */
export const dueTasks = (db: Sql, environment: Environment, kinds: readonly TaskKind[], limit: number) =>
  db.query<Task>(dueStatement(environment, kinds, limit));

/** Who has claimed the order's open task of the kind; null for nobody. */
export async function claimantOf(db: Sql, orderId: number, kind: TaskKind): Promise<string | null> {
  const [claimed] = await db.query<{ claimedBy: string }>(sql`
    SELECT claimed_by AS "claimedBy" FROM tasks WHERE order_id = ${orderId} AND kind = ${kind} AND state = 'claimed'`);
  return claimed?.claimedBy ?? null;
}

/** All tasks of an order, newest first. */
export const tasksOfOrder = (db: Sql, orderId: number) =>
  db.query<Task>(sql`SELECT ${columns} FROM tasks t ${withOrder} WHERE t.order_id = ${orderId} ORDER BY t.id DESC`);

export async function findTask(db: Sql, id: number): Promise<Task | undefined> {
  const [task] = await db.query<Task>(sql`SELECT ${columns} FROM tasks t ${withOrder} WHERE t.id = ${id}`);
  return task;
}
