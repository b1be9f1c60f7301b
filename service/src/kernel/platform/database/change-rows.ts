import type { Tx } from "./database.ts";
import { type Statement, sql } from "./sql.ts";
import { type Marked, marked, type StateMac, verified, writeStateMacs } from "./state-mac.ts";

/**
 * Locks one row, verifies its MAC, and then changes the row. Does nothing if there is no row with this id.
 * @throws ServiceError `unavailable` for a row whose MAC is invalid
 */
export async function changeRow(tx: Tx, state: StateMac, id: number | string, set: Statement): Promise<void> {
  await changeRowIf(tx, state, id, set, sql`true`);
}

/**
 * Changes one row that meets the condition `only`, after locking it and verifying its MAC.
 * @returns false when there is no row with this id, or when the row doesn't meet the condition
 * @throws ServiceError `unavailable` for a row whose MAC is invalid
 */
export async function changeRowIf(
  tx: Tx,
  state: StateMac,
  id: number | string,
  set: Statement,
  only: Statement,
): Promise<boolean> {
  const { table, key } = state;
  const found = await tx.query(
    sql`SELECT ${verified(state, table)} FROM ${table} WHERE ${key} = ${id} AND ${only} FOR NO KEY UPDATE`,
  );
  if (found.length === 0) return false;
  await tx.query(sql`UPDATE ${table} SET ${set} WHERE ${key} = ${id}`);
  await writeStateMacs(tx, state, sql`${key} = ${id}`);
  return true;
}

/**
 * Changes all selected rows, for a periodic task that a forged row must not stop. A forged row is changed too, but its
 * MAC is not renewed, so it still shows as forged.
 * @returns the number of rows
 */
export async function changeRows(tx: Tx, state: StateMac, which: Statement, set: Statement): Promise<number> {
  const { table, key } = state;
  const found = await tx.query<{ id: number | string } & Marked>(
    sql`SELECT ${key} AS id, ${marked(state, table)} FROM ${table} WHERE ${which} FOR NO KEY UPDATE`,
  );
  if (found.length === 0) return 0;
  const idsOf = (rows: typeof found) => rows.map(({ id }) => id);
  await tx.query(sql`UPDATE ${table} SET ${set} WHERE ${key} = ANY (${idsOf(found)})`);
  const written = found.filter(({ isAuthentic }) => isAuthentic);
  await writeStateMacs(tx, state, sql`${key} = ANY (${idsOf(written)})`);
  return found.length;
}
