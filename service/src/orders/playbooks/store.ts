import { auditLine } from "../../kernel/audit/audit.ts";
import type { Environment } from "../../kernel/identity/identity.ts";
import type { Database, Sql, Tx } from "../../kernel/platform/database/database.ts";
import { type Statement, sql } from "../../kernel/platform/database/sql.ts";
import { closeTasks, openTask, type TaskEnd } from "../../kernel/tasks/tasks.ts";
import type { Arguments } from "./arguments.ts";

export type ExecutionRow = {
  id: string;
  partnerId: string;
  environment: Environment;
  playbook: string;
  arguments: Arguments;
  startedAt: Date;
  expiresAt: Date;
  outcome: string | null;
  completedAt: Date | null;
  /** The actor that ended the execution: `callback`, `operator`, `operator:ID`, or `system` when it expired. */
  endedBy: string | null;
};

export const executionColumns = sql`id, partner_id AS "partnerId", environment, playbook, arguments, started_at AS "startedAt",
  expires_at AS "expiresAt", outcome, completed_at AS "completedAt", ended_by AS "endedBy"`;

/** An attempt to run a playbook, successful or not. */
export type RunAttempt = {
  at: Date;
  actor: string;
  partnerId: string;
  detail: { playbook: string; executionName: string | null };
};

const attemptLine = (attempt: RunAttempt) => auditLine({ ...attempt, action: "playbook.run" });

export async function insertRunAttempt(db: Sql, attempt: RunAttempt): Promise<void> {
  await db.query(attemptLine(attempt));
}

export type NewExecution = Pick<ExecutionRow, "id" | "environment" | "playbook" | "arguments" | "expiresAt"> & {
  callbackSha256: Buffer;
};

/** Writes the execution, its audit line and its task. */
export async function insertExecution(db: Database, execution: NewExecution, attempt: RunAttempt): Promise<void> {
  const { id, environment, playbook, callbackSha256, expiresAt } = execution;
  await db.transaction(async (tx) => {
    await tx.query(sql`
      WITH execution AS (
        INSERT INTO playbook_executions
          (id, partner_id, environment, playbook, arguments, callback_sha256, started_at, expires_at)
        VALUES (${id}, ${attempt.partnerId}, ${environment}, ${playbook}, ${execution.arguments}, ${callbackSha256},
          ${attempt.at}, ${expiresAt})
      ) ${attemptLine(attempt)}`);
    await openTask(tx, { kind: "playbook_gate", at: attempt.at, environment, subject: id });
  });
}

export type Decision = { outcome: string; at: Date; actor: string };

/** Identifies an execution: by the SHA-256 of its callback's token, or by its id. */
export type Which = { callbackSha256: Buffer } | { id: string };

const isWhich = (which: Which): Statement =>
  "id" in which ? sql`id = ${which.id}` : sql`callback_sha256 = ${which.callbackSha256}`;

const closeGates = (tx: Tx, ids: readonly string[], end: Omit<TaskEnd, "state">): Promise<void> =>
  closeTasks(tx, { kinds: ["playbook_gate"], subject: ids }, { state: "done", ...end });

/** The fields of an execution that never change. */
type ExecutionKey = { id: string; partnerId: string };

const nameOf = ({ id }: ExecutionKey): string => `executions/${id}`;

/**
 * Ends an execution that still waits. Of two concurrent decisions, only one gets the row. Building the statement is
 * separate from running it, so that tests can check its plan.
 */
export function decideStatement(which: Which, execution: ExecutionKey, { outcome, at, actor }: Decision): Statement {
  const detail = { executionName: nameOf(execution), outcome };
  const line = { at, action: "playbook.decided", actor, partnerId: execution.partnerId, detail };
  return sql`
    WITH ended AS (
      UPDATE playbook_executions SET outcome = ${outcome}, completed_at = ${at}, ended_by = ${actor}
      WHERE ${isWhich(which)} AND outcome IS NULL AND expires_at > ${at} RETURNING *
    ), audit AS (${auditLine(line, sql`ended`)})
    SELECT ${executionColumns} FROM ended`;
}

/**
 * Ends a waiting execution with a decision.
 * @returns the ended execution; undefined when none waits
 */
export async function decideExecution(
  db: Database,
  which: Which,
  decision: Decision,
): Promise<ExecutionRow | undefined> {
  const [execution] = await db.query<ExecutionKey>(
    sql`SELECT id, partner_id AS "partnerId" FROM playbook_executions WHERE ${isWhich(which)}`,
  );
  if (!execution) return undefined;
  return db.transaction(async (tx) => {
    const [ended] = await tx.query<ExecutionRow>(decideStatement(which, execution, decision));
    const { at, actor: by, outcome } = decision;
    if (ended) await closeGates(tx, [ended.id], { at, by, outcome });
    return ended;
  });
}

export async function executionExists(db: Sql, which: Which): Promise<boolean> {
  const found = await db.query(sql`SELECT FROM playbook_executions WHERE ${isWhich(which)}`);
  return found.length > 0;
}

/** Ends expired executions. Building the statement is separate from running it, so that tests can check its plan. */
export function expireStatement(now: Date, limit: number): Statement {
  // Updates by ctid, because a join by id would read the whole table for each batch. Skips a row that another
  // transaction changed after this statement began, for example because a decision ended the execution.
  return sql`
    WITH due AS (
      SELECT ctid FROM playbook_executions WHERE outcome IS NULL AND expires_at <= ${now}
      ORDER BY expires_at, id LIMIT ${limit} FOR NO KEY UPDATE SKIP LOCKED
    ), ended AS (
      UPDATE playbook_executions SET outcome = 'expired', completed_at = ${now}, ended_by = 'system'
      WHERE ctid = ANY (ARRAY(SELECT ctid FROM due)) RETURNING id, partner_id
    )
    SELECT id, partner_id AS "partnerId" FROM ended`;
}

/**
 * Ends up to `limit` expired executions. Safe to run concurrently with itself and with decisions.
 * @returns the number of executions that it ended
 */
export function expireExecutions(db: Database, now: Date, limit: number): Promise<number> {
  return db.transaction(async (tx) => {
    const ended = await tx.query<ExecutionKey>(expireStatement(now, limit));
    const ids = ended.map(({ id }) => id);
    await closeGates(tx, ids, { at: now, by: "system", outcome: "expired" });
    const line = { at: now, action: "playbook.expired", actor: "system" };
    for (const one of ended)
      await tx.query(auditLine({ ...line, partnerId: one.partnerId, detail: { executionName: nameOf(one) } }));
    return ended.length;
  });
}

/** Moves the expiry of a firm's waiting test executions earlier by this many seconds. */
export const bringExecutionsNearer = (tx: Tx, partnerId: string, seconds: number) =>
  tx.query(sql`
    UPDATE playbook_executions SET expires_at = greatest(expires_at - make_interval(secs => ${seconds}), started_at)
    WHERE partner_id = ${partnerId} AND environment = 'test' AND outcome IS NULL`);
