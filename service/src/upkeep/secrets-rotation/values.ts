import { columnCipher, columnMagic, columnPrefix } from "../../kernel/platform/column-cipher.ts";
import type { Sql } from "../../kernel/platform/database/database.ts";
import { nothing, sql, unionAll } from "../../kernel/platform/database/sql.ts";
import type { EncryptedColumn, ProtectedTable } from "../../kernel/platform/protected-data.ts";
import { keyIdBytes, type SecretBytes } from "../../kernel/platform/secrets.ts";
import { protectedTables } from "../protected-data.ts";
import { sealedTextIds } from "../sealed-texts.ts";
import { countsOf, type KeyCounts } from "./rows.ts";

type Column = EncryptedColumn & Pick<ProtectedTable, "table" | "key">;

const columns: readonly Column[] = protectedTables.flatMap(({ table, key, ciphers = [] }) =>
  ciphers.map((cipher) => ({ ...cipher, table, key })),
);

// The number of values in memory is limited, because events have up to 2 MiB each.
const atOnce = 20;

/**
 * Re-encrypts values under the current key. A value that no key decrypts stays unchanged. Safe on a running service and
 * after an interruption.
 * @returns the number of re-encrypted values
 */
export async function rotateValues(db: Sql, secrets: SecretBytes): Promise<number> {
  let rotated = 0;
  for (const column of columns) rotated += await rotateColumn(db, secrets, column);
  return rotated;
}

type SealedRow = { key: string | number; context: string; sealed: Buffer };

async function rotateColumn(
  db: Sql,
  secrets: SecretBytes,
  { use, table, key, column, context, as = sql`context`, after = "" }: Column,
): Promise<number> {
  const prefix = columnPrefix(secrets);
  const cipher = columnCipher(secrets, use);
  let rotated = 0;
  let last: SealedRow | undefined;
  do {
    const rows: SealedRow[] = await db.query<SealedRow>(sql`
SELECT ${key} AS key, ${context} AS ${as}, ${column} AS sealed FROM ${table}
WHERE substring(${column} FROM 1 FOR ${prefix.length}::int) <> ${prefix} ${last ? sql`AND ${key} > ${last.key}` : nothing}
ORDER BY ${key} LIMIT ${atOnce}`);
    for (const row of rows) {
      const plain = decryptedOrNull(() => cipher.decrypt(row.sealed, row.context + after));
      if (plain === null) continue;
      await db.query(sql`
UPDATE ${table} SET ${column} = ${cipher.encrypt(plain, row.context + after)} WHERE ${key} = ${row.key} AND ${column} = ${row.sealed}`);
      rotated++;
    }
    last = rows.at(-1);
  } while (last);
  return rotated;
}

/**
 * The decrypted value; null for a value that no key decrypts. `secretsStatus` still counts such a value, under the id
 * of its key.
 */
function decryptedOrNull(decrypt: () => Buffer): Buffer | null {
  try {
    return decrypt();
  } catch {
    return null;
  }
}

/** The number of values under each key; `none` counts the values stored before keys had ids. */
export async function countValues(db: Sql): Promise<KeyCounts> {
  const values = columns.map(
    ({ table, column }) => sql`SELECT ${column} AS value FROM ${table} WHERE ${column} IS NOT NULL`,
  );
  const [from, length] = [columnMagic.length + 1, columnMagic.length];
  const id = sql`CASE WHEN substring(value FROM 1 FOR ${length}::int) = ${columnMagic}
    THEN encode(substring(value FROM ${from}::int FOR ${keyIdBytes}::int), 'hex') ELSE 'none' END`;
  const ids = sql`SELECT ${id} AS id FROM (${unionAll(values)}) AS each UNION ALL ${sealedTextIds}`;
  return countsOf(db, sql`id`, ids);
}
