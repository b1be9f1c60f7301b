import type { Sql } from "../../kernel/platform/database/database.ts";
import { type Statement, sql, unionAll } from "../../kernel/platform/database/sql.ts";
import { type MacRow, type MacTable, macColumn } from "../../kernel/platform/protected-data.ts";
import { openRowMac, type RowMac } from "../../kernel/platform/row-mac.ts";
import { keyId, keyIdBytes, type SecretBytes } from "../../kernel/platform/secrets.ts";
import { macTables } from "../protected-data.ts";

const batch = 500;

/** Counts of rows by key id. */
export type KeyCounts = ReadonlyMap<string, number>;

const idOf = (mac: Statement): Statement => sql`substring(${mac} FROM 1 FOR ${keyIdBytes}::int)`;

/**
 * Recomputes, under the current key, the MACs of rows whose MAC under another key is valid. A row with an invalid MAC
 * stays unchanged. Safe on a running service, concurrently with itself, and after an interruption.
 * @returns the number of new MACs
 */
export async function rotateRowMacs(db: Sql, secrets: SecretBytes): Promise<number> {
  const rowMac = openRowMac(secrets);
  let rotated = 0;
  for (const table of macTables) rotated += await rotateTable(db, rowMac, keyId(secrets), table);
  return rotated;
}

async function rotateTable(db: Sql, rowMac: RowMac, current: Buffer, rotating: MacTable): Promise<number> {
  const {
    table,
    key,
    keyInRows = key,
    mac,
    rows,
    members,
    rowOf = (row: MacRow<object>) => sql`${key} = ${row.key}`,
  } = rotating;
  const column = macColumn(rotating);
  let rotated = 0;
  let last: string | number | Buffer | null = null;
  for (;;) {
    const after: Statement = last === null ? sql`` : sql`AND ${keyInRows} > ${last}`;
    const found: MacRow<object>[] = await db.query<MacRow<object>>(
      sql`${rows} WHERE ${idOf(mac)} <> ${current} ${after} ORDER BY ${keyInRows} LIMIT ${batch}`,
    );
    for (const row of found) {
      const values = members(row);
      if (values === null || !rowMac.holds(table.text, values, row.mac)) continue;
      // Skips a row that was written after it was read here, because it already has a MAC under the current key.
      await db.query(sql`
UPDATE ${table} SET ${column} = ${rowMac.of(table.text, values)} WHERE ${rowOf(row)} AND ${column} = ${row.mac}`);
      rotated++;
    }
    last = found.at(-1)?.key ?? null;
    if (found.length < batch) return rotated;
  }
}

/** The number of row MACs under each key. */
export async function countRowMacs(db: Sql): Promise<KeyCounts> {
  // Counts each column once. The audit log has two kinds of MACs in the same column.
  const columns = new Map(macTables.map((each) => [`${each.table.text} ${macColumn(each).text}`, each]));
  const macs = [...columns.values()].map((each) => {
    const column = macColumn(each);
    return sql`SELECT ${idOf(column)} AS id FROM ${each.table} WHERE ${column} IS NOT NULL`;
  });
  return countsOf(db, sql`encode(id, 'hex')`, unionAll(macs));
}

export async function countsOf(db: Sql, keyId: Statement, from: Statement): Promise<KeyCounts> {
  const rows = await db.query<{ keyId: string; rows: number }>(
    sql`SELECT ${keyId} AS "keyId", count(*) AS rows FROM (${from}) AS everything GROUP BY 1`,
  );
  return new Map(rows.map((row) => [row.keyId, row.rows]));
}
