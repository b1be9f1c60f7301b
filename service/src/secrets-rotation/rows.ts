import type { Sql } from "../platform/database/database.ts";
import { type Statement, sql } from "../platform/database/sql.ts";
import { revocationRows } from "../platform/revocations.ts";
import { type MacRow, type MacTable, openRowMac, type RowMac } from "../platform/row-mac.ts";
import { keyId, keyIdBytes, type SecretBytes } from "../platform/secrets.ts";
import * as tables from "../row-mac-tables.ts";
import { webhookRows } from "../webhooks/webhooks.ts";

const batch = 500;

/** Rows by the id of the key that they are under. */
export type KeyCounts = ReadonlyMap<string, number>;

const idOf = (mac: Statement): Statement => sql`substring(${mac} FROM 1 FOR ${keyIdBytes}::int)`;

/**
 * Gives a MAC under the current key to each row whose MAC, under another one, holds. A row whose MAC does not hold stays as it is. Safe
 * beside a running service and beside itself, and when it is cut off: what is done is done.
 * @returns how many rows got another MAC
 */
export async function rotateRowMacs(db: Sql, secrets: SecretBytes): Promise<number> {
  const rowMac = openRowMac(secrets);
  const rotate = <Row>(table: MacTable<Row>) => rotateTable(db, rowMac, keyId(secrets), table);
  const counts = [await rotate(tables.chainRows), await rotate(tables.passportRows), await rotate(tables.anchorRows)];
  counts.push(await rotate(tables.documentRows), await rotate(tables.versionRows), await rotate(tables.backfillRows));
  counts.push(await rotate(tables.fillRows), await rotate(tables.auditRows), await rotate(tables.markRows));
  counts.push(await rotate(tables.trailRows), await rotate(tables.signingRows), await rotate(tables.orderRows));
  counts.push(await rotate(tables.journalRows), await rotate(tables.partnerKeyRows));
  for (const table of [...tables.peopleRows, revocationRows, webhookRows]) counts.push(await rotate(table));
  return counts.reduce((sum, count) => sum + count, 0);
}

async function rotateTable<Row>(
  db: Sql,
  rowMac: RowMac,
  current: Buffer,
  { table, key, keyInRows = key, mac, column = sql`row_mac`, rows, members }: MacTable<Row>,
): Promise<number> {
  let rotated = 0;
  let last: string | number | Buffer | null = null;
  for (;;) {
    const after: Statement = last === null ? sql`` : sql`AND ${keyInRows} > ${last}`;
    const found: MacRow<Row>[] = await db.query<MacRow<Row>>(
      sql`${rows} WHERE ${idOf(mac)} <> ${current} ${after} ORDER BY ${keyInRows} LIMIT ${batch}`,
    );
    for (const row of found) {
      const said = members(row);
      if (said === null || !rowMac.holds(table.text, said, row.mac)) continue;
      // A row that was written meanwhile has the MAC of what it says now.
      await db.query(sql`
UPDATE ${table} SET ${column} = ${rowMac.of(table.text, said)} WHERE ${key} = ${row.key} AND ${column} = ${row.mac}`);
      rotated++;
    }
    last = found.at(-1)?.key ?? null;
    if (found.length < batch) return rotated;
  }
}

const macTables = [
  tables.chainRows,
  tables.passportRows,
  tables.anchorRows,
  tables.documentRows,
  tables.versionRows,
  tables.backfillRows,
  tables.auditRows,
  tables.fillRows,
  tables.markRows,
  tables.trailRows,
  tables.signingRows,
  tables.orderRows,
  tables.journalRows,
  tables.partnerKeyRows,
  ...tables.peopleRows,
  revocationRows,
  webhookRows,
];

/** How many rows with a MAC are under which key. */
export async function countRowMacs(db: Sql): Promise<KeyCounts> {
  const macs = macTables.map(
    ({ table, column = sql`row_mac` }) => sql`SELECT ${idOf(column)} AS id FROM ${table} WHERE ${column} IS NOT NULL`,
  );
  return countsOf(db, sql`encode(id, 'hex')`, unionOf(macs));
}

export async function countsOf(db: Sql, keyId: Statement, from: Statement): Promise<KeyCounts> {
  const rows = await db.query<{ keyId: string; rows: number }>(
    sql`SELECT ${keyId} AS "keyId", count(*) AS rows FROM (${from}) AS everything GROUP BY 1`,
  );
  return new Map(rows.map((row) => [row.keyId, row.rows]));
}

export const unionOf = (statements: readonly Statement[]): Statement =>
  statements.reduce((all, one) => sql`${all} UNION ALL ${one}`);
