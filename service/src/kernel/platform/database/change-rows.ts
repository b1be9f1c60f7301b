import type { Tx } from "./database.ts";
import { type Statement, sql } from "./sql.ts";
import { type Marked, marked, type StateMac, verified, writeStateMacs } from "./state-mac.ts";

/**
 * Changes one row, after locking and verifying it.
 * @throws ServiceError `unavailable` for a row that the service did not write
 */
export async function changeRow(tx: Tx, state: StateMac, id: number, set: Statement): Promise<void> {
  const { table, key } = state;
  await tx.query(sql`SELECT ${verified(state, table)} FROM ${table} WHERE ${key} = ${id} FOR UPDATE`);
  await tx.query(sql`UPDATE ${table} SET ${set} WHERE ${key} = ${id}`);
  await writeStateMacs(tx, state, sql`${key} = ${id}`);
}

/**
 * Changes rows for a sweep, which a forged row must not stop. Forged rows are changed too, but get no new MAC, so they
 * remain recognizable as forged. @returns the number of rows
 */
export async function changeRows(tx: Tx, state: StateMac, which: Statement, set: Statement): Promise<number> {
  const { table, key } = state;
  const found = await tx.query<{ id: number } & Marked>(
    sql`SELECT ${key} AS id, ${marked(state, table)} FROM ${table} WHERE ${which} FOR UPDATE`,
  );
  if (found.length === 0) return 0;
  const idsOf = (rows: typeof found) => rows.map(({ id }) => id);
  await tx.query(sql`UPDATE ${table} SET ${set} WHERE ${key} = ANY (${idsOf(found)}::bigint[])`);
  const written = found.filter(({ isAuthentic }) => isAuthentic);
  await writeStateMacs(tx, state, sql`${key} = ANY (${idsOf(written)}::bigint[])`);
  return found.length;
}
