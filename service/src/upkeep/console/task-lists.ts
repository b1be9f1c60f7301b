import { X509Certificate } from "node:crypto";
import { kindsToDo, listOperators, mailOperator } from "../../firms/operators/operators.ts";
import { leftJoinFirm, type MarkedFirm, markedFirm, withFirmNames } from "../../firms/partners/partners.ts";
import { auditLine } from "../../kernel/audit/audit.ts";
import type { Environment } from "../../kernel/identity/identity.ts";
import { type Clock, dayMs, minuteMs } from "../../kernel/platform/clock.ts";
import type { Database, Sql, Tx } from "../../kernel/platform/database/database.ts";
import { nothing, type Statement, sql } from "../../kernel/platform/database/sql.ts";
import { marked } from "../../kernel/platform/database/state-mac.ts";
import { failedQueues, retryFailedJobs } from "../../kernel/platform/jobs/jobs.ts";
import type { Metrics } from "../../kernel/platform/metrics.ts";
import {
  businessMorning,
  fromTasks,
  keepTasks,
  type NeededTask,
  type TaskKind,
  taskKinds,
  taskState,
} from "../../kernel/tasks/tasks.ts";
import { leftJoinOrder } from "../../orders/order/order.ts";
import { isUnassignedRefund } from "../../orders/payments/payments.ts";

export type Task = {
  id: number;
  kind: TaskKind;
  environment: Environment;
  orderCode: string | null;
  /** The firm of the task's order. */
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
  /** True if people must assign a refund to orders, under Payments. The task about another refund only needs a note. */
  mustBeAssigned: boolean;
};

const columns = sql`t.id, t.kind, t.environment, o.code AS "orderCode@order", p.name AS "firmName", o.status AS "orderStatus",
  o.external_reference AS reference, t.subject, t.reason, t.state, t.claimed_by AS "claimedBy", t.due_at AS "dueAt",
  t.created_at AS "createdAt", t.ended_at AS "endedAt", t.ended_by AS "endedBy", t.outcome,
  t.kind = 'refund_by_hand' AND ${isUnassignedRefund(sql`t.subject`)} AS "mustBeAssigned", ${marked(taskState, sql`t`, "isTaskAuthentic")}, ${markedFirm}`;
const withOrder = sql`${leftJoinOrder(sql`t.order_id`)} ${leftJoinFirm(sql`o.partner_id`)}`;
const alteredWords = "This task was altered in the database: `doctor` names it. Nobody can claim it.";

async function listed(db: Sql, statement: Statement): Promise<Task[]> {
  const rows = withFirmNames(await db.query<Task & MarkedFirm & { isTaskAuthentic: boolean }>(statement));
  return rows.map(({ isTaskAuthentic, ...task }) => (isTaskAuthentic ? task : { ...task, reason: alteredWords }));
}
const isOpen = sql`state IN ('open', 'claimed')`;

const joined = (rows: Statement): Statement =>
  sql`SELECT ${columns} FROM (${rows}) t ${withOrder} ORDER BY t.due_at, t.id`;

export type QueueCount = { kind: TaskKind; open: number; overdue: number; oldest: Date };

/**
 * Counts the tasks of each kind that are open or claimed, and those of them that are overdue. `oldest` is the first due
 * time. Leaves out kinds without such tasks. Exported so that tests can check its query plan.
 */
export const countsStatement = (environment: Environment, kinds: readonly TaskKind[], now: Date): Statement => sql`
  SELECT kind, count(*)::int AS open, (count(*) FILTER (WHERE due_at <= ${now}))::int AS overdue, min(due_at) AS oldest
  ${fromTasks} WHERE environment = ${environment} AND kind = ANY (${kinds}::text[]) AND ${isOpen} GROUP BY kind`;

export const queueCounts = (db: Sql, environment: Environment, kinds: readonly TaskKind[], now: Date) =>
  db.query<QueueCount>(countsStatement(environment, kinds, now));

/**
 * The query for one page of a kind's tasks that are open or claimed.
 * @param after the id of the last task on the previous page, which may have ended; null for the first page
 */
export const queueStatement = (
  environment: Environment,
  kind: TaskKind,
  after: number | null,
  limit: number,
): Statement =>
  joined(sql`SELECT * ${fromTasks} WHERE environment = ${environment} AND kind = ${kind} AND ${isOpen}
    ${after === null ? nothing : sql`AND (due_at, id) > (SELECT due_at, id ${fromTasks} WHERE id = ${after})`}
    ORDER BY due_at, id LIMIT ${limit}`);

/** The tasks of a kind that are open or claimed, first due first. */
export const queueOf = (db: Sql, environment: Environment, kind: TaskKind, after: number | null, limit: number) =>
  listed(db, queueStatement(environment, kind, after, limit));

export const claimedStatement = (environment: Environment, by: string, limit: number): Statement =>
  joined(sql`SELECT * ${fromTasks} WHERE claimed_by = ${by} AND environment = ${environment} AND state = 'claimed'
    ORDER BY due_at, id LIMIT ${limit}`);

/** The tasks that a person has claimed, without paused ones. */
export const claimedTasks = (db: Sql, environment: Environment, by: string, limit: number) =>
  listed(db, claimedStatement(environment, by, limit));

// For each kind, the query reads at most `limit` tasks from the index. From all of these, it selects the tasks with the
// earliest due times.
export const dueStatement = (environment: Environment, kinds: readonly TaskKind[], limit: number): Statement =>
  joined(sql`SELECT t.* FROM unnest(${kinds}::text[]) AS k (kind), LATERAL (
      SELECT * ${fromTasks} WHERE environment = ${environment} AND t.kind = k.kind AND ${isOpen}
      ORDER BY due_at, id LIMIT ${limit}) t
    ORDER BY t.due_at, t.id LIMIT ${limit}`);

/** The tasks of some kinds that are open or claimed, first due first. */
export const dueTasks = (db: Sql, environment: Environment, kinds: readonly TaskKind[], limit: number) =>
  listed(db, dueStatement(environment, kinds, limit));

/** All tasks of an order, newest first. */
export const tasksOfOrder = (db: Sql, orderId: number) =>
  listed(db, sql`SELECT ${columns} ${fromTasks} ${withOrder} WHERE t.order_id = ${orderId} ORDER BY t.id DESC`);

export async function findTask(db: Sql, id: number): Promise<Task | undefined> {
  const [task] = await listed(db, sql`SELECT ${columns} ${fromTasks} ${withOrder} WHERE t.id = ${id}`);
  return task;
}

/**
 * Mails each active operator how many live tasks there are of the kinds that the operator may do. This happens once on
 * each business day after opening time. Skips operators without tasks.
 * @returns the number of mails
 */
export async function sendMorningMails({ db, clock }: { db: Database; clock: Clock }): Promise<number> {
  const now = clock();
  const day = businessMorning(now);
  if (day === null) return 0;
  const operators = (await listOperators({ db })).filter(({ active }) => active);
  return db.transaction(async (tx) => {
    const first = await tx.query(
      sql`INSERT INTO task_mornings (day) VALUES (${day}) ON CONFLICT DO NOTHING RETURNING day`,
    );
    if (first.length === 0) return 0;
    let mailed = 0;
    for (const operator of operators) {
      const counts = await queueCounts(tx, "live", kindsToDo(operator), now);
      if (counts.length === 0) continue;
      await mailOperator(tx, { userId: operator.id, at: day, mail: textsOf(counts) });
      mailed++;
    }
    return mailed;
  });
}

const pauseMs = 15 * minuteMs;

/**
 * Mails active operators about new live tasks that they may do. Each kind is announced at most once in 15 minutes. The
 * next mail lists tasks that were opened meanwhile and are still unclaimed.
 * @returns the number of mails
 */
export async function mailNewTasks({ db, clock }: { db: Database; clock: Clock }): Promise<number> {
  const now = clock();
  const fresh = await db.query(newTasks(now));
  if (fresh.length === 0) return 0;
  const operators = (await listOperators({ db })).filter(({ active }) => active);
  return db.transaction(async (tx) => {
    // Only one node runs this at a time, because two nodes would mail the same tasks.
    await tx.query(sql`LOCK TABLE task_mails IN EXCLUSIVE MODE`);
    const kinds = await tx.query<{ kind: TaskKind; count: number; ids: number[] }>(newTasks(now));
    await tx.query(sql`DELETE FROM task_mails WHERE mailed_at < ${new Date(now.getTime() - 2 * dayMs)}`);
    for (const { kind, ids } of kinds)
      await tx.query(sql`
        INSERT INTO task_mails (task_id, kind, mailed_at) SELECT id, ${kind}, ${now} FROM unnest(${ids}::bigint[]) AS id`);
    let mailed = 0;
    for (const operator of operators) {
      const todo = new Set(kindsToDo(operator));
      const own = kinds.filter(({ kind }) => todo.has(kind));
      if (own.length === 0) continue;
      const count = own.reduce((sum, each) => sum + each.count, 0);
      const mail = {
        subject: count === 1 ? "A new task waits" : `${count} new tasks wait`,
        lines: own.map((each) => `${taskKinds[each.kind]}: ${each.count} new`),
      };
      await mailOperator(tx, { userId: operator.id, at: `new tasks ${now.toISOString()}`, mail, isNews: true });
      mailed++;
    }
    return mailed;
  });
}

/**
 * The query for the unclaimed live tasks of the last day that no mail has announced, grouped by kind. Leaves out kinds
 * that a mail announced in the last 15 minutes.
 */
const newTasks = (now: Date): Statement => sql`
  SELECT t.kind, count(*)::int AS count, json_agg(t.id) AS ids ${fromTasks}
  WHERE t.environment = 'live' AND t.state = 'open' AND t.created_at > ${new Date(now.getTime() - dayMs)}
    AND NOT EXISTS (SELECT FROM task_mails m WHERE m.task_id = t.id)
    AND NOT EXISTS (SELECT FROM task_mails m WHERE m.kind = t.kind AND m.mailed_at > ${new Date(now.getTime() - pauseMs)})
  GROUP BY t.kind ORDER BY t.kind`;

function textsOf(counts: readonly QueueCount[]) {
  const overdue = counts.reduce((sum, each) => sum + each.overdue, 0);
  const open = counts.reduce((sum, each) => sum + each.open, 0);
  return {
    subject: overdue > 0 ? `${overdue} overdue, ${open} open` : `${open} open`,
    lines: counts.map(({ kind, open: all, overdue: late }) => `${taskKinds[kind]}: ${all} open, ${late} overdue`),
  };
}

/** Gauges of live tasks by kind: those that are open or claimed, and those of them that are overdue. */
export function taskMetrics(metrics: Metrics, { db, clock }: { db: Sql; clock: Clock }): void {
  const kinds = Object.keys(taskKinds) as TaskKind[];
  const read = (figure: (count: QueueCount) => number) => async () => {
    const counts = await queueCounts(db, "live", kinds, clock());
    return new Map(counts.map((count) => [count.kind, figure(count)]));
  };
  metrics.gauge(
    "tasks_open",
    "Live tasks of people that are open.",
    "kind",
    read(({ open }) => open),
  );
  metrics.gauge(
    "tasks_overdue",
    "Live tasks of people that are overdue.",
    "kind",
    read(({ overdue }) => overdue),
  );
}

/** A certificate with which the service signs: its purpose and its PEM. */
export type SigningCertificate = { name: string; pem: string };

export type ServiceTaskDeps = { db: Database; clock: Clock; certificates: readonly SigningCertificate[] };

const warnMs = 60 * dayMs;

/**
 * Opens tasks about the service itself, such as failed jobs and expiring certificates. Closes those that are no longer
 * needed.
 */
export async function openServiceTasks({ db, clock, certificates }: ServiceTaskDeps): Promise<void> {
  const at = clock();
  await db.transaction(async (tx) => {
    await keepTasks(tx, at, "job_dead", () => deadJobs(tx));
    await keepTasks(tx, at, "key_expiry", async () => certificates.flatMap((each) => expiring(each, at)));
  });
}

async function deadJobs(tx: Tx): Promise<NeededTask[]> {
  const failed = await failedQueues(tx);
  return failed.map(({ queue, count, newest }) => [queue, { reason: jobsText(queue, count), since: newest }]);
}

const jobsText = (queue: string, count: number): string =>
  count === 1 ? `1 job of the queue ${queue} failed for good.` : `${count} jobs of the queue ${queue} failed for good.`;

/** Retries the jobs of a queue that failed for good. The audit log names the operator. */
export async function retryQueue(
  { db, clock }: { db: Database; clock: Clock },
  { queue, actor }: { queue: string; actor: string },
): Promise<void> {
  await db.transaction(async (tx) => {
    const retried = await retryFailedJobs(tx, queue);
    const line = { at: clock(), action: "jobs.retried", actor, detail: { queue, retried } };
    if (retried > 0) await tx.query(auditLine(line));
  });
}

function expiring({ name, pem }: SigningCertificate, at: Date): NeededTask[] {
  const { validToDate } = new X509Certificate(pem);
  if (validToDate.getTime() - at.getTime() > warnMs) return [];
  const day = validToDate.toISOString().slice(0, 10);
  // The subject includes the date of expiry, so that a renewed certificate gets a task of its own.
  return [[`${name} ${day}`, { reason: `The certificate of the ${name} expires on ${day}.`, since: null }]];
}

/** The queues whose task about failed jobs is open or claimed. */
export const queuesToLookAt = async (db: Pick<Database, "query">): Promise<string[]> =>
  (
    await db.query<{ queue: string }>(sql`
      SELECT DISTINCT subject AS queue ${fromTasks} WHERE kind = 'job_dead' AND state IN ('open', 'claimed')`)
  ).map(({ queue }) => queue);
