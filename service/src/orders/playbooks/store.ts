import { auditLine } from "../audit/audit.ts";
import type { Environment } from "../identity/identity.ts";
import type { Sql, Tx } from "../platform/database/database.ts";
import { type Statement, sql } from "../platform/database/sql.ts";
import { closeTasks, openTask } from "../tasks/tasks.ts";
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
  /** `callback`, `operator`, or `system` when nobody decided in time. */
  endedBy: string | null;
};

export const executionColumns = sql`id, partner_id AS "partnerId", environment, playbook, arguments, started_at AS "startedAt",
  expires_at AS "expiresAt", outcome, completed_at AS "completedAt", ended_by AS "endedBy"`;

const executionName = sql`'executions/' || id`;

/** An attempt to run a playbook, whether it started anything or not. */
export type RunAttempt = {
  at: Date;
  actor: string;
  partnerId: string;
  detail: { playbook: string; executionName: string | null };
};

const attemptLine = (attempt: RunAttempt) => auditLine({ ...attempt, action: "playbook.run" });

/** Writes the audit line of an attempt that started nothing. */
export async function insertRunAttempt(db: Sql, attempt: RunAttempt): Promise<void> {
  await db.query(attemptLine(attempt));
}

export type NewExecution = Pick<ExecutionRow, "id" | "environment" | "playbook" | "arguments" | "expiresAt"> & {
  callbackSha256: Buffer;
};

/** Writes the execution and its audit line, in one statement. */
export async function insertExecution(db: Sql, execution: NewExecution, attempt: RunAttempt): Promise<void> {
  const { id, environment, playbook, callbackSha256, expiresAt } = execution;
  const task = openTask({ kind: "playbook_gate", at: attempt.at, environment, subject: id });
  await db.query(sql`
    WITH execution AS (
      INSERT INTO playbook_executions
        (id, partner_id, environment, playbook, arguments, callback_sha256, started_at, expires_at)
      VALUES (${id}, ${attempt.partnerId}, ${environment}, ${playbook}, ${execution.arguments}, ${callbackSha256},
        ${attempt.at}, ${expiresAt})
    ), task AS (${task}) ${attemptLine(attempt)}`);
}

export type Decision = { outcome: string; at: Date; actor: string };

/** Which execution: by the hash of its callback's token, or by its id. */
export type Which = { callbackSha256: Buffer } | { id: string };

const isWhich = (which: Which): Statement =>
  "id" in which ? sql`id = ${which.id}` : sql`callback_sha256 = ${which.callbackSha256}`;

const closeGate = (end: { at: Date; by: string; outcome: Statement | string }): Statement =>
  closeTasks({ kinds: ["playbook_gate"], subject: sql`ended.id::text` }, { state: "done", ...end }, sql`ended`);

/** Ends an execution if it still waits: of two at once one gets the row, the other nothing. Apart from its running, for its plan. */
export function decideStatement(which: Which, { outcome, at, actor }: Decision): Statement {
  const line = {
    at,
    action: "playbook.decided",
    actor,
    partnerId: sql`partner_id`,
    detail: sql`jsonb_build_object('executionName', ${executionName}, 'outcome', outcome)`,
  };
  return sql`
    WITH ended AS (
      UPDATE playbook_executions SET outcome = ${outcome}, completed_at = ${at}, ended_by = ${actor}
      WHERE ${isWhich(which)} AND outcome IS NULL AND expires_at > ${at} RETURNING *
    ), audit AS (${auditLine(line, sql`ended`)}), task AS (${closeGate({ at, by: actor, outcome: sql`ended.outcome` })})
    SELECT ${executionColumns} FROM ended`;
}

/** @returns the ended execution, or undefined when there is none that waits. */
export async function decideExecution(db: Sql, which: Which, decision: Decision): Promise<ExecutionRow | undefined> {
  const [ended] = await db.query<ExecutionRow>(decideStatement(which, decision));
  return ended;
}

export async function executionExists(db: Sql, which: Which): Promise<boolean> {
  const found = await db.query(sql`SELECT FROM playbook_executions WHERE ${isWhich(which)}`);
  return found.length > 0;
}

/** Ends what is due. Apart from its running, for its plan. */
export function expireStatement(now: Date, limit: number): Statement {
  const line = {
    at: now,
    action: "playbook.expired",
    actor: "system",
    partnerId: sql`partner_id`,
    detail: sql`jsonb_build_object('executionName', ${executionName})`,
  };
  // Rows are ended where they were locked, by ctid: a join by id would read the whole table for a batch. One that moved
  // meanwhile is missed, and it moved because it ended.
  return sql`
    WITH due AS (
      SELECT ctid FROM playbook_executions WHERE outcome IS NULL AND expires_at <= ${now}
      ORDER BY expires_at, id LIMIT ${limit} FOR UPDATE SKIP LOCKED
    ), ended AS (
      UPDATE playbook_executions SET outcome = 'expired', completed_at = ${now}, ended_by = 'system'
      WHERE ctid = ANY (ARRAY(SELECT ctid FROM due)) RETURNING id, partner_id
    ), audit AS (${auditLine(line, sql`ended`)}), task AS (${closeGate({ at: now, by: "system", outcome: "expired" })})
    SELECT count(*) AS ended FROM ended`;
}

/** Ends up to `limit` executions that have expired; safe beside itself and beside decisions. @returns how many. */
export async function expireExecutions(db: Sql, now: Date, limit: number): Promise<number> {
  const [row] = await db.query<{ ended: number }>(expireStatement(now, limit));
  return row?.ended ?? 0;
}

/** Has the test executions of a firm that wait expire so many seconds earlier. */
export const bringExecutionsNearer = (tx: Tx, partnerId: string, seconds: number) =>
  tx.query(sql`
    UPDATE playbook_executions SET expires_at = greatest(expires_at - make_interval(secs => ${seconds}), started_at)
    WHERE partner_id = ${partnerId} AND environment = 'test' AND outcome IS NULL`);
