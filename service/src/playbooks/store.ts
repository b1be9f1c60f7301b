import type { Environment } from "../identity/identity.ts";
import type { Sql } from "../platform/database.ts";
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

const columns = `id, partner_id AS "partnerId", environment, playbook, arguments, started_at AS "startedAt",
  expires_at AS "expiresAt", outcome, completed_at AS "completedAt", ended_by AS "endedBy"`;

export type RunAttempt = {
  at: Date;
  actor: string;
  partnerId: string;
  detail: { playbook: string; executionName: string | null };
};

const insertAttempt = `INSERT INTO audit_log (occurred_at, action, actor, partner_id, detail)
  VALUES ($1, 'playbook.run', $2, $3, $4)`;

const attemptValues = ({ at, actor, partnerId, detail }: RunAttempt) => [at, actor, partnerId, detail];

/** The line of an attempt that started nothing. */
export async function insertRunAttempt(sql: Sql, attempt: RunAttempt): Promise<void> {
  await sql.rows(insertAttempt, attemptValues(attempt));
}

export type NewExecution = Pick<ExecutionRow, "id" | "environment" | "playbook" | "arguments" | "expiresAt"> & {
  callbackSha256: Buffer;
};

/** The execution and its line in the log, in one statement. */
export async function insertExecution(sql: Sql, execution: NewExecution, attempt: RunAttempt): Promise<void> {
  const { id, environment, playbook, callbackSha256, expiresAt } = execution;
  await sql.rows(
    `WITH execution AS (
       INSERT INTO playbook_executions (id, partner_id, environment, playbook, arguments, callback_sha256, started_at, expires_at)
       VALUES ($5, $3, $6, $7, $8, $9, $1, $10)
     ) ${insertAttempt}`,
    [...attemptValues(attempt), id, environment, playbook, execution.arguments, callbackSha256, expiresAt],
  );
}

export type Decision = { outcome: string; at: Date; actor: string };

const waiting = "outcome IS NULL AND expires_at > $2";

/** Ends the execution that `condition` ($1) finds if it still waits: of rivals one gets the row, the others nothing. */
const decideWhere = (condition: string) => `
  WITH ended AS (
    UPDATE playbook_executions SET outcome = $3, completed_at = $2, ended_by = $4 WHERE ${condition} AND ${waiting} RETURNING *
  ), audit AS (
    INSERT INTO audit_log (occurred_at, action, actor, partner_id, detail)
    SELECT $2, 'playbook.decided', $4, partner_id, jsonb_build_object('executionName', 'executions/' || id, 'outcome', outcome)
    FROM ended
  )
  SELECT ${columns} FROM ended`;

export const decideByToken = decideWhere("callback_sha256 = $1");
export const decideById = decideWhere("id = $1");

export type Which = { callbackSha256: Buffer } | { id: string };

/** @returns the ended execution, or undefined when there is none that waits. */
export async function decideExecution(sql: Sql, which: Which, decision: Decision): Promise<ExecutionRow | undefined> {
  const more = [decision.at, decision.outcome, decision.actor];
  const [ended] =
    "id" in which
      ? await sql.rows<ExecutionRow>(decideById, [which.id, ...more])
      : await sql.rows<ExecutionRow>(decideByToken, [which.callbackSha256, ...more]);
  return ended;
}

export async function executionExists(sql: Sql, which: Which): Promise<boolean> {
  const found =
    "id" in which
      ? await sql.rows("SELECT FROM playbook_executions WHERE id = $1", [which.id])
      : await sql.rows("SELECT FROM playbook_executions WHERE callback_sha256 = $1", [which.callbackSha256]);
  return found.length > 0;
}

// Rows are ended where they were locked, by ctid: a join by id would read the whole table for a batch. One that moved meanwhile is
// missed, and it moved because it ended.
export const expireDue = `
  WITH due AS (
    SELECT ctid FROM playbook_executions WHERE outcome IS NULL AND expires_at <= $1
    ORDER BY expires_at, id LIMIT $2 FOR UPDATE SKIP LOCKED
  ), ended AS (
    UPDATE playbook_executions SET outcome = 'expired', completed_at = $1, ended_by = 'system'
    WHERE ctid = ANY (ARRAY(SELECT ctid FROM due)) RETURNING id, partner_id
  ), audit AS (
    INSERT INTO audit_log (occurred_at, action, actor, partner_id, detail)
    SELECT $1, 'playbook.expired', 'system', partner_id, jsonb_build_object('executionName', 'executions/' || id) FROM ended
  )
  SELECT count(*) AS ended FROM ended`;

/** Ends up to `limit` executions whose time is over; safe beside itself and beside decisions. @returns how many. */
export async function expireExecutions(sql: Sql, now: Date, limit: number): Promise<number> {
  const [row] = await sql.rows<{ ended: number }>(expireDue, [now, limit]);
  return row?.ended ?? 0;
}

export type ListedExecution = ExecutionRow & { firmName: string };

const list = (which: string) => `
  SELECT ${columns}, (SELECT name FROM partners WHERE id = e.partner_id) AS "firmName" FROM playbook_executions e ${which}`;

/** The waiting ones, those that expire first at the top. */
export const selectWaiting = (sql: Sql, limit: number) =>
  sql.rows<ListedExecution>(list("WHERE outcome IS NULL ORDER BY expires_at, id LIMIT $1"), [limit]);

/** All of them, newest first. */
export const selectNewest = (sql: Sql, limit: number) =>
  sql.rows<ListedExecution>(list("ORDER BY started_at DESC, id DESC LIMIT $1"), [limit]);

export const undecidedPage = list(`
  WHERE outcome IS NULL AND expires_at > $1 AND (expires_at, id) > (
    coalesce((SELECT expires_at FROM playbook_executions WHERE id = $2), '-infinity'),
    coalesce($2::uuid, '00000000-0000-0000-0000-000000000000'))
  ORDER BY expires_at, id LIMIT $3`);

/** Those that may be decided, from the first to expire or from the one after `after`. */
export const selectUndecided = (sql: Sql, now: Date, after: string | null, limit: number) =>
  sql.rows<ListedExecution>(undecidedPage, [now, after, limit]);

export async function countUndecided(sql: Sql, now: Date): Promise<number> {
  const [row] = await sql.rows<{ waiting: number }>(
    "SELECT count(*) AS waiting FROM playbook_executions WHERE outcome IS NULL AND expires_at > $1",
    [now],
  );
  return row?.waiting ?? 0;
}

export const endedLately = list("WHERE outcome IS NOT NULL ORDER BY completed_at DESC, id DESC LIMIT $1");

export const selectEnded = (sql: Sql, limit: number) => sql.rows<ListedExecution>(endedLately, [limit]);

export async function selectExecution(sql: Sql, id: string): Promise<ListedExecution | undefined> {
  const [row] = await sql.rows<ListedExecution>(list("WHERE id = $1"), [id]);
  return row;
}
