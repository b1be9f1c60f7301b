import { join } from "node:path";
import type { Sql } from "../service/src/platform/database/database.ts";
import { type Statement, sql } from "../service/src/platform/database/sql.ts";
import { type MacTable, openRowMac, type RowMac } from "../service/src/platform/row-mac.ts";
import { openSecretsKey } from "../service/src/platform/secrets.ts";
import { peopleRows } from "../service/src/row-mac-tables.ts";

/** The MACs of the service that runs on a data folder, for rows that a test writes in its place. */
export const rowMacOf = async (dataDir: string): Promise<RowMac> =>
  openRowMac(await openSecretsKey(`file:${join(dataDir, "keys/secrets")}`));

type Writer = { db: Sql; rowMac: RowMac };

/** Changes rows of people in the service's place: all that do not hold afterwards get the MAC of what they say. */
export async function asService(writer: Writer, ...changes: readonly Statement[]): Promise<void> {
  for (const change of changes) await writer.db.query(change);
  for (const table of peopleRows) await giveMacs(writer, table);
}

async function giveMacs({ db, rowMac }: Writer, { table, key, rows, members }: MacTable<unknown>): Promise<void> {
  const found = await db.query<{ key: string; mac: Buffer | null }>(rows);
  for (const row of found) {
    const facts = members(row);
    if (facts === null || rowMac.holds(table.text, facts, row.mac)) continue;
    await db.query(sql`UPDATE ${table} SET row_mac = ${rowMac.of(table.text, facts)} WHERE ${key} = ${row.key}`);
  }
}
