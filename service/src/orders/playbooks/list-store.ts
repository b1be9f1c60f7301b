import { type MarkedFirm, markedFirmOf, withFirmNames } from "../../firms/partners/partners.ts";
import type { Environment } from "../../kernel/identity/identity.ts";
import type { Sql } from "../../kernel/platform/database/database.ts";
import { type Statement, sql } from "../../kernel/platform/database/sql.ts";
import { type ExecutionRow, executionColumns } from "./store.ts";

export type ListedExecution = ExecutionRow & { firmName: string };

/** The hashes of callback tokens, by execution id. */
export async function selectCallbackHashes(db: Sql, ids: readonly string[]): Promise<ReadonlyMap<string, Buffer>> {
  const rows = await db.query<{ id: string; sha256: Buffer }>(
    sql`SELECT id, callback_sha256 AS sha256 FROM playbook_executions WHERE id = ANY (${ids}::uuid[])`,
  );
  return new Map(rows.map(({ id, sha256 }) => [id, sha256]));
}

const list = (which: Statement) => sql`
  SELECT ${executionColumns}, firm.*
  FROM playbook_executions e CROSS JOIN LATERAL ${markedFirmOf(sql`e.partner_id`)} firm ${which}`;

const listed = async (db: Sql, statement: Statement): Promise<ListedExecution[]> =>
  withFirmNames(await db.query<ListedExecution & MarkedFirm>(statement));

/**
 * Executions without an outcome, including expired ones that the sweep has not ended yet. The first to expire comes
 * first.
 */
export const selectWaiting = (db: Sql, limit: number) =>
  listed(db, list(sql`WHERE outcome IS NULL ORDER BY expires_at, id LIMIT ${limit}`));

/** All executions, newest first. */
export const selectNewest = (db: Sql, limit: number) =>
  listed(db, list(sql`ORDER BY started_at DESC, id DESC LIMIT ${limit}`));

/**
 * Executions that can still be decided, the first to expire first, starting after the execution `after`. Building the
 * statement is separate from running it, so that tests can check its plan.
 */
export const undecidedStatement = (environment: Environment, now: Date, after: string | null, limit: number) =>
  list(sql`WHERE environment = ${environment} AND outcome IS NULL AND expires_at > ${now} AND (expires_at, id) > (
      coalesce((SELECT expires_at FROM playbook_executions WHERE id = ${after}), '-infinity'),
      coalesce(${after}::uuid, '00000000-0000-0000-0000-000000000000'))
    ORDER BY expires_at, id LIMIT ${limit}`);

export const selectUndecided = (db: Sql, environment: Environment, now: Date, after: string | null, limit: number) =>
  listed(db, undecidedStatement(environment, now, after, limit));

export async function countUndecided(db: Sql, environment: Environment, now: Date): Promise<number> {
  const [row] = await db.query<{ waiting: number }>(
    sql`SELECT count(*) AS waiting FROM playbook_executions
        WHERE environment = ${environment} AND outcome IS NULL AND expires_at > ${now}`,
  );
  return row?.waiting ?? 0;
}

/**
 * The latest ended executions. Building the statement is separate from running it, so that tests can check its plan.
 */
export const endedStatement = (environment: Environment, limit: number) =>
  list(
    sql`WHERE environment = ${environment} AND outcome IS NOT NULL ORDER BY completed_at DESC, id DESC LIMIT ${limit}`,
  );

export const selectEnded = (db: Sql, environment: Environment, limit: number) =>
  listed(db, endedStatement(environment, limit));

export async function selectExecution(db: Sql, id: string): Promise<ListedExecution | undefined> {
  const [row] = await listed(db, list(sql`WHERE id = ${id}`));
  return row;
}
