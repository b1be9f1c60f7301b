import type { Environment } from "../identity/identity.ts";
import type { Sql } from "../platform/database/database.ts";
import { type Statement, sql } from "../platform/database/sql.ts";
import { type ExecutionRow, executionColumns } from "./store.ts";

export type ListedExecution = ExecutionRow & { firmName: string };

/** The hashes of executions' callback tokens, by their ids. */
export async function selectCallbackHashes(db: Sql, ids: readonly string[]): Promise<ReadonlyMap<string, Buffer>> {
  const rows = await db.query<{ id: string; sha256: Buffer }>(
    sql`SELECT id, callback_sha256 AS sha256 FROM playbook_executions WHERE id = ANY (${ids}::uuid[])`,
  );
  return new Map(rows.map(({ id, sha256 }) => [id, sha256]));
}

const list = (which: Statement) => sql`
  SELECT ${executionColumns}, (SELECT name FROM partners WHERE id = e.partner_id) AS "firmName"
  FROM playbook_executions e ${which}`;

/** The waiting ones, those that expire first at the top. */
export const selectWaiting = (db: Sql, limit: number) =>
  db.query<ListedExecution>(list(sql`WHERE outcome IS NULL ORDER BY expires_at, id LIMIT ${limit}`));

/** All of them, newest first. */
export const selectNewest = (db: Sql, limit: number) =>
  db.query<ListedExecution>(list(sql`ORDER BY started_at DESC, id DESC LIMIT ${limit}`));

/** Those that may be decided, from the first to expire or from the one after `after`. Apart from its running, for its plan. */
export const undecidedStatement = (environment: Environment, now: Date, after: string | null, limit: number) =>
  list(sql`WHERE environment = ${environment} AND outcome IS NULL AND expires_at > ${now} AND (expires_at, id) > (
      coalesce((SELECT expires_at FROM playbook_executions WHERE id = ${after}), '-infinity'),
      coalesce(${after}::uuid, '00000000-0000-0000-0000-000000000000'))
    ORDER BY expires_at, id LIMIT ${limit}`);

export const selectUndecided = (db: Sql, environment: Environment, now: Date, after: string | null, limit: number) =>
  db.query<ListedExecution>(undecidedStatement(environment, now, after, limit));

export async function countUndecided(db: Sql, environment: Environment, now: Date): Promise<number> {
  const [row] = await db.query<{ waiting: number }>(
    sql`SELECT count(*) AS waiting FROM playbook_executions
        WHERE environment = ${environment} AND outcome IS NULL AND expires_at > ${now}`,
  );
  return row?.waiting ?? 0;
}

/** The latest that ended. Apart from its running, for its plan. */
export const endedStatement = (environment: Environment, limit: number) =>
  list(
    sql`WHERE environment = ${environment} AND outcome IS NOT NULL ORDER BY completed_at DESC, id DESC LIMIT ${limit}`,
  );

export const selectEnded = (db: Sql, environment: Environment, limit: number) =>
  db.query<ListedExecution>(endedStatement(environment, limit));

export async function selectExecution(db: Sql, id: string): Promise<ListedExecution | undefined> {
  const [row] = await db.query<ListedExecution>(list(sql`WHERE id = ${id}`));
  return row;
}
